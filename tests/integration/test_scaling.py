"""What bench/scaling.py makes of its measurements, and what the page says of them: all but the clock."""

from __future__ import annotations

import struct
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import mirrored_scene  # noqa: E402
import scaling  # noqa: E402
import scaling_report  # noqa: E402


def test_exponent_of_a_power_law() -> None:
    assert scaling.exponent([(x, 3 * x**1.5) for x in (10, 100, 250, 4000)]) == pytest.approx(1.5)
    assert scaling.exponent([(x, 7) for x in (1, 9, 25)]) == pytest.approx(0)


def test_training_pixels_are_drawn_evenly_and_keep_their_classes() -> None:
    classes = bytes([0] * 50 + [1] * 100 + [2] * 100 + [3] * 5)
    drawn = scaling.draw(classes, 45)
    assert all(new in (0, old) for new, old in zip(drawn, classes, strict=True))
    assert [drawn.count(c) for c in (1, 2, 3)] == [20, 20, 5]
    assert drawn == scaling.draw(classes, 45)


def matlab(path: Path, kind: int, sizes: tuple[int, ...], values: bytes) -> None:
    """A compressed MATLAB 5 file of one array."""
    def element(number: int, content: bytes) -> bytes:
        return struct.pack("<II", number, len(content)) + content + bytes(-len(content) % 8)

    whole = element(14, element(6, bytes(8)) + element(5, struct.pack(f"<{len(sizes)}i", *sizes)) + struct.pack("<I4s", 1 << 16 | 1, b"x") + element(kind, values))
    packed = zlib.compress(whole)
    path.write_bytes(bytes(128) + struct.pack("<II", 15, len(packed)) + packed)


@pytest.mark.parametrize("rows", [2, 5])
def test_a_mirrored_scene_goes_on_at_its_edges_and_has_its_labels_once(tmp_path: Path, rows: int) -> None:
    height, width, bands = 3, 2, 2
    matlab(tmp_path / mirrored_scene.CROP, 4, (height, width, bands), struct.pack("<12H", *(100 * b + 10 * r + c for b in range(bands) for c in range(width) for r in range(height))))
    matlab(tmp_path / mirrored_scene.CLASSES, 2, (height, width), bytes(1 + 2 * r + c for c in range(width) for r in range(height)))
    mirrored_scene.make(tmp_path, rows, 5, tmp_path / "scene.img", tmp_path / "labels.img")
    across, down = [0, 1, 1, 0, 0], [0, 1, 2, 2, 1][:rows]
    assert list(struct.unpack(f"<{rows * 10}H", (tmp_path / "scene.img").read_bytes())) == [100 * b + 10 * r + c for r in down for b in range(bands) for c in across]
    known = [[1, 2, 0, 0, 0], [3, 4, 0, 0, 0], [5, 6, 0, 0, 0], [0] * 5, [0] * 5][:rows]
    assert list((tmp_path / "labels.img").read_bytes()) == sum(known, [])
    assert f"samples = 5\nlines = {rows}\nbands = 2" in (tmp_path / "scene.hdr").read_text()


def test_what_a_process_took() -> None:
    run, result = scaling.finished([sys.executable, "-c", "x = bytes(range(256)) * 800_000; print('{\"seconds\": 2.5}')"])
    assert result == {"seconds": 2.5} and run.told == 2.5
    assert run.peak > 195
    assert 0 < run.processor <= run.wall + 0.1


def test_the_least_of_each_figure_counts() -> None:
    runs = iter([scaling.Run(1, 5, 3, 9), scaling.Run(8, 8, 8, 8), scaling.Run(2, 4, 2, 10), scaling.Run(7, 9, 7, 9)])
    first, second = scaling.in_turn(2, lambda: next(runs), lambda: next(runs))
    assert first == {"wall": 1, "processor": 4, "told": 2, "peak": 9}
    assert second == {"wall": 7, "processor": 8, "told": 7, "peak": 8}


def curve(optimizer: str, loss: list[float | None], pace: float = 1.0) -> dict[str, Any]:
    return {"optimizer": optimizer, "rho": 0.01, "batch": 1, "loss": loss, "seconds": [pace * i for i in range(len(loss))]}


def test_race_is_to_a_loss_that_both_reach() -> None:
    adam = curve("adam", [9, 5, 3, 2])
    never, slow, fast = curve("sgd", [9, 8, 8, 8]), curve("sgd", [9, 4, 3, 1], pace=10), curve("sgd", [9, None, 3, 2], pace=4)
    assert scaling.race([adam, never, slow, fast]) == (adam, fast, 2)
    assert scaling.time_to(fast, 2) == 12 and scaling.time_to(adam, 2) == 3
    assert scaling.race([adam, never]) == (adam, never, 8)


def test_everything_asked_for_is_swept() -> None:
    sizes = scaling.sizes(scaling.FULL)
    assert len(sizes) == len(set(sizes))
    assert [setting.window for axis, setting in sizes if axis == "S"] == [1, 9, 25, 49, 81]
    assert {9 * setting.atoms_per_class for axis, setting in sizes if axis == "d"} >= {9, 45, 360}
    assert {setting.bands for axis, setting in sizes if axis == "bands"} >= {25, 400}
    assert {axis for axis, _ in scaling.sizes(scaling.QUICK)} == {axis for axis, _ in sizes}


@pytest.fixture
def document() -> scaling.Document:
    """Made up, so that all aims are met."""
    def run(seconds: float) -> dict[str, float]:
        return scaling.Run(seconds, seconds, seconds, 50)._asdict()

    def cell(window: int) -> dict[str, Any]:
        return {"scene": "synthetic", "normalize": "unit", "training_pixels": 3921, "kernel": "gaussian(sigma=0.1)", "lambda1": 0.04, "pixels": 900, "bands": 103, "features": 103, "atoms": 45, "window": window, "active": 9.5, "unconverged": 0,
                "read": 0.1, "normalise": 0.1, "gram": 1.2, "bare": 1.0, "whole": 2.5, "wall_one": 2.5, "wall_two": 1.3, "one": run(2.9), "two": run(1.5),
                "svm": {"kernel": "gaussian(sigma=0.3)", "cost": 10.0, "support_vectors": 1234, "pixels": 90, "differ": 0, "seconds": 4.0}}

    return {"measured": {part: {"machine": "a machine", "date": "2026-01-01", "load": 0.25} for part in scaling.PARTS}, "cores": 2, "seed": 0, "plan": {"rows": 610, "training": 3921, "side": 200},
            "classification": [cell(1), cell(9)],
            "training": {"epochs": 60, "kernel": "gaussian(sigma=0.3)", "lambda1": 0.12, "one": run(10), "two": run(5.2),
                         "epoch": {"pixels": 997, "features": 200, "atoms": 80, "window": 9, "active": 20.5, "epoch": 0.12, "coding_afresh": 0.11, "coding_warm": 0.1},
                         "curves": [curve("adam", [9, 2]), curve("sgd", [9, 1], pace=2)]},
            "sweeps": {axis: [{"size": x, "train": {"seconds": x / 1000, "peak": 50}, "classify": {"seconds": x**2, "peak": 60}} for x in (10, 100)]
                       for axis in ("pixels", "training pixels", "S", "d", "bands")}}


def test_page_when_all_aims_are_met(document: scaling.Document) -> None:
    text = scaling_report.page(document)
    assert "All aims are met." in text and "missed" not in text
    assert "| classify in memory / bare k(D, X), synthetic, unit, S = 1, lambda1 = 0.04 | 2.50 | <= 3 |" in text
    assert "| LIBSVM / classify in memory, synthetic, unit, S = 9, lambda1 = 0.04 | 16.00 | >= 1 |" in text
    assert "LIBSVM 40.0 s (1,234 support vectors" in text
    assert "| training pixels | 10 | 100 | 1.00 | 0.00 | 2.00 | 0.00 |" in text


@pytest.mark.parametrize(("path", "value", "line"), [
    (("classification", 0, "whole"), 3.5, "| classify in memory / bare k(D, X), synthetic, unit, S = 1, lambda1 = 0.04 | 3.50 | <= 3 | **missed** |"),
    (("classification", 0, "bare"), 0.5, "| classify, the whole command / bare k(D, X), synthetic, unit, S = 1, lambda1 = 0.04 | 5.80 | <= 3 | **missed** |"),
    (("classification", 1, "whole"), 50.0, "| LIBSVM / classify in memory, synthetic, unit, S = 9, lambda1 = 0.04 | 0.80 | >= 1 | **missed** |"),
    (("classification", 1, "wall_two"), 2.5, "| two threads: classify in memory, synthetic, unit, S = 9, lambda1 = 0.04 | 1.00 | >= 1.8 | **missed** |"),
    (("training", "two", "told"), 8.0, "| two threads: epochs of training | 1.25 | >= 1.8 | **missed** |"),
    (("training", "epoch", "coding_warm"), 0.06, "| an epoch / coding its windows from their last codes | 2.00 | <= 1.3 | **missed** |"),
    (("training", "curves", 0, "seconds"), [0.0, 4.0], "| time to the same loss: stochastic gradient / Adam | 0.50 | >= 1 | **missed** |"),
    (("sweeps", "training pixels", 1, "train", "seconds"), 1.0, "| exponent of an epoch's time in training pixels | 2.00 | <= 1.1 | **missed** |"),
])
def test_page_names_what_is_missed(document: scaling.Document, path: tuple[Any, ...], value: Any, line: str) -> None:
    *parents, last = path
    place: Any = document
    for key in parents:
        place = place[key]
    place[last] = value
    text = scaling_report.page(document)
    assert line in text and "All aims are met" not in text
