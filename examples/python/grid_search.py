"""A grid search on a Dask cluster, with folds of whole blocks of the scene. Needs `hyperatom[dask]`."""

import joblib
from dask.distributed import Client, LocalCluster
from sklearn.model_selection import GridSearchCV

import hyperatom as ha

if __name__ == "__main__":
    cube, labels = ha.synth(80, 80, bands=40, classes=4, random_state=0)
    train, _ = ha.split(labels, per_class=20, random_state=0)
    X, y, where = ha.windows(cube, train, size=9)
    search = GridSearchCV(
        ha.KernelTDDLClassifier(kernel="gaussian(sigma=0.1)", epochs=10, random_state=0),
        {"lambda1": [0.05, 0.15, 0.5]},
        cv=ha.BlockKFold(3, buffer=2),
    )
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        with joblib.parallel_config(backend="dask"):
            search.fit(X, y, groups=where)
    print(f"lambda1 {search.best_params_['lambda1']}: {search.best_score_:.4f} of the held-out pixels")
