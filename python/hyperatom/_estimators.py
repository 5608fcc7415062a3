"""Estimators with scikit-learn's manners over the C++ core."""

from __future__ import annotations

import contextlib
import json
import sys
from typing import Any, Callable, Iterator, Optional, Union

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_feature_names, check_is_fitted, column_or_1d, validate_data

from . import _core
from ._scenes import _seed_of

Verbose = Union[bool, int, Callable[[dict], None]]

#: What fit() passes on to the core, under the core's names (with hyphens).
_OPTIONS = {
    "kernel",
    "loss",
    "lambda1",
    "lambda2",
    "tolerance",
    "nu",
    "init",
    "atoms_per_class",
    "init_epochs",
    "optimizer",
    "rho",
    "weight_rate",
    "t0",
    "epochs",
    "batch",
    "ball",
    "intercept",
    "refit",
    "validation",
    "patience",
}


def _as_json(value: Any) -> Any:
    """NumPy's numbers, which a grid search hands over, as Python's."""
    if isinstance(value, np.generic):
        value = value.item()
    return value


def _are_class_numbers(labels: np.ndarray) -> bool:
    """Whether a map can hold the labels themselves."""
    return labels.dtype.kind in "iu" and labels[0] >= 1 and labels[-1] <= np.iinfo(np.uint16).max


class _PixelEstimator(BaseEstimator):
    """What all have in common: arrays of pixels, or of windows, for the core."""

    @contextlib.contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """A fit that is interrupted, or refused, leaves the estimator as it was."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    def _windows(self, X: Any, *, reset: bool) -> np.ndarray:
        """(n, S, bands) float32 from pixels (n, bands) or windows (n, S, bands); what does not fit is refused."""
        dimensions = np.asarray(X).ndim
        if dimensions > 3:
            raise ValueError(
                f"X has {dimensions} dimensions, expected 2 (samples, features) or 3 (samples, S, features)"
            )
        if dimensions != 3:
            X = validate_data(self, X, reset=reset, dtype=np.float32, order="C")
            return np.ascontiguousarray(X[:, np.newaxis, :])
        X = check_array(X, allow_nd=True, dtype=np.float32, order="C", estimator=self, input_name="X")
        if reset:
            _check_feature_names(self, X, reset=True)
            self.n_features_in_ = X.shape[2]
        elif X.shape[2] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[2]} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input"
            )
        return np.ascontiguousarray(X)

    def _training(self, X: np.ndarray, y: np.ndarray, classes: int, weights: Any, **fixed: Any) -> _core.Training:
        params = {name: value for name, value in self.get_params(deep=False).items() if name in _OPTIONS}
        params.update(fixed)
        given = {name.replace("_", "-"): _as_json(value) for name, value in params.items() if value is not None}
        if not isinstance(self.normalize, str):
            raise ValueError(f"normalize is {self.normalize!r}, expected the name of a kind, as 'unit' or 'none'")
        seed = _seed_of(self.random_state)
        training = _core.Training(
            X,
            np.ascontiguousarray(y, dtype=np.int64),
            classes,
            np.ascontiguousarray(weights, dtype=np.float64),
            self.normalize,
            json.dumps({**given, "seed": seed}),
            set(given),
        )
        self.options_ = json.loads(training.options)
        return training

    def _keep(self, model: _core.Model, labels: np.ndarray) -> None:
        numbers = _are_class_numbers(labels)
        model.name_classes(
            [int(label) for label in labels] if numbers else list(range(1, len(labels) + 1)),
            [str(label) for label in labels],
            {
                "version": _core.version,
                "made_by": f"hyperatom.{type(self).__name__}",
                "labels": "numbers" if numbers else "names",
            },
        )
        self.model_ = model
        self.dictionary_ = model.dictionary

    def _checked(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "model_")
        windows = self._windows(X, reset=False)
        if windows.shape[1] != self.model_.window:
            raise ValueError(
                f"X has windows of {windows.shape[1]} pixels, but {type(self).__name__} was fitted on windows of {self.model_.window}"
            )
        return windows

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags

    def _repr_html_atoms(self) -> str:
        atoms = self.dictionary_
        top = np.abs(atoms).max() or 1.0
        paths = "".join(
            f'<polyline fill="none" stroke="hsl({int(360 * k / len(atoms))} 60% 45%)" stroke-width="1" points="'
            + " ".join(
                f"{200 * b / max(1, atoms.shape[1] - 1):.1f},{30 - 28 * v / top:.1f}" for b, v in enumerate(atom)
            )
            + '"/>'
            for k, atom in enumerate(atoms)
        )
        return (
            f'<figure style="margin:0"><svg viewBox="0 0 200 60" width="400" height="120" role="img" '
            f'aria-label="{len(atoms)} atoms">{paths}</svg>'
            f"<figcaption>{len(atoms)} atoms of {atoms.shape[1]} features, {self.model_.kernel}</figcaption></figure>"
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> dict:
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle and hasattr(self, "dictionary_"):
            bundle["text/html"] += self._repr_html_atoms()
        return bundle


class _PixelClassifier(ClassifierMixin, _PixelEstimator):
    def _labels(self, y: Any, n: int) -> np.ndarray:
        """Classes from 0; sets classes_."""
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        if len(y) != n:
            raise ValueError(f"Found input variables with inconsistent numbers of samples: {[n, len(y)]}")
        self.classes_, encoded = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes in y, but it has 1 class: {self.classes_[0]}"
            )
        return encoded

    def _fit_arrays(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        windows = self._windows(X, reset=True)
        return windows, self._labels(y, len(windows))

    def _scores(self, X: Any) -> np.ndarray:
        windows = self._checked(X)
        return self.model_.scores(windows)

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, S, n_features)
            Pixels, or windows of S pixels, the centre first.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            The highest decides; for two classes, the score of the second less that of the first.

        Examples
        --------
        >>> from hyperatom import SparseRepresentationClassifier
        >>> classifier = SparseRepresentationClassifier(kernel="linear").fit([[1, 0], [0, 1]], ["soil", "water"])
        >>> bool(classifier.decision_function([[0.9, 0.1]])[0] < 0)
        True
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The class with the highest score.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, S, n_features)
            Pixels, or windows of S pixels, the centre first.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels from `classes_`.

        Examples
        --------
        >>> from hyperatom import SparseRepresentationClassifier
        >>> classifier = SparseRepresentationClassifier(kernel="linear").fit([[1, 0], [0, 1]], ["soil", "water"])
        >>> classifier.predict([[0.9, 0.1], [0.2, 0.8]])
        array(['soil', 'water'], dtype='<U5')
        """
        scores = self._scores(X)
        return self.classes_[scores.argmax(axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes.

        With the softmax loss they are what was trained for. Other losses train scores that are near 1 for the class of a
        pixel and near 0 for the others; the nearest distribution to them is given.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, S, n_features)
            Pixels, or windows of S pixels, the centre first.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows add up to 1; the class of `predict` has the largest.

        Examples
        --------
        >>> from hyperatom import SparseRepresentationClassifier
        >>> classifier = SparseRepresentationClassifier(kernel="linear").fit([[1, 0], [0, 1]], ["soil", "water"])
        >>> classifier.predict_proba([[0.9, 0.1], [0.2, 0.8]]).argmax(axis=1)
        array([0, 1])
        """
        scores = self._scores(X)
        loss = self.model_.loss
        if loss.startswith("softmax"):
            exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
            return exponentials / exponentials.sum(axis=1, keepdims=True)
        if loss.startswith("squared-hinge"):
            scores = (scores + 1) / 2
        return _nearest_distribution(scores)


def _nearest_distribution(scores: np.ndarray) -> np.ndarray:
    """The Euclidean projection of every row onto the probability simplex."""
    falling = -np.sort(-scores, axis=1)
    excess = np.cumsum(falling, axis=1) - 1
    count = np.arange(1, scores.shape[1] + 1)
    kept = (falling - excess / count > 0).sum(axis=1)
    threshold = excess[np.arange(len(scores)), kept - 1] / kept
    return np.maximum(scores - threshold[:, np.newaxis], 0)


class KernelTDDLClassifier(_PixelClassifier):
    """Kernel task-driven dictionary learning with joint sparsity, the paper's method.

    A small dictionary and a linear classifier of its sparse codes are learned together, in the feature space of a kernel. With windows
    (3-D X) the pixels of a neighbourhood share their atoms.

    Parameters
    ----------
    kernel : str, default="gaussian"
        `"gaussian(sigma=0.05)"`, `"linear"`, `"polynomial(...)"`. A Gaussian without its sigma gets the one that does best in short
        trainings on part of the samples.
    loss : {"squared", "softmax", "squared-hinge"}, default="squared"
        What the classifier is trained for.
    lambda1 : float, default=None
        Weight of the joint sparsity. None: 0.04 sqrt(S) times the mean of k(x, x).
    lambda2 : float, default=0.0
        Weight of the squared norm of the code.
    atoms_per_class : int, default=5
        Atoms drawn per class; fewer where a class has fewer samples.
    epochs : int, default=None
        Passes through the samples. None: as many as see 60,000 samples, from 30 to 300.
    batch : int, default=50
        Samples per step.
    optimizer : {"adam", "sgd"}, default="adam"
        Adam on shuffled passes, or the paper's stochastic gradient on random draws.
    rho : float, default=None
        Learning rate of the dictionary. None: 3e-4 times the mean length of a pixel.
    weight_rate : float, default=None
        Learning rate of the classifier, as a multiple of the dictionary's.
    t0 : float, default=0.0
        sgd: steps before the rate decays; 0 takes a tenth of all steps.
    nu : float, default=1e-4
        Weight of the squared norm of the classifier.
    init : {"samples", "unsupervised"}, default="samples"
        First dictionary: samples of each class, or those improved without labels.
    init_epochs : int, default=5
        Passes of the unsupervised initialisation.
    ball : float, default=None
        Radius of the ball that atoms are kept in. None: the length of the longest pixel.
    intercept : bool, default=True
        Whether the classifier has an intercept.
    refit : bool, default=False
        Whether the classifier is solved for exactly at the end.
    validation : float, default=0.0
        Share of each class that is held out to choose the best epoch.
    patience : int, default=10
        Epochs without improvement on the held-out samples after which training stops.
    tolerance : float, default=1e-8
        Largest duality gap of a code, relative to its objective.
    normalize : {"unit", "none", "standard", "standard+unit", "minmax", "mnf"}, default="unit"
        How pixels are scaled; fitted on X and kept in the model. "mnf" needs windows.
    class_weight : dict or "balanced", default=None
        Weights of the classes in the loss.
    warm_start : bool, default=False
        Whether fit goes on from the dictionary and classifier of the fit before.
    random_state : int, RandomState instance or None, default=None
        An integer fixes the result; it is the `--seed` of the command line.
    verbose : bool or callable, default=False
        True prints a line per epoch; a callable gets the report of every epoch, a dict.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    dictionary_ : ndarray of shape (n_atoms, n_features)
        The atoms, normalised as pixels are.
    model_ : Model
        The core's model, which `save_model` writes and `predict_map` takes.
    options_ : dict
        All settings, with those that were chosen.
    n_features_in_ : int
        Bands.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the bands, if X was a data frame.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperatom import KernelTDDLClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["grass", "soil"], 20)
    >>> X = rng.normal(0.5, 0.02, (40, 30)) + np.where(y == "soil", 0.3, 0)[:, None] * np.linspace(0, 1, 30)
    >>> classifier = KernelTDDLClassifier(epochs=20, random_state=0).fit(X, y)
    >>> classifier.score(X, y)
    1.0
    """

    def __init__(
        self,
        *,
        kernel: str = "gaussian",
        loss: str = "squared",
        lambda1: Optional[float] = None,
        lambda2: float = 0.0,
        atoms_per_class: int = 5,
        epochs: Optional[int] = None,
        batch: int = 50,
        optimizer: str = "adam",
        rho: Optional[float] = None,
        weight_rate: Optional[float] = None,
        t0: float = 0.0,
        nu: float = 1e-4,
        init: str = "samples",
        init_epochs: int = 5,
        ball: Optional[float] = None,
        intercept: bool = True,
        refit: bool = False,
        validation: float = 0.0,
        patience: int = 10,
        tolerance: float = 1e-8,
        normalize: str = "unit",
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: Verbose = False,
    ):
        self.kernel = kernel
        self.loss = loss
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.atoms_per_class = atoms_per_class
        self.epochs = epochs
        self.batch = batch
        self.optimizer = optimizer
        self.rho = rho
        self.weight_rate = weight_rate
        self.t0 = t0
        self.nu = nu
        self.init = init
        self.init_epochs = init_epochs
        self.ball = ball
        self.intercept = intercept
        self.refit = refit
        self.validation = validation
        self.patience = patience
        self.tolerance = tolerance
        self.normalize = normalize
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> "KernelTDDLClassifier":
        """Learns dictionary and classifier.

        A KeyboardInterrupt ends it after the present step; the estimator is then as it was before. All cores are used, or as many as
        the environment variable OMP_NUM_THREADS says; joblib and Dask set it in their workers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, S, n_features)
            Pixels, or windows of S pixels, the centre first (see `windows`).
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        KernelTDDLClassifier
            The estimator itself.

        Examples
        --------
        >>> from hyperatom import KernelTDDLClassifier, synth, windows
        >>> X, y, where = windows(*synth(40, 40, bands=20, classes=3, random_state=0), size=9)
        >>> KernelTDDLClassifier(kernel="gaussian(sigma=0.1)", epochs=5, random_state=0).fit(X[::20], y[::20]).dictionary_.shape
        (15, 20)
        """
        with self._all_or_nothing():
            before = (self.model_, self.classes_) if self.warm_start and hasattr(self, "model_") else None
            windows, labels = self._fit_arrays(X, y)
            weights = np.zeros(0)
            if self.class_weight is not None:
                weights = compute_class_weight(self.class_weight, classes=self.classes_, y=self.classes_[labels])[
                    labels
                ]
            training = self._training(windows, labels, len(self.classes_), weights)
            training.begin(self._start_from(before, windows))
            training.run(self._observer())
            self._keep(training.model(), self.classes_)
            self.weights_ = self.model_.weights
            self.intercept_ = self.model_.bias
        return self

    def _start_from(self, before: Any, windows: np.ndarray) -> Optional[_core.Model]:
        if before is None:
            return None
        model, classes = before
        if not np.array_equal(classes, self.classes_) or model.bands != windows.shape[2]:
            raise ValueError(
                f"warm_start: the fit before had {model.bands} features and the classes {list(classes)}, "
                f"this one has {windows.shape[2]} and {list(self.classes_)}"
            )
        return model

    def _observer(self) -> Optional[Callable[[dict], None]]:
        if callable(self.verbose):
            return self.verbose
        if not self.verbose:
            return None

        def tell(report: dict) -> None:
            print(
                f"epoch {report['epoch']}: loss {report['loss']:.4g}, accuracy {100 * report['accuracy']:.1f} %, "
                f"{report['active']:.1f} active atoms",
                file=sys.stderr,
            )

        return tell


class SparseRepresentationClassifier(_PixelClassifier):
    """Sparse representation by all training samples; the class whose samples reconstruct a window best.

    Parameters
    ----------
    kernel : str, default="gaussian"
        As in `KernelTDDLClassifier`.
    lambda1 : float, default=None
        Weight of the joint sparsity. None: 0.04 sqrt(S) times the mean of k(x, x).
    lambda2 : float, default=0.0
        Weight of the squared norm of the code.
    tolerance : float, default=1e-8
        Largest duality gap of a code, relative to its objective.
    normalize : {"unit", "none", "standard", "standard+unit", "minmax", "mnf"}, default="unit"
        How pixels are scaled; fitted on X and kept in the model. "mnf" needs windows.
    random_state : int, RandomState instance or None, default=None
        Of the short trainings that choose a sigma.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    dictionary_ : ndarray of shape (n_samples, n_features)
        The centres of the training windows, normalised.
    model_ : Model
        The core's model.
    options_ : dict
        All settings, with those that were chosen.
    n_features_in_ : int
        Bands.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the bands, if X was a data frame.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperatom import SparseRepresentationClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([1, 2], 20)
    >>> X = rng.normal(0.5, 0.02, (40, 30)) + (y == 2)[:, None] * np.linspace(0, 0.3, 30)
    >>> SparseRepresentationClassifier(kernel="gaussian(sigma=0.1)").fit(X, y).score(X, y)
    1.0
    """

    def __init__(
        self,
        *,
        kernel: str = "gaussian",
        lambda1: Optional[float] = None,
        lambda2: float = 0.0,
        tolerance: float = 1e-8,
        normalize: str = "unit",
        random_state: Any = None,
    ):
        self.kernel = kernel
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.tolerance = tolerance
        self.normalize = normalize
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "SparseRepresentationClassifier":
        """Keeps the samples as the dictionary.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, S, n_features)
            Pixels, or windows of S pixels, the centre first.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        SparseRepresentationClassifier
            The estimator itself.

        Examples
        --------
        >>> from hyperatom import SparseRepresentationClassifier
        >>> SparseRepresentationClassifier(kernel="linear").fit([[1, 0], [0, 1]], [3, 7]).classes_
        array([3, 7])
        """
        with self._all_or_nothing():
            windows, labels = self._fit_arrays(X, y)
            training = self._training(windows, labels, len(self.classes_), np.zeros(0))
            self._keep(training.sparse_representation(), self.classes_)
        return self


class KernelDictionaryLearning(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _PixelEstimator):
    """A dictionary learned without labels; `transform` gives sparse codes over it.

    Parameters
    ----------
    n_components : int, default=10
        Atoms; fewer where there are fewer samples.
    kernel : str, default="gaussian"
        As in `KernelTDDLClassifier`; a Gaussian without its sigma gets the median squared distance between pixels.
    lambda1 : float, default=None
        Weight of the joint sparsity. None: 0.04 sqrt(S) times the mean of k(x, x).
    lambda2 : float, default=0.0
        Weight of the squared norm of the code.
    epochs : int, default=5
        Passes through the samples.
    batch : int, default=50
        Samples per step.
    tolerance : float, default=1e-8
        Largest duality gap of a code, relative to its objective.
    normalize : {"unit", "none", "standard", "standard+unit", "minmax", "mnf"}, default="unit"
        How pixels are scaled; fitted on X and kept. "mnf" needs windows.
    random_state : int, RandomState instance or None, default=None
        An integer fixes the result.

    Attributes
    ----------
    dictionary_ : ndarray of shape (n_atoms, n_features)
        The atoms, normalised as pixels are.
    model_ : Model
        The core's model.
    options_ : dict
        All settings, with those that were chosen.
    n_features_in_ : int
        Bands.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the bands, if X was a data frame.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperatom import KernelDictionaryLearning
    >>> X = np.random.default_rng(0).random((50, 20))
    >>> codes = KernelDictionaryLearning(n_components=8, random_state=0).fit_transform(X)
    >>> codes.shape
    (50, 8)
    """

    def __init__(
        self,
        *,
        n_components: int = 10,
        kernel: str = "gaussian",
        lambda1: Optional[float] = None,
        lambda2: float = 0.0,
        epochs: int = 5,
        batch: int = 50,
        tolerance: float = 1e-8,
        normalize: str = "unit",
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.epochs = epochs
        self.batch = batch
        self.tolerance = tolerance
        self.normalize = normalize
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "KernelDictionaryLearning":
        """Learns the dictionary.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, S, n_features)
            Pixels, or windows of S pixels, the centre first.
        y : None
            Not used.

        Returns
        -------
        KernelDictionaryLearning
            The estimator itself.

        Examples
        --------
        >>> import numpy as np
        >>> from hyperatom import KernelDictionaryLearning
        >>> KernelDictionaryLearning(n_components=4, random_state=0).fit(np.random.default_rng(0).random((50, 20))).dictionary_.shape
        (4, 20)
        """
        with self._all_or_nothing():
            windows = self._windows(X, reset=True)
            training = self._training(
                windows,
                np.zeros(len(windows)),
                1,
                np.zeros(0),
                init="unsupervised",
                init_epochs=self.epochs,
                epochs=0,
                atoms_per_class=self.n_components,
            )
            training.begin(None)
            self._keep(training.model(), np.array([1]))
        return self

    @property
    def _n_features_out(self) -> int:
        return len(self.dictionary_)

    def transform(self, X: Any) -> np.ndarray:
        """The code of every pixel, or of the centre of every window.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, S, n_features)
            Pixels, or windows of S pixels, the centre first.

        Returns
        -------
        ndarray of shape (n_samples, n_atoms)
            Codes; most entries are 0.

        Examples
        --------
        >>> import numpy as np
        >>> from hyperatom import KernelDictionaryLearning
        >>> X = np.random.default_rng(0).random((50, 20))
        >>> KernelDictionaryLearning(n_components=4, random_state=0).fit(X).transform(X[:3]).shape
        (3, 4)
        """
        windows = self._checked(X)
        return self.model_.codes(windows)
