"""Fitted classifiers applied to whole scenes, and kept in files."""

from __future__ import annotations

import os
from typing import Any, Union

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._estimators import KernelTDDLClassifier, SparseRepresentationClassifier
from ._scenes import _bands_last, _is_xarray, _pixels

Classifier = Union[KernelTDDLClassifier, SparseRepresentationClassifier]
LAYERS = ("class", "confidence", "novelty", "scores")


def _model_of(classifier: Any) -> _core.Model:
    if not isinstance(classifier, (KernelTDDLClassifier, SparseRepresentationClassifier)):
        raise ValueError(
            f"expected a KernelTDDLClassifier or SparseRepresentationClassifier, got {type(classifier).__name__}"
        )
    check_is_fitted(classifier, "model_")
    return classifier.model_


def save_model(classifier: Classifier, path: Union[str, "os.PathLike[str]"]) -> None:
    """Writes a model file, which `hyperatom classify -m` takes too.

    Parameters
    ----------
    classifier : KernelTDDLClassifier or SparseRepresentationClassifier
        Fitted.
    path : path-like
        The file, by custom `*.safetensors`. It appears when it is complete, and replaces one of its name.

    Examples
    --------
    >>> import tempfile
    >>> from hyperatom import SparseRepresentationClassifier, load_model, save_model
    >>> classifier = SparseRepresentationClassifier(kernel="linear").fit([[1, 0], [0, 1]], [3, 7])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(classifier, f"{folder}/model.safetensors")
    ...     load_model(f"{folder}/model.safetensors").classes_.tolist()
    [3, 7]
    """
    _model_of(classifier).save(os.fspath(path))


def load_model(path: Union[str, "os.PathLike[str]"]) -> Classifier:
    """Reads a model file of `save_model`, or of the command line.

    Parameters
    ----------
    path : path-like
        The file; of a run folder, its `model.safetensors`.

    Returns
    -------
    KernelTDDLClassifier or SparseRepresentationClassifier
        Fitted. Its classes are the numbers of the label map, or text if the labels were anything else in Python.

    Examples
    --------
    >>> import tempfile
    >>> from hyperatom import SparseRepresentationClassifier, load_model, save_model
    >>> classifier = SparseRepresentationClassifier(kernel="linear").fit([[1, 0], [0, 1]], ["soil", "water"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(classifier, f"{folder}/model.safetensors")
    ...     load_model(f"{folder}/model.safetensors").predict([[0.9, 0.1]])
    array(['soil'], dtype='<U5')
    """
    model = _core.load_model(os.fspath(path))
    settings: dict[str, Any] = {
        "kernel": model.kernel,
        "lambda1": model.lambda1,
        "lambda2": model.lambda2,
        "normalize": model.normalizer,
    }
    classifier: Classifier
    if model.method.startswith("sdl-"):
        classifier = KernelTDDLClassifier(loss=model.loss, **settings)
        classifier.weights_, classifier.intercept_ = model.weights, model.bias
    elif model.method.startswith("src-"):
        classifier = SparseRepresentationClassifier(**settings)
    else:
        raise ValueError(
            f"{path}: a model of {model.method}, which only the command line applies; expected sdl-* or src-*"
        )
    classifier.model_ = model
    classifier.dictionary_ = model.dictionary
    classifier.n_features_in_ = model.bands
    classifier.classes_ = np.array(model.class_names) if model.provenance.get("labels") == "names" else model.class_ids
    return classifier


def _merged(chunks: tuple, unit: int, least: int) -> tuple:
    """Chunks that end where these do, rounded down to multiples of `unit`; none is smaller than `least`."""
    total, ends = sum(chunks), [0]
    for end in np.cumsum(chunks)[:-1] // unit * unit:
        if end - ends[-1] >= max(1, least) and total - end >= max(1, least):
            ends.append(int(end))
    return tuple(int(size) for size in np.diff([*ends, total]))


def _map_chunks(model: _core.Model, cube: Any, layer: str, dtype: Any, wavelengths: list) -> Any:
    """Lazily. Windows are coded in sequences of `segment` columns: chunks begin where those do, so that the map does not depend on them."""
    reach = model.reach
    rows = _merged(cube.chunks[0], 1, reach)
    cols = _merged(cube.chunks[1], _core.segment, reach)
    classes = (len(model.class_ids),)

    def classify(block: np.ndarray, block_info: Any = None) -> np.ndarray:
        row, col = block_info[0]["chunk-location"][:2]
        part = model.classify(
            _pixels(block), reach if row else 0, rows[row], reach if col else 0, cols[col], wavelengths
        )
        return part[layer].astype(dtype, copy=False)

    import dask.array

    return dask.array.map_overlap(
        classify,
        cube.rechunk((rows, cols, -1)),
        depth={0: reach if len(rows) > 1 else 0, 1: reach if len(cols) > 1 else 0, 2: 0},
        boundary="none",
        trim=False,
        allow_rechunk=False,
        drop_axis=2,
        new_axis=2 if layer == "scores" else None,
        chunks=(rows, cols, classes) if layer == "scores" else (rows, cols),
        meta=np.empty((0,) * (3 if layer == "scores" else 2), dtype=dtype),
    )


def predict_map(classifier: Classifier, scene: Any, layer: str = "class") -> Any:
    """The map of a scene.

    The result is the same for all chunk sizes, and the same as that of `hyperatom classify`.

    Parameters
    ----------
    classifier : KernelTDDLClassifier or SparseRepresentationClassifier
        Fitted.
    scene : ndarray, Dask array or DataArray of shape (rows, columns, bands)
        The pixels. The band axis of a DataArray may be anywhere if it is called band, bands or wavelength. Pixels that are not finite
        in any band, or zero in all, are not classified.
    layer : {"class", "confidence", "novelty", "scores"}, default="class"
        The class numbers, 0 where there is none (`classifier.classes_` are numbered from 1 if they are no numbers themselves); how far
        the best score is above the next; the share of a pixel that the dictionary does not explain; the scores of all classes.

    Returns
    -------
    of the kind of `scene`, of shape (rows, columns), or (rows, columns, classes) for scores
        A Dask array, or a DataArray on one, is computed chunk by chunk when it is asked for. A DataArray keeps its coordinates, and has
        the names of the classes in its attributes.

    Examples
    --------
    >>> from hyperatom import KernelTDDLClassifier, predict_map, synth, windows
    >>> cube, labels = synth(40, 40, bands=20, classes=3, random_state=0)
    >>> X, y, where = windows(cube, labels, size=9)
    >>> classifier = KernelTDDLClassifier(kernel="gaussian(sigma=0.1)", epochs=5, random_state=0).fit(X[::20], y[::20])
    >>> predict_map(classifier, cube).shape
    (40, 40)
    """
    model = _model_of(classifier)
    if layer not in LAYERS:
        raise ValueError(f"layer is {layer!r}, expected one of {', '.join(LAYERS)}")
    scene = _bands_last(scene)
    if scene.shape[2] != model.bands:
        raise ValueError(f"the scene has {scene.shape[2]} bands, the model was trained on {model.bands}")
    array = scene.data if _is_xarray(scene) else scene
    wavelengths: list = []
    if _is_xarray(scene) and "wavelength" in scene.coords and scene.coords["wavelength"].dims == scene.dims[-1:]:
        wavelengths = [float(value) for value in scene.coords["wavelength"]]
    dtype = np.float32 if layer != "class" else np.uint8 if max(model.class_ids) < 256 else np.uint16
    if hasattr(array, "dask"):
        result = _map_chunks(model, array, layer, dtype, wavelengths)
    else:
        result = model.classify(_pixels(array), 0, array.shape[0], 0, array.shape[1], wavelengths)[layer].astype(
            dtype, copy=False
        )
    return _labelled(scene, result, layer, model) if _is_xarray(scene) else result


def _labelled(scene: Any, result: Any, layer: str, model: _core.Model) -> Any:
    import xarray

    *place, bands = scene.dims
    coords = {name: coord for name, coord in scene.coords.items() if bands not in coord.dims}
    if layer == "scores":
        coords["class"] = ("class", model.class_names)
    return xarray.DataArray(
        result,
        dims=(*place, "class") if layer == "scores" else place,
        coords=coords,
        name=layer,
        attrs={"class_names": list(model.class_names), "class_numbers": [int(number) for number in model.class_ids]},
    )
