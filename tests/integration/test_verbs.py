"""Every verb through the binary, judged by NumPy, GDAL and plain Python."""

import csv
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

import jsonschema
import numpy as np
import pytest
from osgeo import gdal, ogr, osr

from conftest import SCHEMAS, Command, Example, has_viewer

gdal.UseExceptions()
ogr.UseExceptions()

VERBS = ("info", "synth", "demo", "split", "train", "tune", "classify", "evaluate", "explain",
         "compare", "report")
QUICK_VERBS = [verb for verb in VERBS if verb != "demo"]
KERNEL = "gaussian(sigma=0.1)"
SIGMA = 0.1
QUICK = ("--epochs", 5, "--kernel", KERNEL, "--normalize", "unit")  # as `example` was trained
LONG = ("--epochs", 300, "--kernel", KERNEL, "--normalize", "unit")
TINY_SCENE = ("--rows", 24, "--cols", 20, "--bands", 6, "--classes", 2, "--field", 8)
RUN_FILES = {"args.json", "confusion.csv", "last.safetensors", "log.txt", "metrics.json",
             "model.safetensors", "per_class.csv", "results.csv", "split.json"}
WITHOUT_TEST = RUN_FILES - {"confusion.csv", "metrics.json", "per_class.csv"}

Validate = Callable[[str, Any], None]


@pytest.fixture(autouse=True)
def viewer_of_report(request: pytest.FixtureRequest, binary: Path) -> None:
    """The verb report does nothing in a build without its viewer (test_report.py)."""
    if "verb" in request.fixturenames and request.getfixturevalue("verb") == "report" and not has_viewer(binary):
        pytest.skip("this hyperatom was built without the viewer of reports")


# ---- Reading and writing files


def read(path: Path) -> np.ndarray:
    """A raster: rows x cols, or bands x rows x cols."""
    return gdal.Open(str(path)).ReadAsArray()


def describe(path: Path) -> dict[str, Any]:
    """What gdalinfo tells, from a file that is opened anew."""
    return gdal.Info(str(path), format="json")


def band(path: Path) -> dict[str, Any]:
    return describe(path)["bands"][0]


def epsg(path: Path) -> str:
    """The number of its CRS."""
    return osr.SpatialReference(describe(path)["coordinateSystem"]["wkt"]).GetAuthorityCode(None)


def write_labels(path: Path, template: Path, ids: np.ndarray,
                 names: list[str] | None = None) -> Path:
    """Another label raster on the grid of `template`, with its names unless told."""
    copy = gdal.GetDriverByName("GTiff").CreateCopy(str(path), gdal.Open(str(template)))
    copy.GetRasterBand(1).WriteArray(ids)
    if names:
        copy.GetRasterBand(1).SetCategoryNames(["Unclassified", *names])
    return path


def write_fields(path: Path, template: Path) -> Path:
    """Four squares of 8 x 8 pixels on the grid of a raster: corn, rye, corn, rye."""
    about = gdal.Open(str(template))
    left, size, _, top, _, step = about.GetGeoTransform()
    data = ogr.GetDriverByName("GPKG").CreateDataSource(str(path))
    layer = data.CreateLayer("fields", about.GetSpatialRef(), ogr.wkbPolygon)
    layer.CreateField(ogr.FieldDefn("crop", ogr.OFTString))
    for i, crop in enumerate(("corn", "rye", "corn", "rye")):
        col, row = 6 + 14 * (i % 2), 6 + 14 * (i // 2)
        corners = [(col, row), (col + 8, row), (col + 8, row + 8), (col, row + 8), (col, row)]
        points = ", ".join(f"{left + c * size} {top + r * step}" for c, r in corners)
        feature = ogr.Feature(layer.GetLayerDefn())
        feature.SetField("crop", crop)
        feature.SetGeometry(ogr.CreateGeometryFromWkt(f"POLYGON (({points}))"))
        layer.CreateFeature(feature)
    return path


def field_squares() -> np.ndarray:
    """What write_fields draws on 40 x 40 pixels: 1 to 4 in the squares, 0 elsewhere."""
    squares = np.zeros((40, 40), int)
    for i in range(4):
        squares[6 + 14 * (i // 2):, 6 + 14 * (i % 2):][:8, :8] = i + 1
    return squares


def write_cube(path: Path, template: Path, cube: np.ndarray) -> Path:
    """An ENVI scene with the header of `template` and other values."""
    shutil.copy(template.with_suffix(".hdr"), path.with_suffix(".hdr"))
    cube.astype("<f4").tofile(path)
    return path


def read_tensors(path: Path) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    """A safetensors file: its texts and its arrays, which must fill it without holes."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    texts = header.pop("__metadata__")
    types = {"F64": "<f8", "I64": "<i8", "U8": "u1"}
    arrays, end = {}, 0
    for name, item in sorted(header.items(), key=lambda entry: entry[1]["data_offsets"]):
        begin, end = (start + offset for offset in item["data_offsets"])
        array = np.frombuffer(data[begin:end], types[item["dtype"]])
        arrays[name] = array.reshape(item["shape"])
    spans = sorted(item["data_offsets"] for item in header.values())
    assert [0, *(last for _, last in spans)] == [*(first for first, _ in spans), spans[-1][1]]
    assert end == len(data)
    return texts, arrays


def same_tensors(a: Path, b: Path) -> None:
    """The same model, whatever command made it."""
    (texts_a, arrays_a), (texts_b, arrays_b) = read_tensors(a), read_tensors(b)
    for key in ("format", "schema", "spec", "classes"):
        assert texts_a[key] == texts_b[key]
    assert arrays_a.keys() == arrays_b.keys()
    for name, array in arrays_a.items():
        assert array.shape == arrays_b[name].shape
        assert array.tobytes() == arrays_b[name].tobytes(), name


def read_csv(path: Path) -> list[list[str]]:
    return list(csv.reader(path.read_text().splitlines()))


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


# ---- What is expected


def usable(scene: Path) -> np.ndarray:
    """Pixels of a scene that has the no-data value -9999."""
    return (read(scene) != -9999).all(axis=0)


def sides(split: Path) -> tuple[np.ndarray, np.ndarray]:
    """Training and test pixels."""
    content = json.loads(split.read_text())
    return np.array(content["train"], int), np.array(content["test"], int)


def class_counts(ids: np.ndarray, classes: int) -> list[int]:
    return np.bincount(ids.ravel(), minlength=classes + 1)[1:].tolist()


def window_of(valid: np.ndarray, row: int, col: int, size: int = 9, reach: int = 2) -> np.ndarray:
    """The closest valid pixels: by rings, then distance, then row, then column."""
    down, right = np.nonzero(valid) - np.array([[row], [col]])
    ring = np.maximum(abs(down), abs(right))
    order = np.lexsort((right, down, down**2 + right**2, ring))
    near = order[ring[order] <= reach]
    chosen = np.resize(near, size) if len(near) < size else near[:size]
    return np.stack([down[chosen] + row, right[chosen] + col], axis=1)


def accuracy_of(found: np.ndarray, truth: np.ndarray, classes: int) -> dict[str, Any]:
    """Overall accuracy and its interval, average accuracy, kappa, confusion; found 0 is wrong."""
    table = np.zeros((classes, classes + 1), int)
    np.add.at(table, (truth - 1, np.where(found == 0, classes, found - 1)), 1)
    n, right, per_class = len(truth), np.trace(table), table.sum(axis=1)
    overall = right / n
    chance = (per_class * table[:, :classes].sum(axis=0)).sum() / n**2
    z = 1.959963984540054
    roots = np.roots([1 + z**2 / n, -2 * overall - z**2 / n, overall**2])
    present = per_class > 0
    return {"pixels": n, "right": right, "overall": overall,
            "overall_interval": sorted(np.clip(roots.real, 0, 1)),
            "average": (np.diag(table)[present] / per_class[present]).mean(),
            "kappa": (overall - chance) / (1 - chance), "confusion": table.tolist()}


def expect_accuracy(result: dict[str, Any], expected: dict[str, Any]) -> None:
    for key in ("pixels", "right", "confusion"):
        if key in result:
            assert result[key] == expected[key], key
    for key in ("overall", "average", "kappa", "overall_interval"):
        assert result[key] == pytest.approx(expected[key], rel=1e-9, abs=1e-9), key


def gaussian(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """k(x, y) for rows of X and rows of Y."""
    return np.exp(-((X[:, None, :] - Y[None, :, :]) ** 2).sum(axis=2) / SIGMA)


# ---- Examples that several tests read


@dataclass(frozen=True)
class Maps:
    """All that classify makes of the example."""

    map: Path
    scores: Path
    confidence: Path
    novelty: Path
    json: dict[str, Any]


@pytest.fixture(scope="session")
def maps(binary: Path, example: Example, tmp_path_factory: pytest.TempPathFactory) -> Maps:
    folder = tmp_path_factory.mktemp("maps")
    return classify(Command(binary, folder), example.scene, example.run)


def classify(run: Command, scene: Path, model: Path, *words: object, name: str = "map") -> Maps:
    folder = run.folder / name
    folder.mkdir()
    paths = {kind: folder / f"{kind}.tif" for kind in ("map", "scores", "confidence", "novelty")}
    result = run("classify", scene, "-m", model, "-o", paths["map"], "--scores", paths["scores"],
                 "--confidence", paths["confidence"], "--novelty", paths["novelty"], "--json",
                 *words)
    return Maps(**paths, json=result.json)


def same_maps(a: Maps, b: Maps) -> None:
    """To the last bit, and the same numbers about them."""
    for kind in ("map", "scores", "confidence", "novelty"):
        assert read(getattr(a, kind)).tobytes() == read(getattr(b, kind)).tobytes(), kind
    for key in ("classified", "not_classified", "unconverged", "active_atoms", "classes"):
        assert a.json[key] == b.json[key], key


@pytest.fixture(scope="session")
def tall(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scene that one megabyte does not hold, with the bands of the example."""
    folder = tmp_path_factory.mktemp("tall")
    Command(binary, folder)("synth", "-o", "scene.img", "--labels", "labels.tif", "--rows", 200,
                            "--cols", 40, "--bands", 20, "--classes", 4, "--field", 10)
    return folder / "scene.img"


def train_words(example: Example, *words: object) -> list[object]:
    return ["train", example.scene, "--labels", example.labels, *words, "-o", "run", "--json"]


def ordinary_words(example: Example, maps: Maps) -> dict[str, list[object]]:
    """A plain command of every quick verb."""
    return {
        "info": ["info", example.scene, "--labels", example.labels],
        "synth": ["synth", "-o", "scene.img", "--labels", "labels.tif", *TINY_SCENE],
        "split": ["split", example.labels, "--fraction", 0.1, "-o", "split.json"],
        "train": ["train", example.scene, "--labels", example.labels, "--split", example.split,
                  *QUICK, "-o", "run"],
        "classify": ["classify", example.scene, "-m", example.run, "-o", "map.tif"],
        "evaluate": ["evaluate", maps.map, "--labels", example.labels, "--split", example.split],
        "explain": ["explain", example.scene, "-m", example.run, "--pixel", "12,20"],
        "tune": ["tune", example.scene, "--labels", example.labels, "--split", example.split,
                 "--method", "svm-k", "-o", "tuned"],
        "compare": ["compare", example.scene, "--labels", example.labels, "--per-class", 10,
                    "--methods", "svm-l,src-l1-l", "-o", "compared"],
        "report": ["report", example.scene, "-m", example.run, "-o", "report.html"],
    }


# ---- What all verbs have in common


@pytest.mark.parametrize("file", sorted(SCHEMAS.glob("*.json")), ids=lambda file: file.name)
def test_schema_is_a_schema_and_refers_to_its_folder_alone(file: Path) -> None:
    text = file.read_text()
    jsonschema.Draft202012Validator.check_schema(json.loads(text))
    for target in re.findall(r'"\$ref": "([^"#]*)', text):
        assert target == "" or (SCHEMAS / target).is_file(), target


@pytest.mark.parametrize("verb", QUICK_VERBS)
def test_json_follows_its_schema(hyperatom: Command, example: Example, maps: Maps,
                                 validate: Validate, verb: str) -> None:
    done = hyperatom(*ordinary_words(example, maps)[verb], "--json", "--quiet")
    validate(verb, done.json)
    assert done.stderr == ""
    with pytest.raises(jsonschema.ValidationError):
        validate(verb, done.json | {"unknown": 1})


@pytest.mark.usefixtures("slow")
def test_demo_leaves_a_map_and_a_picture(hyperatom: Command, validate: Validate) -> None:
    done = hyperatom("demo", "-o", "demo", "--json", "--quiet")
    validate("demo", done.json)
    assert done.stderr == ""
    folder = hyperatom.folder / "demo"
    assert names_in(folder) == {
        "confidence.tif", "labels.qml", "labels.tif", "labels.tif.aux.xml", "map.png", "map.qml",
        "map.tif", "map.tif.aux.xml", "run", "scene.hdr", "scene.img", "split.json"}
    truth, found = read(folder / "labels.tif").ravel(), read(folder / "map.tif").ravel()
    _, test = sides(folder / "split.json")
    assert done.json["train"]["test"]["right"] == (truth[test] == found[test]).sum()
    assert done.json["train"]["test"]["overall"] > 0.9
    picture = read(folder / "map.png")
    assert picture.shape[0] == 3 and len(np.unique(picture)) > 16


@pytest.mark.parametrize("verb", QUICK_VERBS)
def test_text_is_for_people(hyperatom: Command, example: Example, maps: Maps, verb: str) -> None:
    done = hyperatom(*ordinary_words(example, maps)[verb])
    assert done.stdout.endswith("\n") and "{" not in done.stdout
    assert not re.search(r"\bnan\b|\binf\b", done.stdout)


def test_what_goes_on_is_told_on_stderr(hyperatom: Command, example: Example, maps: Maps) -> None:
    done = hyperatom(*ordinary_words(example, maps)["train"], "--json")
    assert "command: hyperatom train" in done.stderr
    assert done.json["run"] == "run"


def options_in(help_text: str) -> set[str]:
    """The flags that a help text declares."""
    flags = re.findall(r"^  (-\S+)", help_text.partition("Options:")[2], re.M)
    return {name.removesuffix("{false}") for flag in flags for name in flag.split(",")}


@pytest.mark.parametrize("verb", VERBS)
def test_help_has_an_example_whose_flags_exist(hyperatom: Command, verb: str) -> None:
    text = hyperatom(verb, "--help").stdout
    example = shlex.split(text.partition("Example:")[2])
    assert example[:2] == ["hyperatom", verb]
    flags = {word for word in example if word.startswith("-")}
    assert flags and flags <= options_in(text)
    assert {"--json", "--quiet", "--seed", "--threads", "--help"} <= options_in(text)


@pytest.mark.parametrize("verb", [verb for verb in QUICK_VERBS if verb != "synth"])
def test_example_of_help_fails_only_for_its_files(hyperatom: Command, verb: str) -> None:
    example = shlex.split(hyperatom(verb, "--help").stdout.partition("Example:")[2])
    files = [word for word in example[2:] if re.search(r"[./]", word)]
    missing = hyperatom(*example[1:], code=3).stderr
    assert any(file in missing for file in files), missing


def test_help_names_every_verb(hyperatom: Command) -> None:
    text = hyperatom("--help").stdout
    assert re.findall(r"^  ([a-z]+)  ", text.partition("Subcommands:")[2], re.M) == list(VERBS)
    assert re.fullmatch(r"hyperatom \d+\.\d+\.\d+\n", hyperatom("--version").stdout)


@pytest.mark.parametrize("words, meant", [
    (["trian"], "train"),
    (["clasify", "scene.img"], "classify"),
    (["explain", "scene.img", "--pixle", "1,2"], "--pixel"),
    (["train", "scene.img", "--class", "crop"], "--class-field"),
    (["train", "scene.img", "--epoch=3"], "--epochs"),
    (["split", "labels.tif", "--perclass", "3"], "--per-class"),
    (["tune", "scene.img", "--fold", "3"], "--folds"),
    (["compare", "scene.img", "--method", "svm-k"], "--methods"),
])
def test_mistyped_words_get_a_suggestion(hyperatom: Command, words: list[str], meant: str) -> None:
    assert hyperatom(*words, code=2).stderr.endswith(f"did you mean {meant}?\n")


@pytest.mark.parametrize("words, named", [
    ([], "verb"),
    (["train"], "scene"),
    (["classify", "SCENE"], "--model"),
    (["classify", "SCENE", "-m", "RUN", "-o", "map.tif", "--threads", "-1"], "--threads"),
    (["classify", "SCENE", "-m", "RUN", "-o", "map.tif", "--of", "JPEG"], "--of"),
    (["classify", "SCENE", "-m", "RUN", "-o", "map.tif", "--shard", "4/3"], "--shard"),
    (["classify", "SCENE", "-m", "RUN", "-o", "map.tif", "--shard", "1/41"], "--shard"),
    (["classify", "SCENE", "-m", "RUN", "-o", "map.tif", "--co", "COMPRES=LZW"], "COMPRES"),
    (["explain", "SCENE", "-m", "RUN", "--pixel", "12"], "--pixel"),
    (["explain", "SCENE", "-m", "RUN", "--pixel", "12,40"], "12,40"),
    (["split", "LABELS", "-o", "s.json"], "--per-class"),
    (["split", "LABELS", "-o", "s.json", "--train", "5", "--fraction", "0.5"], "--fraction"),
    (["split", "LABELS", "-o", "s.json", "--train", "5", "--buffer", "2"], "--buffer"),
    (["train", "SCENE", "--labels", "LABELS", "-o", "run", "--lambda1", "0"], "--lambda1"),
    (["train", "SCENE", "--labels", "LABELS", "-o", "run", "--kernel", "gauss"], "gauss"),
    (["train", "SCENE", "--labels", "LABELS", "-o", "run", "--method", "sdl-l1-k", "--window", "9"],
     "--method"),
    (["train", "SCENE", "--resume", "RUN"], "--resume"),
    (["synth", "-o", "s.img", "--labels", "l.tif", "--rows", "7"], "--rows"),
])
def test_wrong_words_are_refused_by_name(hyperatom: Command, example: Example, words: list[str],
                                         named: str) -> None:
    paths = {"SCENE": example.scene, "RUN": example.run, "LABELS": example.labels}
    done = hyperatom(*(paths.get(word, word) for word in words), code=2)
    assert done.stdout == "" and named in done.stderr
    assert names_in(hyperatom.folder) == set()


@pytest.mark.parametrize("words", [
    ["info", "nowhere.img"],
    ["info", "SCENE", "--labels", "nowhere.tif"],
    ["classify", "SCENE", "-m", "nowhere", "-o", "map.tif"],
    ["classify", "nowhere.img", "-m", "RUN", "-o", "map.tif"],
    ["train", "SCENE", "--labels", "LABELS", "--split", "nowhere.json", "-o", "run"],
    ["train", "--resume", "nowhere"],
    ["tune", "SCENE", "--labels", "nowhere.tif", "-o", "tuned"],
    ["tune", "--resume", "nowhere"],
    ["compare", "SCENE", "--labels", "LABELS", "--split", "nowhere.json", "-o", "compared"],
    ["compare", "--resume", "nowhere"],
])
def test_missing_files_are_named(hyperatom: Command, example: Example, words: list[str]) -> None:
    paths = {"SCENE": example.scene, "RUN": example.run, "LABELS": example.labels}
    assert "nowhere" in hyperatom(*(paths.get(word, word) for word in words), code=3).stderr
    assert names_in(hyperatom.folder) == set()


@pytest.mark.parametrize("words", [["info", "SCENE", "--json"], ["info", "SCENE"], ["--version"]],
                         ids=" ".join)
def test_full_stdout_is_an_error(hyperatom: Command, example: Example, words: list[str]) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        hyperatom(*(example.scene if word == "SCENE" else word for word in words), stdout=full,
                  code=5)


@pytest.mark.parametrize("verb, output", [
    ("synth", "scene.img"), ("split", "split.json"), ("train", "run/args.json"),
    ("classify", "map.tif"), ("tune", "tuned/args.json"), ("compare", "compared/args.json"),
    ("report", "report.html"),
])
def test_existing_outputs_are_refused_without_overwrite(
        hyperatom: Command, example: Example, maps: Maps, verb: str, output: str) -> None:
    words, path = ordinary_words(example, maps)[verb], hyperatom.folder / output
    hyperatom(*words)
    path.write_text("mine")
    assert "--overwrite" in hyperatom(*words, code=5).stderr
    assert path.read_text() == "mine"
    hyperatom(*words, "--overwrite")
    assert path.read_bytes() != b"mine"


@pytest.mark.parametrize("verb", ["synth", "split", "train", "classify", "tune", "compare", "report"])
def test_full_disk_leaves_nothing_and_the_command_can_be_repeated(
        hyperatom: Command, example: Example, maps: Maps, verb: str) -> None:
    """No file may grow: what a full disk does."""
    words = ordinary_words(example, maps)[verb]
    full = 'trap "" XFSZ; ulimit -f 0; exec "$@"'
    done = subprocess.run(["bash", "-c", full, "bash", hyperatom.binary, *map(str, words)],
                          cwd=hyperatom.folder, env=hyperatom.environment, capture_output=True,
                          text=True, timeout=120, check=False)
    assert done.returncode == 5, done.stderr
    assert "can't be written" in done.stderr
    left = [path for path in hyperatom.folder.rglob("*") if path.is_file() and path.stat().st_size]
    assert left == []
    hyperatom(*words, "--overwrite")


# ---- info and synth


def test_synth_is_what_gdal_reads(example: Example) -> None:
    about = describe(example.scene)
    assert about["driverShortName"] == "ENVI" and about["size"] == [40, 40]
    assert about["geoTransform"] == describe(example.labels)["geoTransform"]
    for path in (example.scene, example.labels):
        assert epsg(path) == "32633"
    wavelengths = [float(each["metadata"][""]["wavelength"]) for each in about["bands"]]
    assert wavelengths == pytest.approx(np.linspace(0.4, 2.5, 20))
    assert {each["noDataValue"] for each in about["bands"]} == {-9999}
    cube = read(example.scene)
    missing = (cube == -9999).any(axis=0)
    assert missing.any() and (cube[:, missing] == -9999).all() and np.isfinite(cube).all()
    assert (read(example.labels)[missing] == 0).all()


def test_synth_counts_its_labels(example: Example) -> None:
    about, classes = band(example.labels), example.synth_json["classes"]
    assert about["type"] == "Byte" and about["noDataValue"] == 0
    assert about["categories"] == ["Unclassified", *(each["name"] for each in classes)]
    assert [each["id"] for each in classes] == [1, 2, 3, 4]
    counts = class_counts(read(example.labels), 4)
    assert [each["pixels"] for each in classes] == counts and min(counts) > 0
    assert (example.labels.with_suffix(".qml")).is_file()


def test_synth_depends_on_its_seed_alone(hyperatom: Command) -> None:
    words = ["synth", "-o", "scene.img", "--labels", "labels.tif", *TINY_SCENE]
    for folder, more in {"a": ["--seed", 5], "b": ["--seed", 5, "--threads", 1],
                         "c": ["--seed", 6]}.items():
        (hyperatom.folder / folder).mkdir()
        hyperatom(*words, *more, folder=hyperatom.folder / folder)
    a, b, c = ({file.name: file.read_bytes() for file in (hyperatom.folder / name).iterdir()}
               for name in "abc")
    assert a == b
    assert a["scene.img"] != c["scene.img"] and a["labels.tif"] != c["labels.tif"]


def test_synth_writes_the_same_values_as_geotiff(hyperatom: Command) -> None:
    for name, form in {"scene.img": "ENVI", "scene.tif": "GTiff"}.items():
        hyperatom("synth", "-o", name, "--labels", f"{form}.tif", *TINY_SCENE, "--of", form)
    first, second = hyperatom.folder / "scene.img", hyperatom.folder / "scene.tif"
    assert describe(second)["driverShortName"] == "GTiff"
    assert read(first).tobytes() == read(second).tobytes()
    told = [hyperatom("info", path, "--json").json for path in (first, second)]
    for key in ("wavelengths_um", "no_data", "crs", "transform", "lowest", "highest"):
        assert told[0][key] == told[1][key], key


def test_info_tells_what_numpy_finds(hyperatom: Command, example: Example) -> None:
    told = hyperatom("info", example.scene, "--labels", example.labels, "--json").json
    cube, valid = read(example.scene), usable(example.scene)
    assert (told["rows"], told["cols"], told["bands"]) == (40, 40, 20)
    assert (told["usable_pixels"], told["unusable_pixels"]) == (valid.sum(), (~valid).sum())
    assert told["lowest"] == cube[:, valid].min() and told["highest"] == cube[:, valid].max()
    assert told["wavelengths_um"] == pytest.approx(np.linspace(0.4, 2.5, 20))
    assert told["no_data"] == -9999 and "EPSG:32633" in told["crs"]
    assert told["transform"] == describe(example.scene)["geoTransform"]
    assert told["labels"]["classes"] == example.synth_json["classes"]
    assert told["warnings"] == []


def test_info_warns_of_what_a_later_step_would_trip_over(hyperatom: Command) -> None:
    cube = np.random.default_rng(1).random((6, 5, 4), np.float32) + 0.1
    cube[:, :, 2] = 0.5
    cube[0, 0, 1], cube[3, 2], cube[5, 4, 0] = np.nan, 0, np.inf
    np.save(hyperatom.folder / "cube.npy", cube)
    labels = np.ones((6, 5), np.uint8)
    labels[2, 2] = 3
    np.save(hyperatom.folder / "labels.npy", labels)
    told = hyperatom("info", "cube.npy", "--labels", "labels.npy", "--json").json
    assert told["usable_pixels"] == 27 and told["unusable_pixels"] == 3
    assert told["constant_bands"] == [3]
    assert told["crs"] is None and told["transform"] is None and told["wavelengths_um"] == []
    for words, warning in zip(("the same in all pixels: 3", "no wavelengths", "no CRS",
                               "class 3 (class 3) has only 1 labelled pixel"),
                              told["warnings"], strict=True):
        assert words in warning


# ---- split


@pytest.mark.parametrize("rule", [
    ("--train", 50), ("--fraction", 0.3), ("--per-class", 10), ("--per-class", 100),
])
def test_random_split_divides_every_class(hyperatom: Command, example: Example,
                                          validate: Validate, rule: tuple[str, float]) -> None:
    result = hyperatom("split", example.labels, *rule, "-o", "split.json", "--json").json
    validate("split-file", json.loads((hyperatom.folder / "split.json").read_text()))
    ids = read(example.labels).ravel()
    train, test = sides(hyperatom.folder / "split.json")
    assert sorted([*train, *test]) == np.flatnonzero(ids).tolist()
    all_counts, train_counts = class_counts(ids, 4), class_counts(ids[train], 4)
    assert [each["train"] for each in result["classes"]] == train_counts
    assert [each["test"] for each in result["classes"]] == class_counts(ids[test], 4)
    assert (result["train"], result["test"]) == (len(train), len(test))
    assert all(0 < few < all_ for few, all_ in zip(train_counts, all_counts))
    wanted = {"--train": 50 * np.array(all_counts) / sum(all_counts),
              "--fraction": 0.3 * np.array(all_counts),
              "--per-class": np.minimum(rule[1], np.array(all_counts) - 1)}[rule[0]]
    assert abs(train_counts - wanted).max() <= {"--train": 1, "--fraction": 0.5}.get(rule[0], 0)
    if rule[0] == "--train":
        assert len(train) == 50


def test_split_depends_on_its_seed_alone(hyperatom: Command, example: Example) -> None:
    results = [hyperatom("split", example.labels, "--train", 50, "--seed", seed, "-o", name,
                         "--json").json
               for name, seed in {"a.json": 3, "b.json": 3, "c.json": 4}.items()]
    a, b, c = (result["sha256"] for result in results)
    assert a == b != c
    files = [(hyperatom.folder / f"{name}.json").read_bytes() for name in "abc"]
    assert files[0] == files[1] != files[2]


def test_blocks_and_buffer_keep_the_sides_apart(hyperatom: Command, example: Example) -> None:
    hyperatom("split", example.labels, "--fraction", 0.4, "--blocks", 5, "--buffer", 2, "-o",
              "split.json")
    (train_rows, train_cols), (test_rows, test_cols) = (
        np.divmod(side, 40) for side in sides(hyperatom.folder / "split.json"))
    blocks = set(zip(train_rows // 5, train_cols // 5))
    assert blocks and blocks.isdisjoint(zip(test_rows // 5, test_cols // 5))
    apart = np.maximum(abs(train_rows[:, None] - test_rows), abs(train_cols[:, None] - test_cols))
    assert len(test_rows) and apart.min() > 2


def test_split_of_which_a_pixel_was_changed_is_refused(hyperatom: Command,
                                                       example: Example) -> None:
    content = json.loads(example.split.read_text())
    content["train"].append(content["test"].pop())
    (hyperatom.folder / "split.json").write_text(json.dumps(content))
    done = hyperatom(*train_words(example, "--split", "split.json", *QUICK), code=3)
    assert "split.json" in done.stderr and "sha256" in done.stderr


def test_polygons_are_labels_and_stay_whole(hyperatom: Command, example: Example) -> None:
    fields, squares = write_fields(hyperatom.folder / "fields.gpkg", example.scene), field_squares()
    told = hyperatom("info", example.scene, "--labels", fields, "--class-field", "crop",
                     "--json").json["labels"]["classes"]
    assert [(each["name"], each["pixels"]) for each in told] == [("corn", 128), ("rye", 128)]
    hyperatom("split", fields, "--class-field", "crop", "--scene", example.scene, "--polygons",
              "--fraction", 0.5, "-o", "split.json")
    train, test = (set(squares.flat[side]) for side in sides(hyperatom.folder / "split.json"))
    assert len(train) == len(test) == 2 and train | test == {1, 2, 3, 4}
    result = hyperatom("train", example.scene, "--labels", fields, "--class-field", "crop",
                       "--split", "split.json", *QUICK, "-o", "run", "--json").json
    assert result["classes"] == ["corn", "rye"]
    assert result["training_pixels"] == \
        (np.isin(squares, list(train)) & usable(example.scene)).sum()


# ---- train


def test_run_folder_holds_what_is_documented(hyperatom: Command, example: Example,
                                             validate: Validate) -> None:
    assert names_in(example.run) == RUN_FILES
    metrics = json.loads((example.run / "metrics.json").read_text())
    validate("metrics", metrics)
    assert metrics == example.train_json["test"]
    assert (example.run / "split.json").read_bytes() == example.split.read_bytes()
    result = hyperatom(*train_words(example, *QUICK)).json
    assert names_in(hyperatom.folder / "run") == WITHOUT_TEST
    assert result["test"] is None
    assert result["training_pixels"] == (read(example.labels) > 0).sum()


def test_args_say_what_was_asked_for_and_what_was_chosen(example: Example,
                                                         validate: Validate) -> None:
    args = json.loads((example.run / "args.json").read_text())
    validate("args", args)
    assert args["command"][:2] == ["train", str(example.scene)]
    assert args["inputs"]["scene"] == str(example.scene)
    assert args["inputs"]["split"] == str(example.split)
    assert args["options"]["epochs"] == 5 and args["options"]["kernel"] == KERNEL
    assert args["given"] == ["epochs", "kernel", "normalize"] and "more" not in args
    assert args["chosen"] == example.train_json["chosen"]
    chosen = {each["option"]: each for each in args["chosen"]}
    assert {"ball", "lambda1", "rho"} <= chosen.keys()
    assert chosen.keys().isdisjoint({"epochs", "kernel"})
    for name, each in chosen.items():
        assert float(each["value"]) == args["options"][name]
        assert len(each["reason"].split()) > 3
    assert args["options"]["lambda1"] == pytest.approx(0.04 * np.sqrt(9))


@pytest.mark.usefixtures("slow")
def test_sigma_is_chosen_and_explained(hyperatom: Command, example: Example) -> None:
    result = hyperatom(*train_words(example, "--split", example.split, "--epochs", 5)).json
    chosen = {each["option"]: each for each in result["chosen"]}
    assert chosen["kernel"]["value"] == result["kernel"]
    assert "held-out" in chosen["kernel"]["reason"]
    assert f"sigma {result['kernel'][len('gaussian(sigma='):-1]} " in chosen["kernel"]["reason"]


def test_model_is_a_safetensors_file(example: Example) -> None:
    texts, arrays = read_tensors(example.run / "model.safetensors")
    assert texts["format"] == "hyperatom"
    spec = json.loads(texts["spec"])
    assert (spec["window"], spec["kernel"], spec["method"]) == (9, KERNEL, "sdl-l12-k")
    assert json.loads(texts["classes"]) == example.train_json["classes"]
    provenance = json.loads(texts["provenance"])
    assert provenance["split_sha256"] == example.split_json["sha256"]
    assert provenance["command"].startswith("hyperatom train ")
    assert arrays["dictionary"].shape == (20, 20)  # 5 atoms of each of 4 classes, 20 bands
    assert np.linalg.norm(arrays["dictionary"], axis=1).max() <= 1 + 1e-9
    assert arrays["weights"].shape == (20, 4) and arrays["bias"].shape == (4,)
    assert arrays["class.id"].tolist() == [1, 2, 3, 4]
    assert arrays["atom.class"].tolist() == sorted([0, 1, 2, 3] * 5)
    assert arrays["wavelength_um"] == pytest.approx(np.linspace(0.4, 2.5, 20))
    colours = band(example.labels)["colorTable"]["entries"][1:5]
    assert arrays["class.rgb"].tolist() == [colour[:3] for colour in colours]


def test_tables_of_a_run_agree_with_its_metrics(example: Example) -> None:
    metrics = example.train_json["test"]
    names = [each["name"] for each in metrics["classes"]]
    header, *rows = read_csv(example.run / "confusion.csv")
    assert header[1:] == [*names, "not classified"]
    assert [row[0] for row in rows] == names
    assert [[int(cell) for cell in row[1:]] for row in rows] == metrics["confusion"]
    header, *rows = read_csv(example.run / "per_class.csv")
    for row, expected in zip(rows, metrics["classes"], strict=True):
        found = dict(zip(header, row, strict=True))
        assert found.pop("name") == expected["name"]
        for key, text in found.items():
            assert float(text) == expected[key]


def test_results_have_a_line_for_every_epoch(example: Example) -> None:
    header, *lines = read_csv(example.run / "results.csv")
    rows = [dict(zip(header, line, strict=True)) for line in lines]
    assert [int(row["epoch"]) for row in rows] == [1, 2, 3, 4, 5]
    assert float(rows[-1]["loss"]) < float(rows[0]["loss"])
    for row in rows:
        assert 0 <= float(row["accuracy"]) <= 1 and 0 < float(row["active_atoms"]) <= 20
        assert 0 <= float(row["worst_gap"]) <= 1e-8 and row["unconverged"] == "0"


def test_two_label_maps_are_a_split(hyperatom: Command, example: Example) -> None:
    ids = read(example.labels)
    for name, pixels in zip(("train", "test"), sides(example.split)):
        side = np.zeros_like(ids)
        side.flat[pixels] = ids.flat[pixels]
        write_labels(hyperatom.folder / f"{name}.tif", example.labels, side)
    result = hyperatom("train", example.scene, "--labels", "train.tif", "--test-labels", "test.tif",
                       *QUICK, "-o", "run", "--json").json
    same_tensors(hyperatom.folder / "run/model.safetensors", example.run / "model.safetensors")
    expected = example.train_json["test"]
    assert result["test"]["split"].pop("rule") != expected["split"]["rule"]
    assert result["test"] | {"split": None} == expected | {"split": None}
    assert result["test"]["split"].items() <= expected["split"].items()


def test_classes_without_training_pixels_are_told_apart(hyperatom: Command, example: Example,
                                                        validate: Validate) -> None:
    ids = read(example.labels)
    train, test = sides(example.split)
    side = np.zeros_like(ids)
    side.flat[train] = ids.flat[train] % 4  # without class 4
    write_labels(hyperatom.folder / "train.tif", example.labels, side)
    side = np.zeros_like(ids)
    side.flat[test] = ids.flat[test]
    write_labels(hyperatom.folder / "test.tif", example.labels, side)
    result = hyperatom("train", example.scene, "--labels", "train.tif", "--test-labels", "test.tif",
                       *QUICK, "-o", "run", "--json").json
    validate("train", result)
    hyperatom("classify", example.scene, "-m", "run", "-o", "map.tif")
    found, truth = read(hyperatom.folder / "map.tif").ravel()[test], ids.ravel()[test]
    expect_accuracy(result["test"], accuracy_of(found, truth, 4))
    known = truth != 4
    expect_accuracy(result["test"]["known_classes"], accuracy_of(found[known], truth[known], 4))
    again = hyperatom("evaluate", "map.tif", "--labels", "test.tif", "--split", "run/split.json",
                      "--json").json
    assert again == result["test"]


@pytest.mark.parametrize("words", [["--threads", 1], ["--threads", 5]], ids=str)
def test_training_does_not_depend_on_threads(hyperatom: Command, example: Example,
                                             words: list[object]) -> None:
    result = hyperatom(*train_words(example, "--split", example.split, *QUICK, *words)).json
    same_tensors(hyperatom.folder / "run/model.safetensors", example.run / "model.safetensors")
    assert result["test"] == example.train_json["test"]


def test_seed_decides_what_is_random(hyperatom: Command, example: Example) -> None:
    hyperatom(*train_words(example, "--split", example.split, *QUICK, "--seed", 7))
    _, other = read_tensors(hyperatom.folder / "run/model.safetensors")
    _, first = read_tensors(example.run / "model.safetensors")
    assert other["dictionary"].tobytes() != first["dictionary"].tobytes()


@pytest.mark.parametrize("method, window, kernel", [
    ("sdl-l1-l", 1, "linear"), ("sdl-l1-k", 1, KERNEL), ("sdl-l12-l", 9, "linear"),
])
def test_methods_of_the_paper(hyperatom: Command, example: Example, method: str, window: int,
                              kernel: str) -> None:
    words = ["--kernel", KERNEL] if method.endswith("k") else []
    result = hyperatom(*train_words(example, "--split", example.split, "--method", method,
                                    "--epochs", 3, *words)).json
    assert (result["method"], result["window"], result["kernel"]) == (method, window, kernel)
    assert result["test"]["overall"] > 0.5


def test_labels_of_one_class_or_another_size_are_refused(hyperatom: Command,
                                                         example: Example) -> None:
    np.save(hyperatom.folder / "one.npy", np.full((40, 40), 2, np.uint8))
    np.save(hyperatom.folder / "small.npy", np.ones((40, 39), np.uint8))
    words = ["train", example.scene, *QUICK, "-o", "run", "--labels"]
    assert "class 2" in hyperatom(*words, "one.npy", code=3).stderr
    message = hyperatom(*words, "small.npy", code=3).stderr
    assert re.search(r"40 ?x ?39", message) and re.search(r"40 ?x ?40", message)
    assert not (hyperatom.folder / "run").exists()


def test_folder_that_holds_no_run_is_never_replaced(hyperatom: Command, example: Example) -> None:
    (hyperatom.folder / "run").mkdir()
    (hyperatom.folder / "run/diary.txt").write_text("mine")
    hyperatom(*train_words(example, *QUICK), "--overwrite", code=5)
    assert names_in(hyperatom.folder / "run") == {"diary.txt"}


# ---- classify


def test_map_has_the_place_names_and_colours_of_its_scene(example: Example, maps: Maps) -> None:
    about, labels = describe(maps.map), describe(example.labels)
    assert about["driverShortName"] == "GTiff" and about["size"] == [40, 40]
    assert about["geoTransform"] == describe(example.scene)["geoTransform"]
    assert epsg(maps.map) == "32633"
    one, other = about["bands"][0], labels["bands"][0]
    assert one["type"] == "Byte" and one["noDataValue"] == 0
    assert one["categories"] == other["categories"]
    assert one["colorTable"]["entries"][:5] == other["colorTable"]["entries"][:5]
    assert about["metadata"][""]["HYPERATOM_WINDOW"] == "9"


def test_map_has_a_style_for_qgis(maps: Maps) -> None:
    about = band(maps.map)
    entries = ET.parse(maps.map.with_suffix(".qml")).iter("paletteEntry")
    expected = [(str(i), about["categories"][i], "#%02x%02x%02x" % tuple(colour[:3]))
                for i, colour in enumerate(about["colorTable"]["entries"][:5]) if i > 0]
    assert [(e.get("value"), e.get("label"), e.get("color")) for e in entries] == expected


def test_map_counts_its_pixels(example: Example, maps: Maps) -> None:
    found = read(maps.map)
    assert ((found > 0) == usable(example.scene)).all()
    assert [each["pixels"] for each in maps.json["classes"]] == class_counts(found, 4)
    assert maps.json["classified"] == (found > 0).sum()
    assert maps.json["not_classified"] == (found == 0).sum()
    assert maps.json["unconverged"] == 0


def test_scores_decide_the_map(example: Example, maps: Maps) -> None:
    found, scores = read(maps.map), read(maps.scores)
    confidence, novelty = read(maps.confidence), read(maps.novelty)
    valid = usable(example.scene)
    assert (scores.argmax(axis=0) + 1)[valid].tolist() == found[valid].tolist()
    for values in (scores, confidence, novelty):
        assert np.isnan(values[..., ~valid]).all() and np.isfinite(values[..., valid]).all()
    second, first = np.sort(scores[:, valid], axis=0)[-2:]
    assert confidence[valid] == pytest.approx(np.minimum(1, first - second), abs=1e-6)
    for values in (confidence[valid], novelty[valid]):
        assert 0 <= values.min() and values.max() <= 1
    assert [each["description"] for each in describe(maps.scores)["bands"]] == \
        example.train_json["classes"]
    assert {each["noDataValue"] for each in describe(maps.scores)["bands"]} == {"NaN"}


@pytest.mark.parametrize("form, name", [("ENVI", "map.img"), ("COG", "map.tif")])
def test_other_formats_hold_the_same_map(hyperatom: Command, example: Example, maps: Maps,
                                         form: str, name: str) -> None:
    hyperatom("classify", example.scene, "-m", example.run, "-o", name, "--of", form)
    path = hyperatom.folder / name
    about, expected = describe(path), band(maps.map)
    assert (read(path) == read(maps.map)).all()
    if form == "COG":
        assert about["metadata"]["IMAGE_STRUCTURE"]["LAYOUT"] == "COG"
    else:
        assert about["driverShortName"] == "ENVI"
        assert "file type = ENVI Classification" in path.with_suffix(".hdr").read_text()
    assert about["geoTransform"] == describe(maps.map)["geoTransform"]
    assert about["bands"][0]["categories"] == expected["categories"]
    assert about["bands"][0]["colorTable"]["entries"][1:5] == \
        expected["colorTable"]["entries"][1:5]
    assert path.with_suffix(".qml").read_bytes() == maps.map.with_suffix(".qml").read_bytes()
    result = hyperatom("evaluate", name, "--labels", example.labels, "--split", example.split,
                       "--json").json
    assert result == example.train_json["test"]


def test_creation_options_are_gdals(hyperatom: Command, example: Example, maps: Maps) -> None:
    hyperatom("classify", example.scene, "-m", example.run, "-o", "map.tif", "--co",
              "COMPRESS=LZW", "--co", "TILED=NO")
    about = describe(hyperatom.folder / "map.tif")
    assert about["metadata"]["IMAGE_STRUCTURE"]["COMPRESSION"] == "LZW"
    assert about["bands"][0]["block"][0] == 40
    assert (read(hyperatom.folder / "map.tif") == read(maps.map)).all()


def test_model_file_is_as_good_as_its_folder(hyperatom: Command, example: Example,
                                             maps: Maps) -> None:
    same_maps(classify(hyperatom, example.scene, example.run / "model.safetensors"), maps)


def test_shards_are_parts_of_the_map(hyperatom: Command, example: Example, maps: Maps) -> None:
    shards = [classify(hyperatom, example.scene, example.run, "--shard", f"{i}/3", name=f"part{i}")
              for i in (1, 2, 3)]
    for kind in ("map", "scores", "confidence", "novelty"):
        parts = [read(getattr(shard, kind)) for shard in shards]
        whole = np.ascontiguousarray(np.concatenate(parts, axis=-2))
        assert whole.tobytes() == read(getattr(maps, kind)).tobytes(), kind
    place, first = describe(maps.map)["geoTransform"], 0
    for shard in shards:
        assert shard.json["first_row"] == first
        assert describe(shard.map)["geoTransform"] == \
            [*place[:3], place[3] + first * place[5], *place[4:]]
        first += shard.json["rows"]
    assert first == 40


def test_map_does_not_depend_on_memory_or_threads(hyperatom: Command, example: Example,
                                                  tall: Path) -> None:
    whole = classify(hyperatom, tall, example.run, name="whole")
    for i, words in enumerate([("--ram", 1), ("--threads", 1), ("--threads", 2, "--ram", 1),
                               ("--threads", 5)]):
        same_maps(classify(hyperatom, tall, example.run, *words, name=str(i)), whole)


def test_masked_pixels_are_not_classified_and_change_nothing(hyperatom: Command,
                                                             example: Example) -> None:
    mask = np.ones((40, 40), np.uint8)
    mask[10:14, 5:30], mask[30, 30] = 0, 0
    np.save(hyperatom.folder / "mask.npy", mask)
    first = classify(hyperatom, example.scene, example.run, "--mask", "mask.npy", name="first")
    assert ((read(first.map) > 0) == (usable(example.scene) & (mask > 0))).all()
    cube = read(example.scene)
    cube[:, mask == 0] = 1e30
    poisoned = write_cube(hyperatom.folder / "poisoned.img", example.scene, cube)
    same_maps(classify(hyperatom, poisoned, example.run, "--mask", "mask.npy", name="second"),
              first)


def test_class_numbers_with_gaps_are_kept(hyperatom: Command, example: Example) -> None:
    ids = read(example.labels) % 4
    lookup = np.array([0, 2, 5, 7], np.uint8)
    for name, values in {"plain": ids, "gaps": lookup[ids]}.items():
        np.save(hyperatom.folder / f"{name}.npy", values)
        hyperatom("train", example.scene, "--labels", f"{name}.npy", *QUICK, "-o", name)
        hyperatom("classify", example.scene, "-m", name, "-o", f"{name}.tif")
    found = read(hyperatom.folder / "gaps.tif")
    assert set(np.unique(found)) == {0, 2, 5, 7}
    assert (found == lookup[read(hyperatom.folder / "plain.tif")]).all()
    about = band(hyperatom.folder / "gaps.tif")
    assert about["categories"] == ["Unclassified", "", "class 2", "", "", "class 5", "", "class 7"]
    entries = list(ET.parse(hyperatom.folder / "gaps.qml").iter("paletteEntry"))
    assert [entry.get("value") for entry in entries] == ["2", "5", "7"]
    result = hyperatom("evaluate", "gaps.tif", "--labels", "gaps.npy", "--json").json
    expect_accuracy(result, accuracy_of(found[ids > 0], lookup[ids[ids > 0]], 7))


def test_scene_with_other_bands_is_refused(hyperatom: Command, example: Example) -> None:
    hyperatom("synth", "-o", "scene.img", "--labels", "labels.tif", *TINY_SCENE)
    message = hyperatom("classify", "scene.img", "-m", example.run, "-o", "map.tif", code=3).stderr
    assert "6 bands" in message and "20" in message
    assert not (hyperatom.folder / "map.tif").exists()


# ---- evaluate


def test_evaluation_is_what_numpy_counts(hyperatom: Command, example: Example, maps: Maps) -> None:
    result = hyperatom("evaluate", maps.map, "--labels", example.labels, "--split", example.split,
                       "--json").json
    assert result == example.train_json["test"]
    ids, (_, test) = read(example.labels).ravel(), sides(example.split)
    expected = accuracy_of(read(maps.map).ravel()[test], ids[test], 4)
    expect_accuracy(result, expected)
    table = np.array(expected["confusion"])
    for c, each in enumerate(result["classes"]):
        truth, predicted = table[c].sum(), table[:, c].sum()
        assert (each["id"], each["truth"], each["predicted"]) == (c + 1, truth, predicted)
        assert each["producers"] == pytest.approx(table[c, c] / truth)
        assert each["users"] == pytest.approx(table[c, c] / predicted)
        assert each["f1"] == pytest.approx(2 * table[c, c] / (truth + predicted))
    text = hyperatom("evaluate", maps.map, "--labels", example.labels, "--split",
                     example.split).stdout
    assert f"OA {100 * expected['overall']:.2f} %" in text
    assert f"kappa {expected['kappa']:.4f}" in text


def test_evaluation_without_a_split_takes_all_labelled_pixels(hyperatom: Command, example: Example,
                                                              maps: Maps) -> None:
    done = hyperatom("evaluate", maps.map, "--labels", example.labels, "--json")
    ids, found = read(example.labels), read(maps.map)
    expect_accuracy(done.json, accuracy_of(found[ids > 0], ids[ids > 0], 4))
    assert done.json.keys().isdisjoint({"split", "leakage", "window"})
    assert "no --split" in done.stderr


def test_leakage_is_what_brute_force_finds(hyperatom: Command, example: Example,
                                           maps: Maps) -> None:
    valid = usable(example.scene)
    train, test = sides(example.split)
    training = np.zeros((40, 40), bool)
    training.flat[train] = True
    leaking = sum(training[tuple(window_of(valid, *divmod(pixel, 40)).T)].any() for pixel in test)
    words = ["evaluate", maps.map, "--labels", example.labels, "--split", example.split, "--json"]
    for more in ([], ["--window", 9]):
        assert hyperatom(*words, *more).json["leakage"] == pytest.approx(leaking / len(test))
    assert hyperatom(*words, "--window", 1).json["leakage"] == 0


@pytest.mark.parametrize("right", [True, False])
def test_perfect_and_hopeless_maps(hyperatom: Command, example: Example, validate: Validate,
                                   right: bool) -> None:
    ids = read(example.labels)
    found = ids if right else np.where(ids > 0, ids % 4 + 1, 0)
    write_labels(hyperatom.folder / "map.tif", example.labels, found)
    result = hyperatom("evaluate", "map.tif", "--labels", example.labels, "--json").json
    validate("evaluate", result)
    expect_accuracy(result, accuracy_of(found[ids > 0], ids[ids > 0], 4))
    assert result["overall"] == right


def test_pixels_that_the_map_leaves_out_are_wrong(hyperatom: Command, example: Example,
                                                  maps: Maps) -> None:
    ids, found = read(example.labels), read(maps.map)
    found[10:20] = 0
    write_labels(hyperatom.folder / "map.tif", example.labels, found)
    result = hyperatom("evaluate", "map.tif", "--labels", example.labels, "--json").json
    expect_accuracy(result, accuracy_of(found[ids > 0], ids[ids > 0], 4))
    assert sum(row[-1] for row in result["confusion"]) == (ids[10:20] > 0).sum()


def test_classes_are_matched_by_name(hyperatom: Command, example: Example, maps: Maps) -> None:
    names = example.train_json["classes"]
    ids = read(example.labels)
    turned = np.array([0, 4, 3, 2, 1], np.uint8)[ids]
    write_labels(hyperatom.folder / "turned.tif", example.labels, turned, names[::-1])
    words = ["evaluate", maps.map, "--json", "--labels"]
    done = hyperatom(*words, "turned.tif")
    assert "matched by name" in done.stderr
    assert done.json == hyperatom(*words, example.labels).json


def test_evaluation_into_a_folder(hyperatom: Command, example: Example, maps: Maps) -> None:
    words = ["evaluate", maps.map, "--labels", example.labels, "--split", example.split, "-o",
             "numbers"]
    hyperatom(*words)
    assert names_in(hyperatom.folder / "numbers") == \
        {"metrics.json", "confusion.csv", "per_class.csv"}
    for name in names_in(hyperatom.folder / "numbers"):
        assert (hyperatom.folder / "numbers" / name).read_bytes() == \
            (example.run / name).read_bytes()
    assert "--overwrite" in hyperatom(*words, code=5).stderr


# ---- explain


def telling_pixels(valid: np.ndarray) -> list[tuple[int, int]]:
    """The first and the last usable pixel, one beside many that are not, one in the middle."""
    rows, cols = np.nonzero(valid)
    around = np.pad(~valid, 1)
    lonely = sum(around[1 + i:41 + i, 1 + j:41 + j] for i in (-1, 0, 1) for j in (-1, 0, 1))
    beside = np.unravel_index(np.where(valid, lonely.astype(int), -1).argmax(), valid.shape)
    middle = len(rows) // 2
    return [(rows[0], cols[0]), (rows[-1], cols[-1]), beside, (rows[middle], cols[middle])]


def test_explanation_is_that_of_the_map(hyperatom: Command, example: Example, maps: Maps) -> None:
    scores, valid = read(maps.scores), usable(example.scene)
    _, model = read_tensors(example.run / "model.safetensors")
    D, W, b = model["dictionary"], model["weights"], model["bias"]
    cube = read(example.scene).astype(float)
    for row, col in telling_pixels(valid):
        why = hyperatom("explain", example.scene, "-m", example.run, "--pixel", f"{row},{col}",
                        "--json").json
        assert why["class"] == read(maps.map)[row, col] and why["converged"]
        found = np.array([each["score"] for each in why["scores"]])
        assert np.float32(found).tolist() == scores[:, row, col].tolist()
        assert np.float32(why["confidence"]) == read(maps.confidence)[row, col]
        assert np.float32(why["novelty"]) == read(maps.novelty)[row, col]
        assert why["window"] == window_of(valid, row, col).tolist()

        a = np.zeros(len(D))
        for each in why["atoms"]:
            a[each["atom"]] = each["weight"]
            assert each["class"] == model["class.id"][model["atom.class"][each["atom"]]]
            assert each["norm"] >= abs(each["weight"])
        assert W.T @ a + b == pytest.approx(found, abs=1e-12)
        x = cube[:, row, col] / np.linalg.norm(cube[:, row, col])
        unexplained = 1 - 2 * gaussian(D, x[None]).T @ a + a @ gaussian(D, D) @ a
        assert why["novelty"] == pytest.approx(unexplained[0], abs=1e-6)
        assert np.float32(why["spectrum"]).tolist() == read(example.scene)[:, row, col].tolist()
        parts = a * gaussian(D, x[None])[:, 0]
        expected = np.linalg.norm(cube[:, row, col]) * (parts / parts.sum()) @ D
        assert why["reconstruction"] == pytest.approx(expected, rel=1e-6)


def test_code_of_one_pixel_is_the_lasso(hyperatom: Command, example: Example) -> None:
    """Its optimality conditions, in NumPy: K a - k(D, x) + lambda1 sign(a) = 0 where a is not."""
    result = hyperatom(*train_words(example, "--split", example.split, *QUICK, "--method", "sdl-l1-k",
                                    "--tolerance", 1e-12)).json
    _, model = read_tensors(hyperatom.folder / "run/model.safetensors")
    D, K, cube = model["dictionary"], gaussian(*[model["dictionary"]] * 2), read(example.scene)
    for row, col in telling_pixels(usable(example.scene)):
        why = hyperatom("explain", example.scene, "-m", "run", "--pixel", f"{row},{col}",
                        "--json").json
        assert why["window"] == [[row, col]]
        a = np.zeros(len(D))
        a[[each["atom"] for each in why["atoms"]]] = [each["weight"] for each in why["atoms"]]
        x = cube[:, row, col].astype(float)
        residual = gaussian(D, x[None] / np.linalg.norm(x))[:, 0] - K @ a
        active = a != 0
        assert active.any()
        assert residual[active] == pytest.approx(result["lambda1"] * np.sign(a[active]), abs=1e-5)
        assert abs(residual[~active]).max(initial=0) <= result["lambda1"] + 1e-5


def test_pixel_without_data_has_no_explanation(hyperatom: Command, example: Example) -> None:
    row, col = np.argwhere(~usable(example.scene))[0]
    message = hyperatom("explain", example.scene, "-m", example.run, "--pixel", f"{row},{col}",
                        code=3).stderr
    assert f"{row},{col}" in message


# ---- Interrupted and killed


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Until it holds; the process must not end before."""
    for _ in range(60_000):
        if condition():
            return
        assert process.poll() is None, f"ended early with exit code {process.returncode}"
        time.sleep(0.001)
    raise AssertionError("waited for a minute in vain")


def stop(process: subprocess.Popen[str], number: signal.Signals, after: float = 0) -> int:
    """Sends a signal after some seconds; the exit code, negative when the signal ended it."""
    time.sleep(after)
    process.send_signal(number)
    return process.wait(timeout=60)


@pytest.fixture(scope="session")
def whole_run(binary: Path, example: Example,
              tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """A training that nothing disturbed: its run folder, and how many seconds it took."""
    folder = tmp_path_factory.mktemp("whole")
    done = Command(binary, folder)(*train_words(example, "--split", example.split, *LONG))
    return folder / "run", done.json["seconds"]


def start_training(hyperatom: Command, example: Example) -> subprocess.Popen[str]:
    """The command of `whole_run`, in another folder, until it trains."""
    process = hyperatom.start(*train_words(example, "--split", example.split, *LONG))
    wait_for((hyperatom.folder / "run/split.json").exists, process)
    return process


def expect_same_run(run: Path, whole: Path) -> None:
    for name in sorted(RUN_FILES - {"log.txt"}):
        assert (run / name).read_bytes() == (whole / name).read_bytes(), name


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_interrupted_training_goes_on(hyperatom: Command, example: Example,
                                      whole_run: tuple[Path, float],
                                      number: signal.Signals) -> None:
    whole, seconds = whole_run
    run = hyperatom.folder / "run"
    assert stop(start_training(hyperatom, example), number, after=0.15 * seconds) == 130
    assert names_in(run) == {"args.json", "last.safetensors", "log.txt", "results.csv",
                             "split.json"}
    _, checkpoint = read_tensors(run / "last.safetensors")
    assert checkpoint["counters"][0] < 300
    hyperatom("train", "--resume", "run")
    expect_same_run(run, whole)
    assert names_in(run) == RUN_FILES


def test_killed_training_goes_on(hyperatom: Command, example: Example,
                                 whole_run: tuple[Path, float]) -> None:
    """Kills, and between them interrupts that leave a checkpoint for the next one to find."""
    whole, seconds = whole_run
    process = start_training(hyperatom, example)
    for share in (0.02, 0.05, 0.1, 0.2, 0.3):
        stop(process, signal.SIGKILL, after=share * seconds)
        stop(hyperatom.start("train", "--resume", "run"), signal.SIGINT, after=0.2 * seconds)
        process = hyperatom.start("train", "--resume", "run")
    process.wait(timeout=120)
    expect_same_run(hyperatom.folder / "run", whole)


def test_finished_run_can_be_resumed(hyperatom: Command, example: Example) -> None:
    run = shutil.copytree(example.run, hyperatom.folder / "run")
    assert hyperatom("train", "--resume", "run", "--json").json["test"] == \
        example.train_json["test"]
    expect_same_run(run, example.run)


def test_checkpoint_without_its_table_is_not_left(hyperatom: Command, example: Example,
                                                  whole_run: tuple[Path, float]) -> None:
    """What can't write results.csv, or is killed before, must not lose the epochs' lines."""
    whole, seconds = whole_run
    run = hyperatom.folder / "run"
    process = start_training(hyperatom, example)
    (run / "results.csv").mkdir()
    assert stop(process, signal.SIGINT, after=0.15 * seconds) == 5
    (run / "results.csv").rmdir()
    hyperatom("train", "--resume", "run")
    expect_same_run(run, whole)


def wait_and_measure(process: subprocess.Popen[str]) -> tuple[int, float]:
    """Its exit code and the seconds that processors worked for it, whatever else they did."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime


@pytest.mark.parametrize("words", [(), ("--ram", 1)], ids=["default", "strips"])
def test_interrupted_classification_ends_soon_and_leaves_nothing(
        hyperatom: Command, example: Example, words: tuple[object, ...]) -> None:
    hyperatom("synth", "-o", "scene.img", "--labels", "labels.tif", "--rows", 1000, "--cols", 40,
              "--bands", 20, "--classes", 4, "--field", 10)
    out = hyperatom.folder / "out"
    out.mkdir()
    command = ["classify", "scene.img", "-m", example.run, "--threads", 1, *words, "-o"]
    code, work = wait_and_measure(hyperatom.start(*command, "whole.tif"))
    assert code == 0
    process = hyperatom.start(*command, "out/map.tif", "--scores", "out/scores.tif")
    wait_for(lambda: len(names_in(out)) == 2, process)
    process.send_signal(signal.SIGINT)
    code, work_until_heard = wait_and_measure(process)
    assert code == 130
    assert names_in(out) == set()
    assert work_until_heard < 0.75 * work
