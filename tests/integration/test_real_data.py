"""The command on real scenes, which the project does not ship: skipped where they are absent."""

import gzip
import json
import re
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
from osgeo import gdal, ogr, osr

from conftest import Command

gdal.UseExceptions()
ogr.UseExceptions()

RealData = Callable[[str], Path]

HYMAP = "berlin/HyMap02_Berlin_Urban_Gradient_2009.bsq"
LAND_COVER = "berlin/LandCov_Vec_Berlin_Urban_Gradient_2009.shp"
ENMAP = "berlin/EnMAP_BerlinUrbanGradient.bsq"
QUICK = ("--epochs", 5, "--kernel", "gaussian(sigma=0.05)")


def read(path: Path) -> np.ndarray:
    return gdal.Open(str(path)).ReadAsArray()


def gdalinfo(path: Path) -> dict[str, Any]:
    done = subprocess.run(["gdalinfo", "-json", path], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def crs_of(about: dict[str, Any]) -> osr.SpatialReference:
    return osr.SpatialReference(about["coordinateSystem"]["wkt"])


def contents(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of every file in a folder."""
    return {file.name: (file.stat().st_size, file.stat().st_mtime_ns) for file in folder.iterdir()}


# ---- Indian Pines and Pavia University


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("window, overall, average", [(25, 0.935, 0.96), (49, 0.96, 0.975)])
def test_indian_pines_fixed_split(hyperatom: Command, real_data: RealData, window: int,
                                  overall: float, average: float) -> None:
    result = hyperatom("train", real_data("indian_pines/indian_pines.mat"),
                       "--labels", real_data("indian_pines/fixed_train_695.mat"),
                       "--test-labels", real_data("indian_pines/fixed_test_9671.mat"),
                       "--window", window, "-o", "run", "--json", timeout=1200).json
    assert result["training_pixels"] == 695 and result["test"]["pixels"] == 9671
    assert len(result["classes"]) == 16
    assert result["test"]["overall"] >= overall and result["test"]["average"] >= average


def test_pavia_tells_classes_apart_that_it_could_not_know(hyperatom: Command,
                                                          real_data: RealData) -> None:
    result = hyperatom("train", real_data("pavia_university/pavia_u_crop.mat"),
                       "--labels", real_data("pavia_university/crop_fixed_train_627.mat"),
                       "--test-labels", real_data("pavia_university/crop_fixed_test_2363.mat"),
                       *QUICK, "-o", "run", "--json").json
    test = result["test"]
    assert result["training_pixels"] == 627 and test["pixels"] == 2363
    assert result["classes"] == [f"class {c}" for c in (2, 4, 5, 6, 7, 8, 9)]
    confusion = np.array(test["confusion"])
    known = confusion[[1, 3, 4, 5, 6, 7, 8]].sum()
    assert test["known_classes"]["pixels"] == known == 2277
    assert test["known_classes"]["right"] == test["right"] == np.trace(confusion)
    assert test["known_classes"]["overall"] == pytest.approx(test["right"] / known)


# ---- Berlin


def burnt_pixels(polygons: Path, grid: Path, field: str) -> dict[str, int]:
    """Pixels whose centre lies in the polygons of every class, burnt by GDAL."""
    scene, data = gdal.Open(str(grid)), ogr.Open(str(polygons))
    layer = data.GetLayer()
    counts = {}
    for name in sorted({feature.GetField(field) for feature in layer}):
        target = gdal.GetDriverByName("MEM").Create("", scene.RasterXSize, scene.RasterYSize)
        target.SetGeoTransform(scene.GetGeoTransform())
        target.SetSpatialRef(scene.GetSpatialRef())
        layer.SetAttributeFilter(f"{field} = '{name}'")
        gdal.RasterizeLayer(target, [1], layer, burn_values=[1])
        counts[name] = int(target.ReadAsArray().sum())
        layer.SetAttributeFilter(None)
    return counts


def test_berlin_polygons_are_burnt_as_gdal_does(hyperatom: Command, real_data: RealData) -> None:
    scene, polygons = real_data(HYMAP), real_data(LAND_COVER)
    told = hyperatom("info", scene, "--labels", polygons, "--class-field", "Level_2",
                     "--json").json["labels"]
    assert {each["name"]: each["pixels"] for each in told["classes"]} == \
        burnt_pixels(polygons, scene, "Level_2")
    assert any("partly outside" in note for note in told["notes"])


def test_berlin_map_opens_as_its_scene_lies(hyperatom: Command, real_data: RealData) -> None:
    scene, polygons = real_data(HYMAP), real_data(LAND_COVER)
    labels = ["--class-field", "Level_2"]
    hyperatom("split", polygons, *labels, "--scene", scene, "--per-class", 15, "-o", "split.json")
    result = hyperatom("train", scene, "--labels", polygons, *labels, "--split", "split.json",
                       *QUICK, "-o", "run", "--json").json
    hyperatom("classify", scene, "-m", "run", "-o", "map.tif")
    again = hyperatom("evaluate", "map.tif", "--labels", polygons, *labels, "--split",
                      "split.json", "--json").json
    assert again == result["test"]

    about, source = gdalinfo(hyperatom.folder / "map.tif"), gdalinfo(scene)
    assert about["driverShortName"] == "GTiff" and about["size"] == source["size"] == [67, 100]
    assert about["geoTransform"] == source["geoTransform"]
    assert crs_of(about).IsSame(crs_of(source)) and crs_of(about).GetUTMZone() == 33
    one = about["bands"][0]
    assert one["noDataValue"] == 0
    assert one["categories"] == ["Unclassified", "Grass", "Pavement", "Roof", "Soil", "Tree"]
    colours = ["#%02x%02x%02x" % tuple(entry[:3]) for entry in one["colorTable"]["entries"][1:6]]
    assert len(set(colours)) == 5
    entries = ET.parse(hyperatom.folder / "map.qml").iter("paletteEntry")
    assert [(e.get("value"), e.get("label"), e.get("color")) for e in entries] == \
        list(zip("12345", one["categories"][1:], colours))


# ---- A cube whose payload is compressed


def header_field(header: str, name: str) -> str:
    """`bands` of an ENVI header; lists come without their braces."""
    found = re.search(rf"^{name}\s*=\s*(?:\{{(.*?)\}}|([^\n]*))", header, re.M | re.S)
    assert found, name
    return (found[1] or found[2]).strip()


def read_compressed(path: Path) -> tuple[np.ndarray, str]:
    """The cube, bands x rows x cols, by what its header says, and the header."""
    header = path.with_suffix(".hdr").read_text()
    assert header_field(header, "interleave") == "bsq"
    order = {"0": "<", "1": ">"}[header_field(header, "byte order")]
    kind = {"2": "i2", "4": "f4", "12": "u2"}[header_field(header, "data type")]
    shape = [int(header_field(header, name)) for name in ("bands", "lines", "samples")]
    return np.frombuffer(gzip.decompress(path.read_bytes()), order + kind).reshape(shape), header


def test_compressed_cube_is_read_as_numpy_does(hyperatom: Command, real_data: RealData) -> None:
    path = real_data(ENMAP)
    before = contents(path.parent)
    cube, header = read_compressed(path)
    told = hyperatom("info", path, "--json").json
    bands = np.flatnonzero([float(good) for good in header_field(header, "bbl").split(",")]) \
        if re.search("^bbl", header, re.M) else np.arange(len(cube))
    cube = cube[bands]
    missing = (cube == float(header_field(header, "data ignore value"))).any(axis=0)
    valid = ~missing & (cube != 0).any(axis=0)
    assert (told["bands"], told["rows"], told["cols"]) == cube.shape
    assert told["source_bands"] == bands.tolist()
    assert (told["usable_pixels"], told["unusable_pixels"]) == (valid.sum(), (~valid).sum())
    assert told["lowest"] == cube[:, valid].min() and told["highest"] == cube[:, valid].max()
    wavelengths = np.array([float(x) for x in header_field(header, "wavelength").split(",")])
    assert told["wavelengths_um"] == pytest.approx(wavelengths[bands])
    assert contents(path.parent) == before


def test_compressed_cube_is_classified_as_a_plain_one(hyperatom: Command,
                                                      real_data: RealData) -> None:
    path = real_data(ENMAP)
    before = contents(path.parent)
    cube, header = read_compressed(path)
    plain = hyperatom.folder / "plain.bsq"
    cube.tofile(plain)
    plain.with_suffix(".hdr").write_text(header.replace("file compression = 1",
                                                        "file compression = 0"))
    brightness = cube.astype(float).mean(axis=0)
    classes = np.digitize(brightness, np.quantile(brightness, [1 / 3, 2 / 3])) + 1
    labels = np.zeros(brightness.shape, np.uint8)
    labels[::6, ::6] = classes[::6, ::6]
    np.save(hyperatom.folder / "labels.npy", labels)
    hyperatom("train", plain, "--labels", "labels.npy", *QUICK, "--normalize", "minmax", "-o",
              "run")
    for name, scene in {"compressed": path, "plain": plain}.items():
        hyperatom("classify", scene, "-m", "run", "-o", f"{name}.tif", "--scores",
                  f"{name}-scores.tif")
    for end in (".tif", "-scores.tif"):
        assert read(hyperatom.folder / f"compressed{end}").tobytes() == \
            read(hyperatom.folder / f"plain{end}").tobytes()
    assert set(np.unique(read(hyperatom.folder / "plain.tif"))) == {1, 2, 3}
    assert contents(path.parent) == before
