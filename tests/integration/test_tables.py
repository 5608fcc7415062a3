"""bench/paper/tables.py, on a synthetic scene of the size of Pavia University."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy.io import savemat

from conftest import REPOSITORY

ROWS, COLS, BANDS, CLASSES = 610, 340, 103, 9
TRAIN, TEST = 3921, 40002


def write_pavia(folder: Path) -> None:
    """A cube of fields with noisy spectra, and label maps with the paper's numbers of pixels."""
    generator = np.random.default_rng(0)
    field = np.arange(ROWS)[:, None] // 20 * 7 + np.arange(COLS) // 20
    classes = field % CLASSES
    waves = np.linspace(0, 1, BANDS)
    spectra = np.array([1500 + 1000 * np.sin((2 + k) * waves + k) for k in range(CLASSES)])
    noise = generator.normal(0, 300, (ROWS, COLS, BANDS))
    cube = np.clip(spectra[classes] + noise, 0, 8000).astype(np.uint16)
    folder.mkdir(parents=True)
    savemat(folder / "paviaU.mat", {"paviaU": cube}, do_compression=True)
    chosen = generator.permutation(ROWS * COLS)[:TRAIN + TEST]
    for name, pixels in ((f"fixed_train_{TRAIN}", chosen[:TRAIN]),
                         (f"fixed_test_{TEST}", chosen[TRAIN:])):
        labels = np.zeros(ROWS * COLS, np.uint8)
        labels[pixels] = classes.ravel()[pixels] + 1
        savemat(folder / f"{name}.mat", {name: labels.reshape(ROWS, COLS)}, do_compression=True)


def tables(binary: Path, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, REPOSITORY / "bench/paper/tables.py", *map(str, words)], text=True,
        capture_output=True, env={**os.environ, "HYPERATOM_BIN": str(binary)}, check=False,
        timeout=600)


def test_the_whole_of_pavia_university_by_the_command_of_the_tables(
        binary: Path, slow: None, tmp_path: Path) -> None:
    write_pavia(tmp_path / "data/pavia_university")
    quick = tmp_path / "quick"  # the command with one method, not tuned for long
    quick.write_text(f'#!/bin/sh\nexec {binary} "$@" --methods svm-l --grid cost=10,100\n')
    quick.chmod(0o755)
    words = ("--data", tmp_path / "data", "--out", tmp_path / "out", "--only", "pavia")
    done = tables(quick, *words)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "out/pavia/table.json").read_text())
    assert result["repeats"] == 3
    assert {(each["train"], each["test"]) for each in result["splits"]} == {(TRAIN, TEST)}
    (method,) = result["methods"]
    assert method["method"] == "svm-l"
    assert len(method["cells"]) == 3
    assert all(cell["overall"] > 0.9 for cell in method["cells"])
    assert "| svm-l |" in (table := (tmp_path / "out/pavia/table.md").read_text())
    assert "| 61.84 | 65.09 |" in table, "the paper's figures of Pavia University"
    # What `quick` added makes it another command than that of the tables.
    again = tables(binary, *words)
    assert again.returncode != 0
    assert "was made by another command" in again.stderr
    assert "--methods svm-l" in again.stderr


def test_a_table_without_its_scene_is_left_out(binary: Path, tmp_path: Path) -> None:
    done = tables(binary, "--data", tmp_path, "--out", tmp_path / "out", "--only", "pavia")
    assert done.returncode == 0, done.stderr
    assert "pavia: left out, there is no" in done.stderr
    assert "paviaU.mat" in done.stderr
    assert not (tmp_path / "out/pavia").exists()
