"""scikit-learn's own checks, on every estimator."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import hyperatom


@parametrize_with_checks(
    [
        hyperatom.KernelTDDLClassifier(),
        hyperatom.SparseRepresentationClassifier(),
        hyperatom.KernelDictionaryLearning(),
    ]
)
def test_sklearn_checks(estimator, check):
    check(estimator)
