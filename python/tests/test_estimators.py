"""The estimators: oracles for what they compute, and their manners."""

import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Lasso, MultiTaskLasso

from hyperatom import KernelDictionaryLearning, KernelTDDLClassifier, SparseRepresentationClassifier

PLAIN = {"kernel": "linear", "normalize": "none", "lambda1": 0.02}


def codes_by_scikit_learn(atoms, windows, lambda1):
    """Of the centres of windows (n, S, bands), in the linear kernel."""
    S, bands = windows.shape[1:]
    peer = (Lasso if S == 1 else MultiTaskLasso)(alpha=lambda1 / bands, fit_intercept=False, tol=1e-9, max_iter=200000)
    return np.array(
        [peer.fit(atoms.T, window[0] if S == 1 else window.T).coef_.reshape(S, -1)[0] for window in windows]
    )


@pytest.mark.parametrize("S", [1, 4])
def test_scores_are_the_linear_rule_of_the_code(blobs, S):
    X, y = blobs
    windows = np.random.default_rng(0).normal(0, 0.01, (len(X), S, X.shape[1])) + X[:, np.newaxis]
    windows = windows.astype(np.float32)
    classifier = KernelTDDLClassifier(**PLAIN, epochs=3, random_state=0, tolerance=1e-12).fit(windows, y)
    codes = codes_by_scikit_learn(classifier.dictionary_, windows[::10], 0.02)
    scores = codes @ classifier.weights_.T + classifier.intercept_
    np.testing.assert_allclose(classifier.decision_function(windows[::10]), scores[:, 1] - scores[:, 0], atol=1e-5)
    np.testing.assert_array_equal(classifier.predict(windows[::10]), classifier.classes_[scores.argmax(axis=1)])
    assert classifier.score(windows, y) == 1


def test_src_takes_the_class_that_reconstructs_best(blobs):
    X, y = blobs
    X, unseen = X.astype(np.float32), (X[1::3] + 0.03).astype(np.float32)
    classifier = SparseRepresentationClassifier(**PLAIN).fit(X, y)
    codes = codes_by_scikit_learn(X, unseen[:, np.newaxis], 0.02)
    residuals = np.array(
        [
            [np.linalg.norm(x - code[y == label] @ X[y == label]) for label in classifier.classes_]
            for x, code in zip(unseen, codes)
        ]
    )
    np.testing.assert_array_equal(classifier.predict(unseen), classifier.classes_[residuals.argmin(axis=1)])
    assert len(classifier.dictionary_) == len(X)


def test_transform_gives_the_codes(blobs):
    X = blobs[0].astype(np.float32)
    learner = KernelDictionaryLearning(n_components=6, **PLAIN, random_state=0, tolerance=1e-12)
    codes = learner.fit_transform(X)
    np.testing.assert_allclose(codes, codes_by_scikit_learn(learner.dictionary_, X[:, np.newaxis], 0.02), atol=1e-5)
    assert list(learner.get_feature_names_out()) == [f"kerneldictionarylearning{k}" for k in range(6)]


def test_learning_without_labels_improves_the_dictionary():
    X = np.random.default_rng(0).random((200, 10)).astype(np.float32)

    def cost(epochs):
        learner = KernelDictionaryLearning(n_components=5, **PLAIN, epochs=epochs, random_state=0)
        codes = learner.fit_transform(X)
        return (0.5 * ((X - codes @ learner.dictionary_) ** 2).sum() + 0.02 * np.abs(codes).sum()) / len(X)

    assert cost(30) < 0.98 * cost(0)


def test_probabilities_add_up_and_follow_the_scores(blobs):
    X, y = blobs
    y3 = np.r_[y[:40], ["water"] * 10]
    for loss in ("squared", "softmax", "squared-hinge"):
        classifier = KernelTDDLClassifier(kernel="linear", loss=loss, epochs=3, random_state=0).fit(X, y3)
        scores, probabilities = classifier.decision_function(X), classifier.predict_proba(X)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        assert probabilities.min() >= 0
        np.testing.assert_array_equal(probabilities.argmax(axis=1), scores.argmax(axis=1))
        if loss == "softmax":
            np.testing.assert_allclose(
                np.log(probabilities[:, 1] / probabilities[:, 0]), scores[:, 1] - scores[:, 0], rtol=1e-9
            )


def test_a_weight_of_two_is_a_sample_twice(blobs):
    """In one step on all samples from the same dictionary."""
    X, y = blobs
    fixed = {
        "kernel": "gaussian(sigma=0.1)",
        "lambda1": 0.05,
        "rho": 1e-3,
        "weight_rate": 10,
        "ball": 1.0,
        "batch": 10000,
        "random_state": 0,
    }
    first = KernelTDDLClassifier(**fixed, epochs=0, warm_start=True).fit(X, y)

    def one_step(X, y, class_weight):
        return pickle.loads(pickle.dumps(first)).set_params(epochs=1, class_weight=class_weight).fit(X, y)

    weighted = one_step(X, y, {"grass": 2, "soil": 1})
    doubled = one_step(np.r_[X, X[y == "grass"]], np.r_[y, y[y == "grass"]], None)
    unweighted = one_step(X, y, None)
    np.testing.assert_allclose(weighted.dictionary_, doubled.dictionary_, atol=1e-9)
    np.testing.assert_allclose(weighted.weights_, doubled.weights_, atol=1e-9)
    assert not np.allclose(weighted.weights_, unweighted.weights_, atol=1e-6)


def test_warm_start_goes_on_from_the_last_fit(blobs):
    X, y = blobs
    fit = KernelTDDLClassifier(kernel="linear", epochs=0, warm_start=True, random_state=0).fit(X, y)
    before = fit.dictionary_.copy()
    fit.fit(X, y)
    np.testing.assert_array_equal(fit.dictionary_, before)
    fit.set_params(epochs=2).fit(X, y)
    assert 0 < np.abs(fit.dictionary_ - before).max() < 0.1
    with pytest.raises(ValueError, match="warm_start: the fit before had 8 features and the classes"):
        fit.fit(X, np.repeat([1, 2], 25))


def test_seeds_fix_the_result(blobs):
    X, y = blobs
    fits = [KernelTDDLClassifier(epochs=3, random_state=seed).fit(X, y).dictionary_ for seed in (1, 1, 2)]
    np.testing.assert_array_equal(fits[0], fits[1])
    assert not np.array_equal(fits[0], fits[2])


def test_the_callback_hears_of_every_epoch(blobs, capfd):
    X, y = blobs
    heard = []
    KernelTDDLClassifier(kernel="linear", epochs=4, batch=10, random_state=0, verbose=heard.append).fit(X, y)
    assert [report["epoch"] for report in heard] == [1, 2, 3, 4]
    assert all(0 <= report["accuracy"] <= 1 and report["gap"] >= 0 for report in heard)
    KernelTDDLClassifier(kernel="linear", epochs=2, random_state=0, verbose=True).fit(X, y)
    assert capfd.readouterr().err.count("epoch") == 2


def test_an_error_of_the_callback_ends_the_fit(blobs):
    def fail(report):
        raise RuntimeError("enough")

    classifier = KernelTDDLClassifier(kernel="linear", epochs=4, verbose=fail)
    with pytest.raises(RuntimeError, match="enough"):
        classifier.fit(*blobs)
    with pytest.raises(NotFittedError):
        classifier.predict(blobs[0])


def test_pickles_and_clones(blobs):
    X, y = blobs
    for estimator in (
        KernelTDDLClassifier(epochs=2, random_state=0),
        SparseRepresentationClassifier(kernel="linear"),
        KernelDictionaryLearning(random_state=0),
    ):
        estimator.fit(X, y)
        again = pickle.loads(pickle.dumps(estimator))
        apply = "predict_proba" if hasattr(estimator, "predict_proba") else "transform"
        np.testing.assert_array_equal(getattr(again, apply)(X), getattr(estimator, apply)(X))
        assert clone(estimator).get_params() == estimator.get_params()
        assert not hasattr(clone(estimator), "model_")


def test_feature_names_are_kept(blobs):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    X, y = blobs
    frame = pandas.DataFrame(X, columns=[f"{400 + 50 * b} nm" for b in range(8)])
    classifier = SparseRepresentationClassifier(kernel="linear").fit(frame, y)
    assert list(classifier.feature_names_in_) == list(frame.columns)
    with pytest.raises(ValueError, match="feature names should match"):
        classifier.predict(frame[frame.columns[::-1]])


def test_reprs(blobs):
    classifier = KernelTDDLClassifier(lambda1=0.1, epochs=1, random_state=0)
    assert repr(classifier) == "KernelTDDLClassifier(epochs=1, lambda1=0.1, random_state=0)"
    html = classifier.fit(*blobs)._repr_mimebundle_()["text/html"]
    assert html.count("<polyline") == len(classifier.dictionary_) == 10


def test_every_kind_of_array_gives_the_same(samples):
    X, y, _ = samples
    readonly = X.copy()
    readonly.flags.writeable = False
    wide = np.zeros((len(X), 2 * X.shape[1], 3 * X.shape[2]), np.float32)
    strided = wide[:, ::2, ::3]
    strided[:] = X
    kinds = [
        X,
        readonly,
        strided,
        np.asfortranarray(X),
        X.astype(np.float64),
        X[::-1][::-1],
        X.astype(">f4"),
        X.tolist(),
    ]
    expected = None
    for kind in kinds:
        classifier = KernelTDDLClassifier(kernel="gaussian(sigma=0.05)", epochs=1, random_state=0).fit(kind, y)
        scores = classifier.decision_function(kind)
        expected = scores if expected is None else expected
        np.testing.assert_array_equal(scores, expected)
    assert not readonly.flags.writeable


@pytest.mark.parametrize(
    "settings, error",
    [
        ({"kernel": "gauss"}, "gauss"),
        ({"kernel": "gaussian(sigma=-1)"}, "sigma"),
        ({"loss": "absolute"}, "absolute"),
        ({"lambda1": -1.0}, "lambda1"),
        ({"epochs": -1}, "epochs"),
        ({"normalize": "log"}, "log"),
        ({"normalize": None}, "normalize is None, expected the name of a kind"),
        ({"epochs": 1.5}, "epochs must be a whole number, not 1.5"),
        ({"optimizer": "lbfgs"}, "optimizer"),
        ({"normalize": "mnf"}, "mnf"),
    ],
)
def test_bad_settings_are_refused(blobs, settings, error):
    classifier = KernelTDDLClassifier(**settings)
    with pytest.raises(ValueError, match=error):
        classifier.fit(*blobs)
    assert not hasattr(classifier, "classes_")


def test_windows_of_another_size_are_refused(classifier, samples):
    X = samples[0]
    with pytest.raises(
        ValueError, match="X has windows of 4 pixels, but KernelTDDLClassifier was fitted on windows of 9"
    ):
        classifier.predict(X[:, :4])
    with pytest.raises(ValueError, match="X has 4 dimensions, expected 2"):
        classifier.predict(X[np.newaxis])
    with pytest.raises(ValueError, match="X has 5 features, but KernelTDDLClassifier is expecting 12 features"):
        classifier.predict(X[:, :, :5])


@pytest.mark.parametrize(
    "estimator",
    [
        KernelTDDLClassifier(kernel="linear", epochs=10**6),
        KernelTDDLClassifier(kernel="linear", init="unsupervised", init_epochs=10**6),
        KernelDictionaryLearning(epochs=10**6),
    ],
)
def test_ctrl_c_stops_training(blobs, estimator):
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    begin = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(*blobs)
    assert time.monotonic() - begin < 60
    assert not hasattr(estimator, "model_") and not hasattr(estimator, "n_features_in_")
    estimator.set_params(**{"init_epochs" if getattr(estimator, "init", "") == "unsupervised" else "epochs": 1}).fit(
        *blobs
    )


@pytest.mark.parametrize("long_call", ["fit", "decision_function"])
def test_other_threads_run_during_long_calls(samples, classifier, long_call):
    X, y, _ = samples
    X, y = np.repeat(X, 200, axis=0), np.repeat(y, 200)
    call = (
        classifier.decision_function
        if long_call == "decision_function"
        else lambda X: clone(classifier).set_params(epochs=2, batch=10000).fit(X, y)
    )
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.001):
            ticks.append(time.monotonic())

    ticker = threading.Thread(target=tick)
    ticker.start()
    begin = time.monotonic()
    call(X)
    end = time.monotonic()
    done.set()
    ticker.join()
    silence = np.diff([begin, *(t for t in ticks if begin < t < end), end]).max()
    assert end - begin > 0.1, "too short to tell"
    assert silence < 0.5 * (end - begin)
