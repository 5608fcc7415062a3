"""Scenes, labels and samples: from files and arrays to what estimators take."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Iterator, Optional

import numpy as np
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from . import _core

#: What the band axis of a DataArray may be called; of others it is the last.
BAND_DIMENSIONS = ("band", "bands", "wavelength")


def _seed_of(random_state: Any) -> int:
    """A seed for the core; the same integer gives the same result as `--seed` of the command line."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def _whole(name: str, value: Any) -> int:
    if not isinstance(value, Integral):
        raise ValueError(f"{name} is {value!r}, expected a whole number")
    return int(value)


def _is_xarray(array: Any) -> bool:
    return hasattr(array, "dims") and hasattr(array, "coords")


def _bands_last(scene: Any) -> Any:
    """Rows x columns x bands."""
    if _is_xarray(scene):
        bands = next((name for name in BAND_DIMENSIONS if name in scene.dims), scene.dims[-1])
        scene = scene.transpose(..., bands)
    elif not hasattr(scene, "ndim"):
        scene = np.asarray(scene)
    if scene.ndim != 3:
        raise ValueError(f"the scene has {scene.ndim} dimensions, expected 3: rows, columns and bands")
    return scene


def _pixels(scene: Any) -> np.ndarray:
    return np.ascontiguousarray(scene, dtype=np.float32)


def _usable(cube: np.ndarray) -> np.ndarray:
    """A pixel is not when any band is not finite, or all are zero."""
    return np.isfinite(cube).all(axis=2) & (cube != 0).any(axis=2)


def _label_map(labels: Any) -> np.ndarray:
    array = np.asarray(labels)
    if array.ndim != 2:
        raise ValueError(f"the labels have {array.ndim} dimensions, expected 2: rows and columns")
    if array.dtype.kind not in "iub":
        if not np.array_equal(array, np.round(array)):
            raise ValueError(
                f"the labels are {array.dtype} numbers that are not all whole, expected class numbers, 0 for none"
            )
    if array.size and (array.min() < 0 or array.max() > np.iinfo(np.uint16).max):
        raise ValueError(
            f"the labels are {array.min()} to {array.max()}, expected 0 (none) to {np.iinfo(np.uint16).max}"
        )
    return np.ascontiguousarray(array, dtype=np.int32)


def windows(scene: Any, labels: Any, size: int = 9) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The windows of all labelled pixels.

    A window is the pixel and the closest usable ones around it. A pixel can't be used if any band is not finite, or all are zero; such
    pixels are left out, labelled or not.

    Parameters
    ----------
    scene : array-like or DataArray of shape (rows, columns, bands)
        The pixels. The band axis of a DataArray may be anywhere if it is called band, bands or wavelength.
    labels : array-like of shape (rows, columns)
        Class numbers, 0 for none.
    size : int, default=9
        S, the pixels in a window; 9, 25, 49 are squares.

    Returns
    -------
    X : ndarray of shape (n, size, bands), float32
        The windows, the labelled pixel first.
    y : ndarray of shape (n,)
        Its class.
    where : ndarray of shape (n, 2)
        Its row and column: the groups of `BlockKFold`.

    Examples
    --------
    >>> from hyperatom import synth, windows
    >>> cube, labels = synth(40, 40, bands=30, classes=4, random_state=0)
    >>> X, y, where = windows(cube, labels, size=9)
    >>> X.shape == ((labels > 0).sum(), 9, 30)
    True
    >>> bool((X[5, 0] == cube[tuple(where[5])]).all())
    True
    """
    cube, labels = _pixels(_bands_last(scene)), _label_map(labels)
    if labels.shape != cube.shape[:2]:
        raise ValueError(f"the labels have {labels.shape} rows and columns, the scene {cube.shape[:2]}")
    usable = _usable(cube)
    where = np.argwhere((labels > 0) & usable)
    places = _core.window_places(usable.view(np.uint8), where, _whole("size", size))
    return cube.reshape(-1, cube.shape[2])[places], labels[where[:, 0], where[:, 1]], where


def split(
    labels: Any,
    *,
    train: Optional[int] = None,
    fraction: Optional[float] = None,
    per_class: Optional[int] = None,
    blocks: int = 0,
    buffer: int = 0,
    random_state: Any = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Divides labelled pixels into those for training and those for testing, class by class.

    Parameters
    ----------
    labels : array-like of shape (rows, columns)
        Class numbers, 0 for none.
    train : int, default=None
        Training pixels in all. Give this, `fraction` or `per_class`.
    fraction : float, default=None
        Training share of every class.
    per_class : int, default=None
        Training pixels of every class.
    blocks : int, default=0
        Side of the blocks of the scene that stay together; 0 draws pixels by themselves.
    buffer : int, default=0
        With blocks: test pixels this close to a training pixel are left out.
    random_state : int, RandomState instance or None, default=None
        An integer gives the split of `hyperatom split --seed`.

    Returns
    -------
    train, test : ndarray of shape (rows, columns)
        The labels of each side, 0 elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperatom import split
    >>> labels = np.repeat([[1, 2]], 50, axis=0)
    >>> train, test = split(labels, per_class=5, random_state=0)
    >>> int((train > 0).sum()), int((test > 0).sum())
    (10, 90)
    """
    ids = _label_map(labels)
    chosen = _core.split(
        ids,
        None if train is None else _whole("train", train),
        fraction,
        None if per_class is None else _whole("per_class", per_class),
        _whole("blocks", blocks),
        _whole("buffer", buffer),
        _seed_of(random_state),
    )
    sides = []
    for pixels in chosen:
        side = np.zeros_like(ids)
        side.flat[pixels] = ids.flat[pixels]
        sides.append(side)
    return sides[0], sides[1]


class BlockKFold(BaseCrossValidator):
    """Folds of whole blocks of a scene, so that windows of the two sides stay apart.

    Parameters
    ----------
    n_splits : int, default=5
        Folds.
    block : int, default=16
        Side of a block, in pixels.
    buffer : int, default=0
        Training samples this close (rows or columns) to a held-out one are left out.
    random_state : int, RandomState instance or None, default=0
        Which blocks go together.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from hyperatom import BlockKFold, SparseRepresentationClassifier, synth, windows
    >>> X, y, where = windows(*synth(60, 60, bands=20, classes=3, random_state=0), size=9)
    >>> classifier = SparseRepresentationClassifier(kernel="linear")
    >>> cross_val_score(classifier, X[::20], y[::20], groups=where[::20], cv=BlockKFold(3, buffer=2)).shape
    (3,)
    """

    def __init__(self, n_splits: int = 5, *, block: int = 16, buffer: int = 0, random_state: Any = 0):
        self.n_splits = n_splits
        self.block = block
        self.buffer = buffer
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many folds there are.

        Parameters
        ----------
        X, y, groups : object
            Not used.

        Returns
        -------
        int
            `n_splits`.

        Examples
        --------
        >>> from hyperatom import BlockKFold
        >>> BlockKFold(3).get_n_splits()
        3
        """
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The samples of every fold.

        Parameters
        ----------
        X : array-like of n_samples samples
            Not looked at.
        y : array-like of shape (n_samples,)
            Classes. What would leave training without a class is not held out.
        groups : array-like of shape (n_samples, 2)
            Row and column of every sample, as `windows` gives them.

        Yields
        ------
        train, test : ndarray
            Numbers of samples.

        Examples
        --------
        >>> import numpy as np
        >>> from hyperatom import BlockKFold
        >>> where = np.argwhere(np.ones((8, 8)))
        >>> folds = list(BlockKFold(2, block=4).split(where, np.tile([0, 1], 32), where))
        >>> [len(test) for train, test in folds]
        [32, 32]
        """
        where = None if groups is None else np.ascontiguousarray(groups, dtype=np.int64)
        if where is None or where.ndim != 2 or where.shape[1] != 2:
            raise ValueError(
                "groups must be the row and column of every sample, as `windows` gives them: shape (n_samples, 2)"
            )
        if y is None or len(y) != len(where):
            raise ValueError(
                f"y has {0 if y is None else len(y)} entries, groups {len(where)}: expected one per sample"
            )
        if len(where) and where.min() < 0:
            raise ValueError(f"groups has the row or column {where.min()}, expected 0 or greater")
        classes, labels = np.unique(np.asarray(y), return_inverse=True)
        folds = _core.block_folds(
            where,
            labels.astype(np.int64),
            len(classes),
            _whole("n_splits", self.n_splits),
            _whole("block", self.block),
            _whole("buffer", self.buffer),
            _seed_of(self.random_state),
        )
        if len(folds) != self.n_splits:
            raise ValueError(
                f"{self} can hold out {len(folds)} folds only: there are too few blocks of {self.block} pixels"
            )
        yield from folds


def synth(
    rows: int = 120, cols: int = 120, *, bands: int = 100, classes: int = 8, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """A synthetic scene of farmland with ground truth, as the command line's `synth` makes it.

    Parameters
    ----------
    rows, cols : int, default=120
        Size of the scene.
    bands : int, default=100
        Bands from 0.4 to 2.5 micrometres.
    classes : int, default=8
        Crops and other covers.
    random_state : int, RandomState instance or None, default=None
        An integer gives the scene of `hyperatom synth --seed`.

    Returns
    -------
    cube : ndarray of shape (rows, cols, bands), float32
        Apparent reflectances, NaN where there is no data.
    labels : ndarray of shape (rows, cols)
        Class numbers, 0 for none.

    Examples
    --------
    >>> from hyperatom import synth
    >>> cube, labels = synth(40, 50, bands=20, classes=3, random_state=0)
    >>> cube.shape, int(labels.max())
    ((40, 50, 20), 3)
    """
    return _core.synth(
        _whole("rows", rows),
        _whole("cols", cols),
        _whole("bands", bands),
        _whole("classes", classes),
        _seed_of(random_state),
    )
