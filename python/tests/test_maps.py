"""predict_map and model files: the same map by the command line, in memory and in chunks."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import hyperatom
from hyperatom import KernelTDDLClassifier, SparseRepresentationClassifier, load_model, predict_map, save_model, windows


def own_scene(folder):
    """A GeoTIFF of 4 bands with gains, no-data, a bad band and a CRS, and what is stored in it."""
    rasterio = pytest.importorskip("rasterio", reason="rasterio is not installed")
    from rasterio.transform import from_origin

    stored = np.random.default_rng(0).integers(1, 200, (25, 20, 4)).astype(np.float32)
    stored[3, 4, 2], stored[6, 7] = -9, 0
    path = folder / "scene.tif"
    with rasterio.open(
        path,
        "w",
        driver="GTiff",
        height=25,
        width=20,
        count=4,
        dtype="float32",
        nodata=-9,
        crs="EPSG:32633",
        transform=from_origin(4e5, 58e5, 10, 10),
    ) as out:
        out.write(np.moveaxis(stored, 2, 0))
        out.scales, out.offsets = (0.5,) * 4, (1.0,) * 4
        out.update_tags(ns="ENVI", bbl="{1, 0, 1, 1}", wavelength="{400, 500, 600, 700}", wavelength_units="Nanometers")
    return path, stored


def map_of_command(command, folder, scene, model, *flags):
    rasterio = pytest.importorskip("rasterio", reason="rasterio is not installed")
    command(
        "classify",
        scene,
        "-m",
        model,
        "-o",
        folder / "map.tif",
        "--confidence",
        folder / "confidence.tif",
        "--overwrite",
        *flags,
    )
    layers = []
    for name in ("map", "confidence"):
        with rasterio.open(folder / f"{name}.tif") as source:
            layers.append(source.read(1))
    return layers


@pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")
@pytest.mark.parametrize("method", ["sdl", "src", "names"])
def test_a_model_from_python_gives_the_same_map_on_the_command_line(
    command, tmp_path, scene, samples, classifier, method
):
    X, y, _ = samples
    if method == "src":
        classifier = SparseRepresentationClassifier(kernel="gaussian(sigma=0.05)").fit(X[::4], 10 * y[::4])
    if method == "names":
        classifier = KernelTDDLClassifier(
            kernel="linear", loss="softmax", normalize="mnf", epochs=2, random_state=0
        ).fit(X, np.array(["", "d", "b", "c", "a"])[y])
    save_model(classifier, tmp_path / "model.safetensors")
    np.save(tmp_path / "scene.npy", scene[0])
    classes, confidence = map_of_command(command, tmp_path, tmp_path / "scene.npy", tmp_path / "model.safetensors")
    np.testing.assert_array_equal(predict_map(classifier, scene[0]), classes)
    np.testing.assert_array_equal(predict_map(classifier, scene[0], "confidence"), confidence)
    assert set(np.unique(classes)) == {0, 1, 2, 3, 4} if method != "src" else {0, 10, 20, 30, 40}
    again = load_model(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.classes_, classifier.classes_)
    np.testing.assert_array_equal(again.predict_proba(X), classifier.predict_proba(X))


@pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")
@pytest.mark.parametrize("method", ["sdl-l12-k", "src-l1-l"])
def test_a_model_of_the_command_line_gives_the_same_map_in_python(command, tmp_path, scene, method):
    np.save(tmp_path / "scene.npy", scene[0])
    np.save(tmp_path / "labels.npy", hyperatom.split(scene[1], per_class=10, random_state=0)[0])
    quick = ["--epochs", 3, "--kernel", "gaussian(sigma=0.1)"] if method.startswith("sdl") else []
    command(
        "train",
        tmp_path / "scene.npy",
        "--labels",
        tmp_path / "labels.npy",
        "--method",
        method,
        *quick,
        "-o",
        tmp_path / "run",
    )
    classes, confidence = map_of_command(command, tmp_path, tmp_path / "scene.npy", tmp_path / "run")
    classifier = load_model(tmp_path / "run" / "model.safetensors")
    np.testing.assert_array_equal(predict_map(classifier, scene[0]), classes)
    np.testing.assert_array_equal(predict_map(classifier, scene[0], "confidence"), confidence)


def test_models_that_python_cannot_apply_are_refused(command, tmp_path, scene):
    np.save(tmp_path / "scene.npy", scene[0])
    np.save(tmp_path / "labels.npy", hyperatom.split(scene[1], per_class=5, random_state=0)[0])
    command(
        "train",
        tmp_path / "scene.npy",
        "--labels",
        tmp_path / "labels.npy",
        "--method",
        "svm-l",
        "-o",
        tmp_path / "run",
    )
    with pytest.raises(ValueError, match="a model of svm-l, which only the command line applies"):
        load_model(tmp_path / "run" / "model.safetensors")


def test_bad_model_files_are_refused(tmp_path, classifier):
    (tmp_path / "no.safetensors").write_bytes(b"not a model")
    with pytest.raises(ValueError, match="no.safetensors"):
        load_model(tmp_path / "no.safetensors")
    with pytest.raises((OSError, ValueError), match="gone.safetensors"):
        load_model(tmp_path / "gone.safetensors")
    with pytest.raises(OSError, match="nowhere"):
        save_model(classifier, tmp_path / "nowhere" / "model.safetensors")
    with pytest.raises(ValueError, match="expected a KernelTDDLClassifier or SparseRepresentationClassifier, got dict"):
        save_model({}, tmp_path / "x")


def test_the_map_is_what_predict_says_of_the_windows(scene, classifier):
    """Codes of neighbours start from one another in a map: scores agree to the tolerance of the coder."""
    cube = scene[0][60:80, 100:130]
    everywhere, _, where = windows(cube, np.ones(cube.shape[:2]), size=9)
    scores = predict_map(classifier, cube, "scores")[tuple(where.T)]
    np.testing.assert_allclose(scores, classifier.decision_function(everywhere), atol=2e-3)
    np.testing.assert_array_equal(predict_map(classifier, cube) > 0, np.isfinite(cube).all(axis=2))
    novelty = predict_map(classifier, cube, "novelty")[tuple(where.T)]
    assert novelty.min() >= 0 and novelty.max() <= 1


@pytest.mark.parametrize(
    "chunks", [(40, 300, 12), (7, 50, 5), (150, 128, 12), ((100, 50), (290, 10), 12), (150, 300, 1)]
)
def test_chunks_do_not_change_the_map(scene, classifier, chunks):
    dask_array = pytest.importorskip("dask.array", reason="dask is not installed")
    lazy = predict_map(classifier, dask_array.from_array(scene[0], chunks=chunks))
    assert isinstance(lazy, dask_array.Array) and lazy.shape == scene[0].shape[:2]
    np.testing.assert_array_equal(lazy.compute(scheduler="synchronous"), predict_map(classifier, scene[0]))


def test_chunked_scores_and_coordinates(scene, classifier):
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    pytest.importorskip("dask", reason="dask is not installed")
    cube = np.moveaxis(scene[0][:60, :200], 2, 0)
    coords = {
        "y": np.linspace(50, 49, 60),
        "x": np.linspace(7, 9, 200),
        "spatial_ref": 0,
        "quality": ("band", np.arange(12)),
    }
    array = xarray.DataArray(cube, dims=("band", "y", "x"), coords=coords)
    whole = predict_map(classifier, array)
    assert set(whole.coords) == {"y", "x", "spatial_ref"} and whole.dims == ("y", "x") and whole.dtype == np.uint8
    assert whole.attrs == {"class_names": ["1", "2", "3", "4"], "class_numbers": [1, 2, 3, 4]}
    np.testing.assert_array_equal(whole, predict_map(classifier, scene[0][:60, :200]))
    for layer in ("scores", "novelty"):
        lazy = predict_map(classifier, array.chunk({"y": 25, "x": 130}), layer)
        assert lazy.chunks is not None
        xarray.testing.assert_identical(lazy.compute(scheduler="synchronous"), predict_map(classifier, array, layer))


def test_scenes_that_do_not_fit_are_refused(scene, classifier, command, tmp_path):
    with pytest.raises(ValueError, match="the scene has 5 bands, the model was trained on 12"):
        predict_map(classifier, scene[0][:, :, :5])
    with pytest.raises(ValueError, match="layer is 'classes', expected one of class, confidence, novelty, scores"):
        predict_map(classifier, scene[0], "classes")
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    command(
        "synth",
        "-o",
        tmp_path / "scene.img",
        "--labels",
        tmp_path / "labels.tif",
        "--rows",
        60,
        "--cols",
        60,
        "--bands",
        12,
        "--classes",
        2,
    )
    command(
        "train",
        tmp_path / "scene.img",
        "--labels",
        tmp_path / "labels.tif",
        "--kernel",
        "gaussian(sigma=0.1)",
        "--epochs",
        1,
        "-o",
        tmp_path / "run",
    )
    other = xarray.DataArray(scene[0], dims=("y", "x", "band"), coords={"wavelength": ("band", np.linspace(5, 9, 12))})
    with pytest.raises(ValueError, match="the scene: band 1 is at 5.0000 um, the model's at"):
        predict_map(load_model(tmp_path / "run" / "model.safetensors"), other)


LARGE = """
    import resource, sys, dask, dask.array, numpy as np, xarray, zarr
    import hyperatom
    folder = sys.argv[1]
    classifier = hyperatom.load_model(f"{folder}/model.safetensors")
    dask.config.set(scheduler="synchronous")
    tile = hyperatom.synth(64, 512, bands=200, classes=3, random_state=0)[0]
    scene = zarr.create_array(f"{folder}/scene.zarr", shape=(1024, 512, 200), chunks=(64, 512, 200), dtype="float32", compressors=None)
    for row in range(0, 1024, 64):
        scene[row : row + 64] = tile
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    lazy = dask.array.from_zarr(f"{folder}/scene.zarr")
    cube = xarray.DataArray(lazy, dims=("y", "x", "band"), coords={"y": np.arange(1024.0), "x": np.arange(512.0)})
    mapped = hyperatom.predict_map(classifier, cube)
    mapped.to_dataset(name="map").to_zarr(f"{folder}/map.zarr")
    mapped.rio.write_crs(32633).rio.to_raster(f"{folder}/map.tif", windowed=True)
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def test_scenes_larger_than_memory(tmp_path):
    """419 MB from Zarr to Zarr and GeoTIFF: memory grows by a fraction of that."""
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    rioxarray = pytest.importorskip("rioxarray", reason="rioxarray is not installed")
    pytest.importorskip("zarr", reason="zarr is not installed")
    cube, labels = hyperatom.synth(64, 512, bands=200, classes=3, random_state=0)
    X, y, _ = windows(cube, hyperatom.split(labels, per_class=5, random_state=0)[0], size=1)
    classifier = KernelTDDLClassifier(kernel="linear", atoms_per_class=2, lambda1=0.2, epochs=2, random_state=0).fit(
        X[:, 0], y
    )
    save_model(classifier, tmp_path / "model.safetensors")
    script = "import rioxarray\n" + textwrap.dedent(LARGE)
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 200, f"{done.stdout} MB"
    expected = predict_map(classifier, np.tile(cube, (2, 1, 1)))  # S = 1: rows by themselves
    with xarray.open_zarr(tmp_path / "map.zarr") as found:
        np.testing.assert_array_equal(found["map"][-128:], expected)
        np.testing.assert_array_equal(found["y"], np.arange(1024.0))
    with rioxarray.open_rasterio(tmp_path / "map.tif") as found:
        np.testing.assert_array_equal(found[0, -128:], expected)
        assert found.rio.crs.to_epsg() == 32633
