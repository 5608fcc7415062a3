"""hyperatom report: what is in the page is what the other verbs say."""

import base64
import json
import re
import zlib
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from osgeo import gdal

from conftest import Command, Example, has_viewer
from test_verbs import Validate

gdal.UseExceptions()

PAYLOAD = "</script><script>window.stolen=1</script>"


class Page:
    """A report, taken apart."""

    def __init__(self, path: Path) -> None:
        self.text = path.read_text()
        self.json = json.loads(self.element("report"))

    def element(self, name: str) -> str:
        found = re.findall(rf'<script id="{name}"[^>]*>([^<]*)</script>', self.text)
        assert len(found) == 1, name
        return str(found[0])

    def block(self, name: str, kind: Any = np.uint8) -> np.ndarray:
        return np.frombuffer(zlib.decompress(base64.b64decode(self.element(f"block-{name}"))), kind)

    def pixel(self, index: int) -> dict[str, Any]:
        """The code of a pixel, and its reconstruction."""
        codes, place = self.block("codes"), 0
        for _ in range(index):
            place += 1 + 3 * int(codes[place])
        entries = codes[place + 1:place + 1 + 3 * int(codes[place])].reshape(-1, 3)
        weight, part = self.block("scales", "<f4").reshape(-1, 2)[index]
        offset = self.block("offsets", "<f4")[index]
        signed = entries[:, 1:].astype(np.int8) / 127
        atoms = self.block("atoms", "<f4").reshape(-1, self.json["scene"]["bands"])
        return {"atoms": entries[:, 0].tolist(), "weights": weight * signed[:, 0],
                "reconstruction": offset * np.array(self.json["offset"]) + (part * signed[:, 1]) @ atoms[entries[:, 0]]}


def report(hyperatom: Command, *words: object) -> Page:
    done = hyperatom("report", *words, "-o", "page.html", "--json", "--overwrite").json
    path = hyperatom.folder / "page.html"
    assert done["bytes"] == path.stat().st_size
    return Page(path)


@pytest.mark.usefixtures("viewer")
def test_pixels_are_as_explain_has_them(hyperatom: Command, example: Example) -> None:
    page = report(hyperatom, example.scene, "-m", example.run)
    cube = gdal.Open(str(example.scene)).ReadAsArray()
    for row, col in ((12, 20), (20, 33), (31, 9)):
        index = row * 40 + col
        why = hyperatom("explain", example.scene, "-m", example.run, "--pixel", f"{row},{col}",
                        "--json").json
        pixel = page.pixel(index)
        expected = sorted((atom["atom"], atom["weight"]) for atom in why["atoms"])
        assert pixel["atoms"] == [atom for atom, _ in expected]
        largest = max(abs(weight) for _, weight in expected)
        assert np.abs(pixel["weights"] - [weight for _, weight in expected]).max() < largest / 250
        assert page.block("prediction")[index] == why["class"]
        assert abs(page.block("confidence")[index] / 254 - why["confidence"]) < 1 / 500
        assert abs(page.block("novelty")[index] / 254 - why["novelty"]) < 1 / 500
        scale = page.json["scores"]
        scores = scale["low"] + (scale["high"] - scale["low"]) * page.block("scores").reshape(-1, 4)[index] / 255
        assert np.abs(scores - [each["score"] for each in why["scores"]]).max() < (scale["high"] - scale["low"]) / 500
        # The code explains all but its novelty of the pixel.
        error = np.linalg.norm(pixel["reconstruction"] - cube[:, row, col]) / np.linalg.norm(cube[:, row, col])
        assert error < 0.05 + why["novelty"]


@pytest.mark.usefixtures("viewer")
def test_tables_are_those_of_the_run(hyperatom: Command, example: Example) -> None:
    page = report(hyperatom, example.scene, "-m", example.run)
    test = example.train_json["test"]
    accuracy = page.json["accuracy"]
    assert (accuracy["pixels"], accuracy["correct"]) == (test["pixels"], test["right"])
    assert accuracy["oa"]["value"] == test["overall"]
    assert [accuracy["oa"]["low"], accuracy["oa"]["high"]] == test["overall_interval"]
    assert accuracy["aa"]["low"] < accuracy["aa"]["value"] < accuracy["aa"]["high"]
    assert accuracy["kappa"]["value"] == test["kappa"]
    assert accuracy["confusion"] == [row[:-1] for row in test["confusion"]]
    assert page.json["split"]["leakage"]["adjacent"] == test["leakage"]
    assert page.json["split"]["hash"] == test["split"]["sha256"]
    assert len(page.json["model"]["training"]) == 5
    assert page.json["made"]["command"].startswith("hyperatom report ")
    assert page.json["scene"]["wavelengths"] is not None
    assert page.json["scene"]["file"] == "scene.img"
    classified = hyperatom("classify", example.scene, "-m", example.run, "-o", "map.tif", "--json").json
    assert [area["pixels"] for area in page.json["areas"]] == [each["pixels"] for each in classified["classes"]]
    assert (gdal.Open(str(hyperatom.folder / "map.tif")).ReadAsArray().ravel() == page.block("prediction")).all()
    metadata = gdal.Open(str(hyperatom.folder / "map.tif")).GetMetadata()
    assert page.json["model"]["hash"] == metadata["HYPERATOM_MODEL_SHA256"]


@pytest.mark.usefixtures("viewer")
def test_labels_may_be_given_or_missing(hyperatom: Command, example: Example) -> None:
    model = example.run / "model.safetensors"
    assert report(hyperatom, example.scene, "-m", model).json["accuracy"] is None
    all_labelled = report(hyperatom, example.scene, "-m", model, "--labels", example.labels).json
    assert all_labelled["accuracy"]["pixels"] > example.train_json["test"]["pixels"]
    assert all_labelled["split"] is None
    split = report(hyperatom, example.scene, "-m", model, "--labels", example.labels, "--split", example.split).json
    assert split["accuracy"]["correct"] == example.train_json["test"]["right"]
    assert "--labels" in hyperatom("report", example.scene, "-m", model, "--split", example.split, "-o", "x.html", code=2).stderr


@pytest.mark.usefixtures("viewer")
def test_names_of_classes_and_files_stay_text(hyperatom: Command, example: Example) -> None:
    labels = hyperatom.folder / "labels.tif"
    copy = gdal.GetDriverByName("GTiff").CreateCopy(str(labels), gdal.Open(str(example.labels)))
    copy.GetRasterBand(1).SetCategoryNames(["", PAYLOAD, "<img src=x onerror=alert(1)>", "a", "b"])
    copy.FlushCache()
    hyperatom("train", example.scene, "--labels", labels, "--split", example.split, "--epochs", 1, "--kernel",
              "gaussian(sigma=0.1)", "--normalize", "unit", "-o", "run", "--report")
    text = (hyperatom.folder / "run/report.html").read_text()
    assert "window.stolen" in text and "<script>window.stolen" not in text and "<img src=x" not in text
    page = Page(hyperatom.folder / "run/report.html")
    assert page.json["classes"][0]["name"] == PAYLOAD


@pytest.mark.usefixtures("viewer")
def test_classify_makes_the_page_of_its_map(hyperatom: Command, example: Example, validate: Validate) -> None:
    words = ["classify", example.scene, "-m", example.run, "-o", "map.tif", "--report", "--json"]
    done = hyperatom(*words).json
    validate("classify", done)
    assert done["report"]["report"] == "map.html"
    page = Page(hyperatom.folder / "map.html")
    assert (gdal.Open(str(hyperatom.folder / "map.tif")).ReadAsArray().ravel() == page.block("prediction")).all()
    assert page.json["accuracy"]["correct"] == example.train_json["test"]["right"]
    assert page.json["made"]["command"].startswith("hyperatom classify ")
    assert datetime.fromisoformat(page.json["made"]["date"].replace("Z", "+00:00")).tzinfo is not None
    before = (hyperatom.folder / "map.html").read_bytes()
    (hyperatom.folder / "map.tif").unlink()
    assert "map.html" in hyperatom(*words, code=5).stderr
    assert not (hyperatom.folder / "map.tif").exists() and (hyperatom.folder / "map.html").read_bytes() == before
    assert "--shard" in hyperatom(*words, "--overwrite", "--shard", "1/2", code=2).stderr


@pytest.mark.usefixtures("viewer")
def test_evaluate_makes_a_page_without_scene_and_model(hyperatom: Command, example: Example,
                                                       validate: Validate) -> None:
    hyperatom("classify", example.scene, "-m", example.run, "-o", "map.tif")
    words = ["evaluate", "map.tif", "--labels", example.labels, "--split", example.split, "--json"]
    done = hyperatom(*words, "-o", "made", "--report").json
    validate("evaluate", done)
    page = Page(hyperatom.folder / "made/report.html")
    assert (page.json["accuracy"]["pixels"], page.json["accuracy"]["correct"]) == (done["pixels"], done["right"])
    assert page.json["accuracy"]["confusion"] == [row[:-1] for row in done["confusion"]]
    assert page.json["split"]["leakage"]["adjacent"] == done["leakage"]
    assert [each["name"] for each in page.json["classes"]] == [each["name"] for each in done["classes"]]
    assert (gdal.Open(str(hyperatom.folder / "map.tif")).ReadAsArray().ravel() == page.block("prediction")).all()
    assert (gdal.Open(str(example.labels)).ReadAsArray().ravel() == page.block("truth")).all()
    assert page.json["model"] is None and page.json["scene"]["bands"] == 0 and page.json["scene"]["file"] == "map.tif"
    assert not (hyperatom.folder / "made/metrics.json").read_text().count("report.html")
    assert "-o" in hyperatom(*words, "--report", code=2).stderr
    (hyperatom.folder / "other").mkdir()
    (hyperatom.folder / "other/report.html").write_text("mine")
    assert "report.html" in hyperatom(*words, "-o", "other", "--report", code=5).stderr
    assert [file.name for file in (hyperatom.folder / "other").iterdir()] == ["report.html"]


@pytest.mark.usefixtures("viewer")
def test_compare_makes_a_page_of_all_methods(hyperatom: Command, example: Example, validate: Validate) -> None:
    done = hyperatom("compare", example.scene, "--labels", example.labels, "--per-class", 8, "--repeats", 2,
                     "--methods", "svm-l,sdl-l12-k", "--grid", "lambda1=0.1", "--epochs", 1, "--kernel",
                     "gaussian(sigma=0.1)", "--normalize", "unit", "-o", "made", "--paper", "indian-pines",
                     "--report", "--json").json
    validate("compare", done)
    path = hyperatom.folder / "made/report.html"
    page = Page(path)
    for row, each in zip(page.json["comparison"]["table"], done["methods"], strict=True):
        assert row["method"] == each["method"]
        assert [figure["oa"] for figure in row["repeats"]] == [cell["overall"] for cell in each["cells"]]
        assert [figure["kappa"] for figure in row["repeats"]] == [cell["kappa"] for cell in each["cells"]]
        assert (row["paper"]["oa"], row["paper"]["aa"]) == (each["paper"]["overall"], each["paper"]["average"])
    for method in ("svm-l", "sdl-l12-k"):
        hyperatom("classify", example.scene, "-m", f"made/split-1/{method}", "-o", "map.tif", "--overwrite")
        drawn = gdal.Open(str(hyperatom.folder / "map.tif")).ReadAsArray().ravel()
        assert (drawn == page.block(f"map-{method}")).all()
    split = json.loads((hyperatom.folder / "made/split-1/split.json").read_text())
    assert np.flatnonzero(page.block("split") == 1).tolist() == sorted(split["train"])
    # A page of what was done before takes no training.
    path.unlink()
    again = hyperatom("compare", "--resume", "made", "--report", "--json").json
    assert again["methods"] == done["methods"]
    assert Page(path).json["comparison"] == page.json["comparison"]


@pytest.mark.usefixtures("viewer")
def test_small_pages_say_what_is_missing(hyperatom: Command) -> None:
    hyperatom("synth", "-o", "scene.img", "--labels", "labels.tif", "--rows", 90, "--cols", 90, "--bands", 100)
    hyperatom("train", "scene.img", "--labels", "labels.tif", "--epochs", 1, "--kernel", "gaussian(sigma=0.1)",
              "--normalize", "unit", "-o", "run")
    page = report(hyperatom, "scene.img", "-m", "run", "--max-mb", 1)
    assert page.json["spectra"]["pixels"] != "all"
    assert any("To keep the page small" in sentence for sentence in page.json["reduced"])
    assert len(page.text) <= 1_000_000


@pytest.mark.usefixtures("viewer")
def test_damaged_record_of_training_is_named(hyperatom: Command, example: Example) -> None:
    run = hyperatom.folder / "run"
    run.mkdir()
    (run / "model.safetensors").write_bytes((example.run / "model.safetensors").read_bytes())
    for line in ("1,0.5", "x,0.5,0.5", "1,0.5,many"):
        (run / "results.csv").write_text(f"epoch,loss,accuracy\n{line}\n")
        message = hyperatom("report", example.scene, "-m", "run", "-o", "page.html", code=3).stderr
        assert "results.csv" in message and line in message
    assert not (hyperatom.folder / "page.html").exists()


def test_svm_has_a_map_and_scores_but_no_atoms(hyperatom: Command, example: Example, viewer: None) -> None:
    hyperatom("train", example.scene, "--labels", example.labels, "--split", example.split, "--method", "svm-k",
              "--kernel", "gaussian(sigma=0.1)", "--cost", 10, "--normalize", "unit", "-o", "run")
    page = report(hyperatom, example.scene, "-m", "run")
    assert page.json["codes"] is None and page.json["model"]["atoms"] == 0
    assert "block-codes" not in page.text
    assert len(page.block("scores")) == 40 * 40 * 4


def test_a_build_without_the_viewer_says_so(hyperatom: Command, example: Example, binary: Path) -> None:
    if has_viewer(binary):
        pytest.skip("this hyperatom has the viewer; that of the preset asan has not")
    for words in (["report", example.scene, "-m", example.run, "-o", "made"],
                  ["classify", example.scene, "-m", example.run, "-o", "made", "--report"],
                  ["evaluate", example.labels, "--labels", example.labels, "-o", "made", "--report"],
                  ["compare", example.scene, "--labels", example.labels, "--per-class", 8, "-o", "made", "--report"],
                  ["train", example.scene, "--labels", example.labels, "-o", "made", "--report"]):
        assert "Node.js" in hyperatom(*words, code=2).stderr
        assert not (hyperatom.folder / "made").exists()
