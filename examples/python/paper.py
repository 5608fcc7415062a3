"""The paper in ten lines: kernel task-driven dictionary learning on windows of a scene, beside its rivals."""

from sklearn.svm import SVC

import hyperatom as ha

cube, labels = ha.synth(80, 80, bands=60, classes=6, random_state=0)
train, test = ha.split(labels, per_class=15, random_state=0)
X, y, _ = ha.windows(cube, train, size=9)
X_test, y_test, _ = ha.windows(cube, test, size=9)
print(f"sdl-l12-k {ha.KernelTDDLClassifier(random_state=0).fit(X, y).score(X_test, y_test):.4f}")
print(f"sdl-l1-k  {ha.KernelTDDLClassifier(random_state=0).fit(X[:, 0], y).score(X_test[:, 0], y_test):.4f}")
print(f"src-l12-k {ha.SparseRepresentationClassifier(random_state=0).fit(X, y).score(X_test, y_test):.4f}")
print(f"svm-k     {SVC(C=100, gamma='scale').fit(X[:, 0], y).score(X_test[:, 0], y_test):.4f}")
