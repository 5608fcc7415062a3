"""Model selection and maps on a cluster, with scores and maps that do not depend on where they were computed."""

import os
import signal
import time

import joblib
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

import hyperatom
from hyperatom import BlockKFold, KernelTDDLClassifier, predict_map, windows

distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            yield client


def test_model_selection_gives_the_same_scores_everywhere(scene, client):
    train, _ = hyperatom.split(scene[1], per_class=30, random_state=0)
    X, y, where = windows(scene[0], train, size=5)
    classifier = KernelTDDLClassifier(kernel="gaussian(sigma=0.05)", epochs=3, random_state=0)
    folds = BlockKFold(3, block=20, buffer=2)

    def search(n_jobs):
        grid = GridSearchCV(classifier, {"lambda1": [0.05, 0.5]}, cv=folds, n_jobs=n_jobs).fit(X, y, groups=where)
        scores = cross_val_score(classifier, X, y, groups=where, cv=folds, n_jobs=n_jobs)
        return np.array([grid.cv_results_[f"split{k}_test_score"] for k in range(3)]), scores

    grid, scores = search(1)
    assert len(np.unique(grid)) > 3 and scores.mean() > 0.5
    # By hand: the folds are those of BlockKFold, the first setting that of the classifier.
    by_hand = [classifier.fit(X[a], y[a]).score(X[b], y[b]) for a, b in folds.split(X, y, where)]
    np.testing.assert_array_equal(scores, by_hand)
    with joblib.parallel_config(backend="dask"):
        on_dask = search(-1)
    for other in (search(2), on_dask):
        np.testing.assert_array_equal(other[0], grid)
        np.testing.assert_array_equal(other[1], scores)


def test_a_killed_worker_costs_time_not_the_result(client):
    import dask.array

    cube, labels = hyperatom.synth(240, 384, bands=12, classes=4, random_state=3)
    X, y, _ = windows(cube, hyperatom.split(labels, per_class=20, random_state=0)[0], size=9)
    classifier = KernelTDDLClassifier(
        kernel="gaussian(sigma=0.05)", atoms_per_class=10, lambda1=0.02, epochs=1, random_state=0
    ).fit(X, y)
    expected = predict_map(classifier, cube)
    for chunks in ((20, 128), (32, 256)):
        pids = client.run(os.getpid)
        lazy = predict_map(classifier, dask.array.from_array(cube, chunks=(*chunks, 12))).persist()
        blocks = distributed.futures_of(lazy)
        while (done := sum(block.done() for block in blocks)) < len(blocks) / 4:
            time.sleep(0.01)
        assert done < 3 * len(blocks) / 4, "too late to kill a worker half-way"
        os.kill(next(iter(pids.values())), signal.SIGKILL)
        np.testing.assert_array_equal(lazy.compute(), expected)
        client.wait_for_workers(2)
        assert set(client.run(os.getpid).values()) != set(pids.values())
