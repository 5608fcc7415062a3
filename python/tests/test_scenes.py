"""Windows, splits, folds and files, beside NumPy and the command line."""

import gzip
import json

import numpy as np
import pytest

import hyperatom
from hyperatom import BlockKFold, read_labels, read_scene, split, synth, windows
from test_maps import own_scene


def test_windows_are_the_closest_pixels():
    rng = np.random.default_rng(0)
    cube = rng.random((9, 10, 4)).astype(np.float32)
    labels = np.zeros((9, 10), int)
    labels[4, 5], labels[2, 3] = 2, 7
    X, y, where = windows(cube, labels, size=9)
    np.testing.assert_array_equal(where, [[2, 3], [4, 5]])
    np.testing.assert_array_equal(y, [7, 2])
    for window, (row, col) in zip(X, where):
        np.testing.assert_array_equal(window[0], cube[row, col])
        around = cube[row - 1 : row + 2, col - 1 : col + 2].reshape(9, 4)
        assert {tuple(pixel) for pixel in window} == {tuple(pixel) for pixel in around}


def test_windows_leave_out_what_cannot_be_used():
    cube = np.ones((5, 5, 3), np.float32) * np.arange(1, 26).reshape(5, 5, 1)
    cube[1, 1, 2], cube[3, 3] = np.nan, 0
    X, y, where = windows(cube, np.ones((5, 5)), size=9)
    assert len(X) == len(y) == 23 and not {(1, 1), (3, 3)} & {tuple(place) for place in where}
    assert np.isfinite(X).all() and (X != 0).all()


def test_windows_of_a_dataarray_with_bands_first():
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    cube, labels = synth(30, 30, bands=6, classes=2, random_state=0)
    X, _, _ = windows(cube, labels, 4)
    for name in ("band", "wavelength"):
        array = xarray.DataArray(np.moveaxis(cube, 2, 0), dims=(name, "y", "x"))
        np.testing.assert_array_equal(windows(array, xarray.DataArray(labels), 4)[0], X)


@pytest.mark.parametrize(
    "cube, labels, message",
    [
        (np.ones((4, 5)), np.ones((4, 5)), "the scene has 2 dimensions, expected 3"),
        (np.ones((4, 5, 2)), np.ones((5, 4)), r"the labels have \(5, 4\) rows and columns, the scene \(4, 5\)"),
        (np.ones((4, 5, 2)), np.full((4, 5), 0.5), "not all whole"),
        (np.ones((4, 5, 2)), np.full((4, 5), -1), "the labels are -1 to -1, expected 0"),
        (np.ones((4, 5, 2)), np.ones(20), "the labels have 1 dimensions, expected 2"),
    ],
)
def test_bad_scenes_are_refused(cube, labels, message):
    with pytest.raises(ValueError, match=message):
        windows(cube, labels, 1)


def test_sizes_that_are_not_whole_are_refused():
    cube, labels = synth(30, 30, bands=6, classes=2, random_state=0)
    with pytest.raises(ValueError, match="size is 9.5, expected a whole number"):
        windows(cube, labels, 9.5)
    with pytest.raises(ValueError, match="per_class is '3', expected a whole number"):
        split(labels, per_class="3")
    with pytest.raises(ValueError, match="rows is 30.0, expected a whole number"):
        synth(30.0)


def test_split_keeps_classes_apart():
    labels = synth(60, 60, bands=4, classes=3, random_state=0)[1]
    train, test = split(labels, per_class=7, random_state=1)
    assert [(train == c).sum() for c in (1, 2, 3)] == [7, 7, 7]
    assert not (train * test).any()
    np.testing.assert_array_equal(train + test, labels)
    np.testing.assert_array_equal(split(labels, per_class=7, random_state=1)[0], train)
    with pytest.raises(ValueError, match="train|fraction|per.class"):
        split(labels)


def test_split_is_that_of_the_command_line(command, tmp_path):
    labels = synth(60, 60, bands=4, classes=3, random_state=0)[1]
    np.save(tmp_path / "labels.npy", labels)
    for name, flags, settings in (
        ("a", ["--fraction", 0.2], {"fraction": 0.2}),
        ("b", ["--train", 50, "--blocks", 10, "--buffer", 2], {"train": 50, "blocks": 10, "buffer": 2}),
    ):
        command("split", tmp_path / "labels.npy", *flags, "--seed", 5, "-o", tmp_path / f"{name}.json")
        theirs = json.loads((tmp_path / f"{name}.json").read_text())
        for side, ours in zip(("train", "test"), split(labels, **settings, random_state=5)):
            np.testing.assert_array_equal(np.flatnonzero(ours), theirs[side])


def test_block_folds_hold_out_whole_blocks():
    where = np.argwhere(np.ones((40, 60)))
    y = (where.sum(axis=1) % 2).astype(int)
    held = np.zeros(len(where), int)
    for train, test in BlockKFold(4, block=10, buffer=3).split(where, y, where):
        held[test] += 1
        blocks = {tuple(place) for place in where[test] // 10}
        assert len(test) == 100 * len(blocks)
        distance = np.abs(where[train][:, np.newaxis] - where[test][np.newaxis]).max(axis=2)
        assert distance.min() == 4
    np.testing.assert_array_equal(held, 1)


def test_block_folds_say_what_they_need():
    where = np.argwhere(np.ones((8, 8)))
    y = np.tile([0, 1], 32)
    with pytest.raises(ValueError, match="row and column of every sample"):
        next(BlockKFold(2).split(where, y))
    with pytest.raises(ValueError, match="y has 3 entries, groups 64"):
        next(BlockKFold(2).split(where, y[:3], where))
    with pytest.raises(ValueError, match="can hold out 4 folds only: there are too few blocks of 4 pixels"):
        next(BlockKFold(5, block=4).split(where, y, where))
    assert repr(BlockKFold(3, buffer=1)) == "BlockKFold(block=16, buffer=1, n_splits=3, random_state=0)"


def test_synth_is_that_of_the_command_line(command, tmp_path):
    rasterio = pytest.importorskip("rasterio", reason="rasterio is not installed")
    command(
        "synth",
        "-o",
        tmp_path / "scene.img",
        "--labels",
        tmp_path / "labels.tif",
        "--rows",
        50,
        "--cols",
        40,
        "--bands",
        9,
        "--classes",
        3,
        "--seed",
        4,
    )
    cube, labels = synth(50, 40, bands=9, classes=3, random_state=4)
    scene = read_scene(tmp_path / "scene.img")
    np.testing.assert_array_equal(scene, cube)
    np.testing.assert_array_equal(read_labels(tmp_path / "labels.tif", scene), labels)
    told = json.loads(command("info", tmp_path / "scene.img", "--json"))
    assert scene.sizes["band"] == told["bands"] == 9
    with rasterio.open(tmp_path / "scene.img") as source:
        np.testing.assert_allclose(
            scene.wavelength, np.fromstring(source.tags(ns="ENVI")["wavelength"].strip("{}"), sep=",")
        )


def test_scenes_lose_bad_bands_and_gains(tmp_path, command):
    """By the command line: its map of the file is that of the array read here."""
    pytest.importorskip("rioxarray", reason="rioxarray is not installed")
    path, stored = own_scene(tmp_path)
    scene = read_scene(path)
    assert scene.dims == ("y", "x", "band") and scene.dtype == np.float32
    np.testing.assert_allclose(scene.wavelength, [0.4, 0.6, 0.7])
    assert scene.rio.crs.to_epsg() == 32633
    expected = np.where(stored == -9, np.nan, stored * np.float32(0.5) + np.float32(1))
    expected[(stored == 0).all(axis=2)] = np.nan
    np.testing.assert_array_equal(scene, expected[:, :, [0, 2, 3]])
    lazy = read_scene(path, chunks={"y": 7})
    assert lazy.chunks is not None
    np.testing.assert_array_equal(lazy, scene)


@pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")
def test_nothing_is_written_beside_a_compressed_scene(tmp_path):
    rasterio = pytest.importorskip("rasterio", reason="rasterio is not installed")
    cube = np.random.default_rng(0).random((30, 20, 40), np.float32)
    with rasterio.open(tmp_path / "a.img", "w", driver="ENVI", height=30, width=20, count=40, dtype="float32") as out:
        out.write(np.moveaxis(cube, 2, 0))
    payload, header = tmp_path / "a.img", tmp_path / "a.hdr"
    payload.write_bytes(gzip.compress(payload.read_bytes()))
    header.write_text(header.read_text() + "file compression = 1\n")
    before = set(tmp_path.iterdir())
    np.testing.assert_array_equal(read_scene(payload), cube)
    assert set(tmp_path.iterdir()) == before


def test_labels_from_polygons_are_those_of_the_command_line(tmp_path, command):
    geopandas = pytest.importorskip("geopandas", reason="geopandas is not installed")
    from shapely.geometry import Polygon

    path, _ = own_scene(tmp_path)
    scene = read_scene(path)
    x, y = scene.x.values, scene.y.values
    x, y = x + 1.3, y + 2.1  # no corner on the centre of a pixel
    shapes = [
        Polygon([(x[2], y[2]), (x[9], y[3]), (x[5], y[11])]),
        Polygon([(x[12], y[4]), (x[18], y[4]), (x[15], y[18])]),
    ]
    frame = geopandas.GeoDataFrame({"crop": ["wheat", "barley"], "geometry": shapes}, crs=scene.rio.crs)
    frame.to_crs(4326).to_file(tmp_path / "fields.gpkg")
    labels = read_labels(tmp_path / "fields.gpkg", scene, class_field="crop")
    assert labels.attrs["class_names"] == ["barley", "wheat"]
    assert {1, 2} <= set(labels.values.ravel())
    command(
        "split",
        tmp_path / "fields.gpkg",
        "--scene",
        path,
        "--class-field",
        "crop",
        "--fraction",
        0.5,
        "-o",
        tmp_path / "split.json",
    )
    theirs = json.loads((tmp_path / "split.json").read_text())
    np.testing.assert_array_equal(np.flatnonzero(labels), sorted(theirs["train"] + theirs["test"]))
    with pytest.raises(ValueError, match="has no field 'corp'; its fields: crop"):
        read_labels(tmp_path / "fields.gpkg", scene, class_field="corp")


def test_files_that_do_not_fit_are_refused(tmp_path):
    pytest.importorskip("xarray", reason="xarray is not installed")
    with pytest.raises(FileNotFoundError, match="gone.npy: there is no such file"):
        read_scene(tmp_path / "gone.npy")
    np.save(tmp_path / "flat.npy", np.ones((3, 4)))
    with pytest.raises(ValueError, match="found an array of 2 dimensions, expected 3"):
        read_scene(tmp_path / "flat.npy")
    np.save(tmp_path / "scene.npy", np.ones((5, 4, 2)))
    with pytest.raises(ValueError, match=r"found \(3, 4\) rows and columns, the scene has \(5, 4\)"):
        read_labels(tmp_path / "flat.npy", read_scene(tmp_path / "scene.npy"))


def test_matlab_files(tmp_path):
    pytest.importorskip("xarray", reason="xarray is not installed")
    from scipy.io import savemat

    cube = np.arange(60.0).reshape(4, 5, 3)
    savemat(tmp_path / "scene.mat", {"cube": cube, "gt": np.ones((4, 5))})
    np.testing.assert_array_equal(read_scene(tmp_path / "scene.mat"), cube)
    savemat(tmp_path / "two.mat", {"a": cube, "b": cube})
    np.testing.assert_array_equal(read_scene(tmp_path / "two.mat", variable="b"), cube)
    with pytest.raises(ValueError, match=r"expected one array of 3 dimensions, found a \(4, 5, 3\), b"):
        read_scene(tmp_path / "two.mat")


def test_every_public_name_is_there():
    assert all(hasattr(hyperatom, name) for name in hyperatom.__all__)
