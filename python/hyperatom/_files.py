"""Scenes and labels from files, as DataArrays (`pip install hyperatom[geo]`)."""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

if TYPE_CHECKING:
    import xarray

Path_ = Union[str, "os.PathLike[str]"]

_MICRO = {"micrometers", "micrometer", "micrometres", "micrometre", "microns", "micron", "um", "\u00b5m", "\u03bcm"}
_NANO = {"nanometers", "nanometer", "nanometres", "nanometre", "nm"}


def _numbers(text: str, path: Path_, field: str, bands: int) -> list[float]:
    """Of ENVI's `{1, 2, 3}`: one per band, or none."""
    words = [word.strip() for word in text.strip().strip("{}").split(",") if word.strip()]
    try:
        values = [float(word) for word in words]
    except ValueError:
        raise ValueError(f"{path}: found {text[:40]!r} in '{field}', expected numbers") from None
    if values and len(values) != bands:
        raise ValueError(f"{path}: found {len(values)} numbers in '{field}', expected {bands}: one per band")
    return values


def _wavelengths(source: Any, path: Path_) -> Optional[np.ndarray]:
    """In micrometres, from where the command line finds them: the ENVI header, the bands' own items, their names."""
    envi = source.tags(ns="ENVI")
    values, units = _numbers(envi.get("wavelength", ""), path, "wavelength", source.count), envi.get(
        "wavelength_units", ""
    )
    if not values:
        tags = [source.tags(band) for band in source.indexes]
        try:
            values = [float(tag["wavelength"]) for tag in tags]
            units = tags[0].get("wavelength_units", "")
        except (KeyError, ValueError):
            values = []
    if not values:
        names = [re.search(r"\(\s*(\S+) ([^()]+)\)$", name or "") for name in source.descriptions]
        if all(names):
            values, units = [float(name[1]) for name in names if name], str(names[0] and names[0][2])
    if not values or min(values) <= 0:
        return None
    unit = units.strip().lower()
    if unit in _NANO or (unit in ("", "unknown") and max(values) >= 100):
        return np.array(values) / 1000
    return np.array(values) if unit in _MICRO | {"", "unknown"} else None


def _from_gdal(path: Path_, chunks: Any) -> "xarray.DataArray":
    import rasterio
    import rioxarray

    # Nothing is written beside a compressed scene.
    with warnings.catch_warnings(), rasterio.Env(CPL_VSIL_GZIP_WRITE_PROPERTIES="NO"):
        warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
        with rasterio.open(path) as source:
            wavelengths = _wavelengths(source, path)
            good = (
                np.array(
                    _numbers(source.tags(ns="ENVI").get("bbl", ""), path, "bbl", source.count) or [1] * source.count
                )
                != 0
            )
            no_data, gains, offsets = source.nodatavals, np.array(source.scales), np.array(source.offsets)
        scene: Any = rioxarray.open_rasterio(path, chunks=chunks)
        if chunks is None:
            scene.load()
    if not good.any():
        raise ValueError(f"{path}: found all {len(good)} bands marked bad, expected at least one good")
    scene = scene.astype(np.float32).drop_vars("band")
    marked = np.array([np.nan if value is None else value for value in no_data], dtype=np.float32)
    if np.isfinite(marked).any():
        scene = scene.where(scene != marked[:, np.newaxis, np.newaxis])
    if (gains != 1).any() or (offsets != 0).any():
        scene = scene.where((scene != 0).any("band"))  # zero in all bands is no data before scaling, not after
        scene = (
            scene * gains.astype(np.float32)[:, np.newaxis, np.newaxis]
            + offsets.astype(np.float32)[:, np.newaxis, np.newaxis]
        )
    if wavelengths is not None:
        scene = scene.assign_coords(wavelength=("band", wavelengths))
    scene = scene.isel(band=np.flatnonzero(good)) if not good.all() else scene
    scene.attrs = {}
    return scene.transpose("y", "x", "band")


def _from_mat(path: Path_, variable: Optional[str], dimensions: int) -> np.ndarray:
    from scipy.io import loadmat

    try:
        arrays = loadmat(path)
    except NotImplementedError:
        raise ValueError(
            f"{path}: is a MATLAB 7.3 file, which is read by the command line alone; save it as version 5, or as .npy"
        ) from None
    fitting = {
        name: array
        for name, array in arrays.items()
        if not name.startswith("__")
        and isinstance(array, np.ndarray)
        and array.ndim == dimensions
        and variable in (None, name)
    }
    if len(fitting) != 1:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items() if not name.startswith("__"))
        raise ValueError(
            f"{path}: expected one array of {dimensions} dimensions{f' called {variable}' if variable else ''}, found {shapes}"
        )
    return next(iter(fitting.values()))


def _from_array(path: Path_, variable: Optional[str], dimensions: int) -> np.ndarray:
    """What is no raster: MATLAB and NumPy."""
    array = _from_mat(path, variable, dimensions) if Path(path).suffix == ".mat" else np.load(path, allow_pickle=False)
    if array.ndim != dimensions:
        raise ValueError(f"{path}: found an array of {array.ndim} dimensions, expected {dimensions}")
    return array


def read_scene(path: Path_, *, chunks: Any = None, variable: Optional[str] = None) -> "xarray.DataArray":
    """A scene from a file.

    Needs `hyperatom[geo]`. Bands that an ENVI header calls bad are left out, gains and offsets applied, no-data made NaN.

    Parameters
    ----------
    path : path-like
        ENVI, GeoTIFF and what else rasterio reads; MATLAB .mat up to version 5, NumPy .npy as rows x columns x bands.
    chunks : int, dict, "auto" or None, default=None
        None reads the scene; else it is read when needed, in Dask chunks (of rasters only).
    variable : str, default=None
        Of a .mat file; None: the only one that fits.

    Returns
    -------
    DataArray of dimensions (y, x, band), float32
        With the coordinates of the file, its CRS (`.rio.crs`), and `wavelength` in micrometres along `band`.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from hyperatom import read_scene, synth
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/scene.npy", synth(30, 30, bands=10, classes=2, random_state=0)[0])
    ...     scene = read_scene(f"{folder}/scene.npy")
    >>> dict(scene.sizes)
    {'y': 30, 'x': 30, 'band': 10}
    """
    import xarray

    if not Path(path).exists():
        raise FileNotFoundError(f"{path}: there is no such file")
    if Path(path).suffix in (".mat", ".npy"):
        return xarray.DataArray(_from_array(path, variable, 3).astype(np.float32), dims=("y", "x", "band"))
    return _from_gdal(path, chunks)


def read_labels(
    path: Path_, scene: "xarray.DataArray", *, class_field: Optional[str] = None, variable: Optional[str] = None
) -> "xarray.DataArray":
    """Labels of a scene from a raster of its size, or from polygons.

    Needs `hyperatom[geo]`. Polygons cover the pixels whose centre they cover, and are reprojected when their CRS is another one.

    Parameters
    ----------
    path : path-like
        A raster (also .mat, .npy), or vector data that geopandas reads.
    scene : DataArray
        What `read_scene` gave.
    class_field : str, default=None
        The field of vector data that holds the classes: whole numbers, or names, which are numbered from 1 in their sorted order.
    variable : str, default=None
        Of a .mat file; None: the only one that fits.

    Returns
    -------
    DataArray of dimensions (y, x), int32
        Class numbers, 0 for none; the names of vector data are in `attrs["class_names"]`.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from hyperatom import read_labels, read_scene, synth
    >>> cube, labels = synth(30, 30, bands=10, classes=2, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/scene.npy", cube)
    ...     np.save(f"{folder}/labels.npy", labels)
    ...     found = read_labels(f"{folder}/labels.npy", read_scene(f"{folder}/scene.npy"))
    >>> bool((found == labels).all())
    True
    """
    import xarray

    if not Path(path).exists():
        raise FileNotFoundError(f"{path}: there is no such file")
    names: list[str] = []
    if class_field is not None:
        labels, names = _burnt(path, scene, class_field)
    elif Path(path).suffix in (".mat", ".npy"):
        labels = _from_array(path, variable, 2)
    else:
        raster = _from_gdal(path, None)
        if raster.sizes["band"] != 1:
            raise ValueError(f"{path}: found {raster.sizes['band']} bands, expected 1: the class numbers")
        labels = np.nan_to_num(raster.values[:, :, 0], nan=0)
    shape = (scene.sizes["y"], scene.sizes["x"])
    if labels.shape != shape:
        raise ValueError(f"{path}: found {labels.shape} rows and columns, the scene has {shape}")
    coords = {name: coord for name, coord in scene.coords.items() if "band" not in coord.dims}
    return xarray.DataArray(
        labels.astype(np.int32), dims=("y", "x"), coords=coords, attrs={"class_names": names} if names else {}
    )


def _burnt(path: Path_, scene: Any, class_field: str) -> tuple[np.ndarray, list[str]]:
    import geopandas
    import rasterio.features

    frame = geopandas.read_file(path)
    if class_field not in frame.columns:
        raise ValueError(
            f"{path}: has no field {class_field!r}; its fields: {', '.join(frame.columns.drop('geometry'))}"
        )
    if scene.rio.crs is None or frame.crs is None:
        raise ValueError(f"{path}: the CRS of {'the scene' if scene.rio.crs is None else 'the polygons'} is not known")
    frame = frame[frame[class_field].notna() & ~frame.geometry.isna()].to_crs(scene.rio.crs)
    values, names = frame[class_field], []
    if values.dtype.kind not in "iu":
        names = sorted({str(value) for value in values})
        values = values.map(lambda value: 1 + names.index(str(value)))
    burnt = rasterio.features.rasterize(
        zip(frame.geometry, values.astype(int)),
        out_shape=(scene.sizes["y"], scene.sizes["x"]),
        transform=scene.rio.transform(),
        dtype="int32",
    )
    return burnt, names
