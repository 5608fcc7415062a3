"""The paper's ten methods, their tuning and their comparison, judged by NumPy and plain Python."""

import json
import re
import shlex
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

from conftest import Command, Example
from test_verbs import (
    KERNEL, RUN_FILES, TINY_SCENE, Maps, Validate, accuracy_of, classify, expect_accuracy, gaussian,
    names_in, read, read_csv, read_tensors, same_maps, same_tensors, sides, stop, telling_pixels,
    usable, wait_for, window_of, write_labels)

METHODS = ("svm-l", "svm-k", "src-l1-l", "src-l1-k", "src-l12-l", "src-l12-k", "sdl-l1-l",
           "sdl-l1-k", "sdl-l12-l", "sdl-l12-k")
OF_STEPS = {"last.safetensors", "results.csv"}
TUNING_FILES = {"args.json", "log.txt", "split.json", "table.csv", "trials.jsonl"}
CELL_FILES = {"cell.json", "confusion.csv", "metrics.json", "model.safetensors", "per_class.csv",
              "table.csv", "trials.jsonl"}
ACCURACIES = ("overall", "average", "kappa", "leakage")
SECONDS = ("tune_seconds", "train_seconds", "classify_seconds")
COST, LAMBDA1, LAMBDA2 = 50, 0.03, 0.02
TRIALS = ("--method", "sdl-l1-k", "--grid", "nu=1e-4", "--grid", "lambda1=1x,0.3x")
LONG_CELL = ("--per-class", 10, "--methods", "svm-l,sdl-l1-k", "--grid", "nu=1e-4", "--grid",
             "lambda1=1x,0.3x", "--jobs", 1)


def window_size(method: str) -> int:
    return 9 if "l12" in method else 1


def settings_of(method: str, normalize: str = "unit") -> list[object]:
    """So that nothing has to be chosen by trials."""
    words: list[object] = ["--method", method, "--normalize", normalize]
    if method.endswith("k"):
        words += ["--kernel", KERNEL]
    words += {"svm": ["--cost", COST],
              "src": ["--lambda1", LAMBDA1, "--lambda2", LAMBDA2, "--tolerance", 1e-12],
              "sdl": ["--epochs", 3]}[method[:3]]
    return words


def with_split(verb: str, example: Example, *words: object) -> list[object]:
    return [verb, example.scene, "--labels", example.labels, "--split", example.split, *words]


@dataclass(frozen=True)
class Made:
    """A folder that a command made, and what it told."""

    folder: Path
    json: dict[str, Any]


@pytest.fixture(scope="session")
def trained(binary: Path, example: Example,
            tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Made]:
    """A run of a method. Tests only read it."""
    folder = tmp_path_factory.mktemp("trained")
    run, made = Command(binary, folder), {}

    def get(method: str) -> Made:
        if method not in made:
            words = with_split("train", example, *settings_of(method), "-o", method, "--json")
            made[method] = Made(folder / method, run(*words).json)
        return made[method]

    return get


def normalized(example: Example) -> np.ndarray:
    """The spectra, of length 1: rows x cols x bands."""
    cube = read(example.scene).astype(float).transpose(1, 2, 0)
    return cube / np.linalg.norm(cube, axis=2, keepdims=True)


def kernel_of(method: str) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    return gaussian if method.endswith("k") else lambda X, Y: X @ Y.T


# ---- The ten methods


@pytest.mark.parametrize("method", METHODS)
def test_run_folder_of_a_method(example: Example, trained: Callable[[str], Made],
                                validate: Validate, method: str) -> None:
    made = trained(method)
    validate("train", made.json)
    assert names_in(made.folder) == \
        (RUN_FILES if method.startswith("sdl") else RUN_FILES - OF_STEPS)
    assert (made.json["method"], made.json["window"]) == (method, window_size(method))
    assert made.json["kernel"] == (KERNEL if method.endswith("k") else "linear")
    expected = {"svm": (None, COST), "src": (LAMBDA1, None)}
    if method[:3] in expected:
        assert (made.json["lambda1"], made.json["cost"]) == expected[method[:3]]
        assert made.json["steps"] == 0 and made.json["chosen"] == []
    else:
        assert made.json["lambda1"] > 0 and made.json["cost"] is None
        assert made.json["steps"] > 0
    args = json.loads((made.folder / "args.json").read_text())
    validate("args", args)
    named = {str(word)[2:] for word in settings_of(method) if str(word).startswith("--")}
    assert set(args["given"]) == named | {"kernel"}
    texts, arrays = read_tensors(made.folder / "model.safetensors")
    assert json.loads(texts["spec"])["method"] == method
    assert len(arrays["dictionary"]) == made.json["atoms"]
    train, _ = sides(example.split)
    assert made.json["training_pixels"] == len(train)
    if method.startswith("src"):
        assert arrays["dictionary"] == \
            pytest.approx(normalized(example).reshape(1600, 20)[train], abs=1e-12)
        assert arrays["weights"].size == arrays["bias"].size == 0


@pytest.mark.parametrize("method", METHODS)
def test_map_of_a_method_is_what_its_training_tested(
        hyperatom: Command, example: Example, trained: Callable[[str], Made], validate: Validate,
        method: str) -> None:
    made = trained(method)
    maps = classify(hyperatom, example.scene, made.folder, "--threads", 2)
    validate("classify", maps.json)
    found, (_, test) = read(maps.map), sides(example.split)
    assert ((found > 0) == usable(example.scene)).all()
    result = hyperatom("evaluate", maps.map, "--labels", example.labels, "--split", example.split,
                       "--json").json
    assert result == made.json["test"]
    expected = accuracy_of(found.flat[test], read(example.labels).flat[test], 4)
    expect_accuracy(result, expected)
    assert expected["overall"] > 0.5
    same_maps(classify(hyperatom, example.scene, made.folder / "model.safetensors", "--threads", 1,
                       "--ram", 1, name="again"), maps)
    scores, valid = read(maps.scores), usable(example.scene)
    assert (scores.argmax(axis=0) + 1)[valid].tolist() == found[valid].tolist()
    novelty = read(maps.novelty)[valid]
    if method.startswith("svm"):
        assert np.isnan(novelty).all() and maps.json["active_atoms"] == 0
    else:
        assert 0 <= novelty.min() and novelty.max() <= 1 and maps.json["active_atoms"] > 0
    expect_explained(hyperatom, example, made, maps, validate)


def expect_explained(hyperatom: Command, example: Example, made: Made, maps: Maps,
                     validate: Validate) -> None:
    """A pixel, as the map has it."""
    row, col = telling_pixels(usable(example.scene))[-1]
    words = ["explain", example.scene, "-m", made.folder, "--pixel", f"{row},{col}"]
    why = hyperatom(*words, "--json").json
    validate("explain", why)
    assert why["class"] == read(maps.map)[row, col]
    assert np.float32([each["score"] for each in why["scores"]]).tolist() == \
        read(maps.scores)[:, row, col].tolist()
    assert len(why["window"]) == made.json["window"]
    if made.json["method"].startswith("svm"):  # which has no code
        assert [why[key] for key in ("novelty", "gap", "converged")] == [None, None, None]
        assert why["atoms"] == [] and why["reconstruction"] is None
    else:
        assert why["novelty"] is not None and why["converged"] and why["atoms"]
    assert not re.search(r"\bnan\b|\binf\b", hyperatom(*words).stdout)


def mnf_metric(cube: np.ndarray, valid: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Mean of the unit pixels, and mix' mix of `--normalize mnf` (components have no sign): neighbours
    in all rows, and in rows 2k and 2k + 1."""
    def pairs(a: np.ndarray, b: np.ndarray, both: np.ndarray) -> np.ndarray:
        return (a - b)[both]
    across = pairs(cube[:, 1:], cube[:, :-1], valid[:, 1:] & valid[:, :-1])
    down = pairs(cube[1::2], cube[:-1:2], valid[1::2] & valid[:-1:2])
    differences = np.concatenate([across, down])
    sizes = (differences**2 / (differences**2).sum(axis=0)).sum(axis=1)
    least = differences[sizes <= np.sort(sizes)[len(sizes) // 2]]
    noise = least.T @ least / (2 * len(least))
    noise += 1e-9 * np.trace(noise) / len(noise) * np.eye(len(noise))
    pixels = cube[valid]
    whiten = np.linalg.inv(np.linalg.cholesky(noise))
    white = (pixels - pixels.mean(axis=0)) @ whiten.T
    power, turn = np.linalg.eigh(white.T @ white / len(white))
    floor = min(power[len(power) // 2], 2)
    weight = np.where(power > floor, np.maximum(1 - floor / power, 0.01), 0)
    mix = whiten.T @ turn
    return pixels.mean(axis=0), mix @ np.diag(weight) @ mix.T, int((power > floor).sum())


def test_mnf_is_what_numpy_makes_of_the_scene(hyperatom: Command, example: Example) -> None:
    mean, metric, features = mnf_metric(normalized(example), usable(example.scene))
    made = hyperatom(*with_split("train", example, *settings_of("src-l12-k", "mnf"), "-o", "run",
                                 "--json")).json
    texts, arrays = read_tensors(hyperatom.folder / "run/model.safetensors")
    mix = arrays["norm.mix"].T  # column by column in the file
    assert json.loads(texts["spec"])["normalizer"] == "mnf"
    assert arrays["norm.offset"] == pytest.approx(mean, abs=1e-12)
    assert mix.shape == (features, 20) and arrays["dictionary"].shape[1] == features
    assert mix.T @ mix == pytest.approx(metric, rel=1e-6, abs=1e-6 * np.abs(metric).max())
    train, _ = sides(example.split)
    atoms = (normalized(example).reshape(1600, 20)[train] - mean) @ mix.T
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    assert arrays["dictionary"] == pytest.approx(atoms, abs=1e-9)

    maps = classify(hyperatom, example.scene, hyperatom.folder / "run", "--threads", 2)
    result = hyperatom("evaluate", maps.map, "--labels", example.labels, "--split", example.split,
                       "--json").json
    assert result == made["test"] and result["overall"] > 0.5
    same_maps(classify(hyperatom, example.scene, hyperatom.folder / "run", "--threads", 1, "--ram",
                       1, name="again"), maps)


@pytest.mark.parametrize("method", ["svm-l", "src-l12-k"])
def test_finished_run_without_steps_can_be_resumed(hyperatom: Command, method: str,
                                                   trained: Callable[[str], Made]) -> None:
    made = trained(method)
    run = shutil.copytree(made.folder, hyperatom.folder / "run")
    (run / "model.safetensors").unlink()
    assert hyperatom("train", "--resume", "run", "--json").json["test"] == made.json["test"]
    for name in names_in(made.folder) - {"log.txt"}:
        assert (run / name).read_bytes() == (made.folder / name).read_bytes(), name


@pytest.mark.parametrize("method", ["svm-l", "svm-k"])
def test_svm_counts_the_votes_of_pairs(hyperatom: Command, example: Example,
                                       trained: Callable[[str], Made], method: str) -> None:
    made, valid = trained(method), usable(example.scene)
    _, model = read_tensors(made.folder / "model.safetensors")
    K = kernel_of(method)(normalized(example)[valid], model["dictionary"])
    votes, pair = np.zeros((len(K), 4)), 0
    for i in range(4):
        for j in range(i + 1, 4):
            decision = pair_decision(model, K, i, j) - model["bias"][pair]
            assert abs(decision).min() > 1e-12  # that rounding decides nothing
            votes[:, i] += decision > 0
            votes[:, j] += decision < 0
            pair += 1
    maps = classify(hyperatom, example.scene, made.folder)
    assert read(maps.scores)[:, valid].T == pytest.approx(votes / 3, abs=1e-6)
    assert read(maps.map)[valid].tolist() == (votes.argmax(axis=1) + 1).tolist()


def pair_decision(model: dict[str, np.ndarray], K: np.ndarray, i: int, j: int) -> np.ndarray:
    """Of class i against class j > i, without the offset: LIBSVM keeps the weights of a class
    against another in the place of that other among the others."""
    of, W = model["atom.class"], model["weights"]
    return K[:, of == i] @ W[of == i, j - 1] + K[:, of == j] @ W[of == j, i]


@pytest.mark.parametrize("method", ["svm-l", "svm-k"])
def test_svm_is_optimal(example: Example, trained: Callable[[str], Made], method: str) -> None:
    """The conditions of its dual problem, for every pair of classes: y f(x) is 1 at support vectors
    within the box, at most 1 where alpha is C, at least 1 where it is 0."""
    _, model = read_tensors(trained(method).folder / "model.safetensors")
    train, _ = sides(example.split)
    X, y = normalized(example).reshape(1600, 20)[train], read(example.labels).flat[train] - 1
    D, of = model["dictionary"], model["atom.class"]
    K = kernel_of(method)(X, D)
    sample = abs(X[None] - D[:, None]).max(axis=2).argmin(axis=1)
    assert D == pytest.approx(X[sample], abs=1e-12) and (y[sample] == of).all()
    pair = 0
    for i in range(4):
        for j in range(i + 1, 4):
            margin = np.where(y == i, 1, -1) * (pair_decision(model, K, i, j) -
                                                model["bias"][pair])
            alpha = np.zeros(len(X))
            for atom, k in enumerate(sample):
                if of[atom] in (i, j):
                    alpha[k] = model["weights"][atom, j - 1 if of[atom] == i else i]
            assert alpha.sum() == pytest.approx(0, abs=1e-9)  # with the signs of the sides
            alpha[y == j] *= -1
            here = (y == i) | (y == j)
            assert alpha.min() >= 0 and alpha.max() <= COST + 1e-12
            assert margin[here & (alpha > 0)].max() <= 1 + 1e-3
            assert margin[here & (alpha < COST)].min() >= 1 - 1e-3
            pair += 1


@pytest.mark.parametrize("method", ["svm-l", "svm-k"])
def test_svm_is_that_of_scikit_learn(hyperatom: Command, example: Example,
                                     trained: Callable[[str], Made], method: str) -> None:
    svm = pytest.importorskip("sklearn.svm", reason="scikit-learn is not installed")
    train, _ = sides(example.split)
    X, valid = normalized(example), usable(example.scene)
    labels = read(example.labels)
    machine = svm.SVC(C=COST, kernel="rbf" if method == "svm-k" else "linear", gamma=1 / 0.1)
    machine.fit(X.reshape(1600, 20)[train], labels.flat[train])
    hyperatom("classify", example.scene, "-m", trained(method).folder, "-o", "map.tif")
    found = read(hyperatom.folder / "map.tif")[valid]
    assert (machine.predict(X[valid]) == found).mean() > 0.998


def joint_codes(K: np.ndarray, B: np.ndarray, lambda1: float) -> np.ndarray:
    """Minimises tr(A' K A) / 2 - tr(B' A) + lambda1 * sum of the lengths of the rows of A by
    proximal gradient steps with momentum. B, A: atoms x windows x pixels of a window."""
    lowest, *_, highest = np.linalg.eigvalsh(K)
    root = np.sqrt(lowest / highest)
    A = ahead = np.zeros_like(B)
    for _ in range(5000):
        moved = ahead - (np.tensordot(K, ahead, axes=1) - B) / highest
        length = np.linalg.norm(moved, axis=2, keepdims=True)
        new = moved * np.maximum(0, 1 - lambda1 / highest / np.maximum(length, 1e-300))
        ahead, A, step = new + (1 - root) / (1 + root) * (new - A), new, abs(new - A).max()
        if step < 1e-11:
            return A
    raise AssertionError("no convergence")


@pytest.mark.parametrize("method", [method for method in METHODS if method.startswith("src")])
def test_src_compares_the_residuals_of_classes(hyperatom: Command, example: Example,
                                               trained: Callable[[str], Made],
                                               method: str) -> None:
    made, valid, kernel = trained(method), usable(example.scene), kernel_of(method)
    _, model = read_tensors(made.folder / "model.safetensors")
    D, of = model["dictionary"], model["atom.class"]
    X = normalized(example)
    places = np.argwhere(valid)[::100].tolist() + telling_pixels(valid)
    windows = np.array([[X[tuple(near)] for near in window_of(valid, row, col, window_size(method))]
                        for row, col in places])
    K = kernel(D, D)
    B = kernel(D, windows.reshape(-1, 20)).reshape(len(D), *windows.shape[:2])
    A = joint_codes(K + LAMBDA2 * np.eye(len(K)), B, LAMBDA1)
    scores = np.empty((len(places), 4))
    for c in range(4):
        own = of == c
        fit = 2 * (B[own] * A[own]).sum(axis=(0, 2)) - \
            np.einsum("aps,ab,bps->p", A[own], K[np.ix_(own, own)], A[own])
        scores[:, c] = fit / windows.shape[1] - 1  # k(x, x) is 1
    maps = classify(hyperatom, example.scene, made.folder)
    rows, cols = np.transpose(places)
    assert read(maps.scores)[:, rows, cols].T == pytest.approx(scores, abs=1e-5)
    best = np.sort(scores, axis=1)
    clear = best[:, -1] - best[:, -2] > 1e-3
    assert clear.mean() > 0.8
    assert (read(maps.map)[rows, cols] == scores.argmax(axis=1) + 1)[clear].all()


@pytest.mark.parametrize("method, chosen, fixed", [
    ("svm-l", ["cost"], []), ("svm-k", ["kernel", "cost"], []), ("src-l1-l", ["lambda1"], []),
    ("src-l12-k", ["kernel", "lambda1"], ["--window", 9]),
])
def test_settings_that_are_not_given_are_tuned(hyperatom: Command, example: Example, method: str,
                                               chosen: list[str], fixed: list[object]) -> None:
    result = hyperatom(*with_split("train", example, "--method", method, "-o", "run",
                                   "--json")).json
    tuned = hyperatom(*with_split("tune", example, "--method", method, *fixed, "-o", "tuned",
                                  "--json")).json
    assert [each["option"] for each in result["chosen"]] == chosen
    assert {each["option"]: each["value"] for each in result["chosen"]} == tuned["options"]
    for each in result["chosen"]:
        assert f"best of {tuned['candidates']} by cross-validation" in each["reason"]
        assert f"OA {100 * tuned['overall']:.2f} %" in each["reason"]


@pytest.mark.parametrize("method, words, named", [
    ("svm-k", ["--epochs", 3], "--epochs"),
    ("svm-k", ["--lambda1", 0.1], "--lambda1"),
    ("svm-l", ["--loss", "softmax"], "--loss"),
    ("svm-l", ["--balance", 0.5], "--balance"),
    ("svm-l", ["--no-intercept"], "--no-intercept"),
    ("svm-l", ["--window", 9], "--method svm-l means a window of 1, not 9"),
    ("svm-l", ["--kernel", KERNEL], "--method svm-l means the linear kernel, not gaussian"),
    ("svm-k", ["--kernel", "linear"], "--method svm-k"),
    ("svm-k", ["--kernel", "polynomial(degree=2,offset=1)"], "polynomial"),
    ("src-l1-l", ["--nu", 0.1], "--nu"),
    ("src-l1-k", ["--cost", 3], "--cost"),
    ("src-l1-k", ["--window", 9], "--method src-l1-k means a window of 1, not 9"),
    ("src-l12-l", ["--window", 1], "--method src-l12-l means a window of more than 1, not 1"),
    ("src-l12-k", ["--atoms-per-class", 3], "--atoms-per-class"),
    ("sdl-l1-k", ["--cost", 3], "--cost"),
    ("sdl-l12-k", ["--cost", 3], "--cost"),
])
@pytest.mark.parametrize("verb", ["train", "tune"])
def test_options_that_a_method_does_not_heed_are_refused(
        hyperatom: Command, example: Example, verb: str, method: str, words: list[object],
        named: str) -> None:
    done = hyperatom(*with_split(verb, example, "--method", method, *words, "-o", "out"), code=2)
    assert named in done.stderr and done.stdout == ""
    assert names_in(hyperatom.folder) == set()


# ---- tune


@pytest.fixture(scope="session")
def tuning(binary: Path, example: Example, tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("tuning")
    done = Command(binary, folder)(*with_split("tune", example, "--method", "svm-k", "-o", "tuned",
                                               "--json"))
    return Made(folder / "tuned", done.json)


def trials_in(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "trials.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["format"] == "hyperatom-trials"
    return [json.loads(line) for line in lines[1:]]


def shares_of(trials: list[dict[str, Any]]) -> dict[str, float]:
    total, right = (np.sum([each[key] for each in trials], axis=0) for key in ("total", "right"))
    classes = (right / total)[total > 0]
    roots = np.sqrt(total[total > 0])
    return {"overall": right.sum() / total.sum(), "average": classes.mean(),
            "balanced": (classes * roots).sum() / roots.sum()}


def test_tuning_folder_holds_what_is_documented(tuning: Made, example: Example,
                                                validate: Validate) -> None:
    validate("tune", tuning.json)
    assert names_in(tuning.folder) == TUNING_FILES
    assert tuning.json["folder"] == "tuned" and tuning.json["table"] == "tuned/table.csv"
    assert (tuning.folder / "split.json").read_bytes() == example.split.read_bytes()
    args = json.loads((tuning.folder / "args.json").read_text())
    validate("args", args)
    assert args["format"] == "hyperatom-tuning" and args["given"] == ["method"]
    assert args["more"] == {"grid": [], "folds": 3, "fold-blocks": 0, "fold-buffer": 0}


def test_table_of_a_tuning_is_what_it_tells(tuning: Made) -> None:
    header, *rows = read_csv(tuning.folder / "table.csv")
    assert header == ["rank", "kernel", "cost", "round", "overall", "average", "balanced"]
    assert [int(row[0]) for row in rows] == list(range(1, len(rows) + 1))
    tried = tuning.json["tried"]
    assert len(rows) == len(tried) == tuning.json["candidates"] == 30
    for row, each in zip(rows, tried, strict=True):
        assert row[1:3] == [each["options"]["kernel"], each["options"]["cost"]]
        assert int(row[3]) == each["round"]
        assert [float(cell) for cell in row[4:]] == \
            [each["overall"], each["average"], each["balanced"]]
    assert len({tuple(row[1:3]) for row in rows}) == 30
    for key in ("options", "overall", "average"):
        assert tuning.json[key] == tried[0][key]


@pytest.mark.parametrize("method, words, rounds", [
    ("svm-k", [], 30 * [1]),
    ("sdl-l1-l", ["--epochs", 2], 2 * [3] + 2 * [2] + 8 * [1]),
])
def test_tuning_ranks_by_its_trials(hyperatom: Command, example: Example, method: str,
                                    words: list[object], rounds: list[int]) -> None:
    """Methods with steps go on by thirds; every round holds every training pixel out once."""
    result = hyperatom(*with_split("tune", example, "--method", method, *words, "-o", "tuned",
                                   "--json")).json
    tried, trials = result["tried"], trials_in(hyperatom.folder / "tuned")
    assert [each["round"] for each in tried] == rounds
    assert result["rounds"] == max(rounds)
    assert result["seconds"] == pytest.approx(sum(each["seconds"] for each in trials))
    found: dict[int, list[dict[str, float]]] = {number: [] for number in set(rounds)}
    for candidate in range(len(rounds)):
        own = [each for each in trials if each["candidate"] == candidate]
        last = max(each["round"] for each in own)
        for number in range(last + 1):
            of_round = [each for each in own if each["round"] == number]
            assert sorted(each["fold"] for each in of_round) == [0, 1, 2]
            assert np.sum([each["total"] for each in of_round], axis=0).tolist() == 4 * [10]
        found[last + 1].append(shares_of([each for each in own if each["round"] == last]))
    for number, shares in found.items():
        told = [each for each in tried if each["round"] == number]
        for key in ("overall", "average", "balanced"):
            assert sorted(each[key] for each in told) == \
                pytest.approx(sorted(each[key] for each in shares))
        balanced = [each["balanced"] for each in told]
        assert balanced == sorted(balanced, reverse=True)


@pytest.mark.parametrize("method, words", [
    ("svm-k", []), ("src-l12-l", []), ("sdl-l1-l", ["--epochs", 3]),
    ("sdl-l1-l", ["--epochs", 3, "--grid", "balance=0.25"]),
    ("sdl-l1-l", ["--epochs", 3, "--grid", "intercept=true"]),
    ("sdl-l1-l", ["--epochs", 3, "--grid", "intercept=false"]),
    ("src-l1-l", ["--grid", "lambda1=0.123456789"]),
], ids=["svm-k", "src-l12-l", "sdl-l1-l", "balance", "intercept", "no-intercept", "digits"])
def test_tuned_options_can_be_typed(hyperatom: Command, example: Example, method: str,
                                    words: list[object]) -> None:
    text = hyperatom(*with_split("tune", example, "--method", method, *words, "-o", "tuned")).stdout
    flags = shlex.split(next(line for line in text.splitlines() if line.startswith("--method ")))
    told = hyperatom("tune", "--resume", "tuned", "--json").json
    for option, value in told["options"].items():
        if value not in ("true", "false"):
            assert flags[flags.index(f"--{option}") + 1] == value
    epochs = words[:2] if "--epochs" in words else []
    hyperatom(*with_split("train", example, *flags, *epochs, "-o", "run"))
    args = json.loads((hyperatom.folder / "run/args.json").read_text())
    assert args["inputs"]["method"] == method
    for word in words:
        if "=" in str(word):
            option, value = str(word).split("=")
            assert args["options"][option] == json.loads(value)


def test_tuning_depends_neither_on_jobs_nor_on_threads(hyperatom: Command,
                                                       example: Example) -> None:
    words = with_split("tune", example, "--method", "sdl-l1-k", "--epochs", 5, "--grid", "nu=1e-4")
    tables = []
    for name, more in {"a": ["--jobs", 1, "--threads", 1], "b": ["--jobs", 2],
                       "c": ["--jobs", 3, "--threads", 2]}.items():
        hyperatom(*words, *more, "-o", name)
        tables.append((hyperatom.folder / name / "table.csv").read_bytes())
    assert tables[0] == tables[1] == tables[2]
    assert tables[0].count(b"\n") == 19


def test_seed_deals_the_folds(hyperatom: Command, example: Example, tuning: Made) -> None:
    words = with_split("tune", example, "--method", "svm-k")
    hyperatom(*words, "--seed", 1, "-o", "other")
    hyperatom(*words, "-o", "same")
    table, same, other = ((folder / "table.csv").read_bytes() for folder in
                          (tuning.folder, hyperatom.folder / "same", hyperatom.folder / "other"))
    assert table == same != other


def test_blocks_are_folds(hyperatom: Command, example: Example) -> None:
    """Whole blocks are held out, but for classes that would have nothing left to learn from."""
    words = with_split("tune", example, "--method", "svm-l", "--grid", "cost=100", "--json")
    told = {name: hyperatom(*words, *more, "-o", name).json
            for name, more in {"random": [], "blocks": ["--fold-blocks", 5],
                               "buffer": ["--fold-blocks", 5, "--fold-buffer", 3]}.items()}
    assert [each["folds"] for each in told.values()] == [
        "3 random folds", "3 folds of blocks of 5 pixels, buffer 0",
        "3 folds of blocks of 5 pixels, buffer 3"]
    totals = {name: np.array([each["total"] for each in
                              sorted(trials_in(hyperatom.folder / name),
                                     key=lambda trial: trial["fold"])]) for name in told}
    assert totals["random"].sum(axis=0).tolist() == 4 * [10]
    assert (totals["random"].max(axis=0) - totals["random"].min(axis=0)).max() <= 1
    assert totals["blocks"].tolist() != totals["random"].tolist()
    train, _ = sides(example.split)
    labels, block = read(example.labels).flat[train], train // 40 // 5 * 8 + train % 40 // 5
    for c, per_fold in enumerate(totals["blocks"].T, start=1):
        sizes = np.unique(block[labels == c], return_counts=True)[1]
        assert set(per_fold) <= {int(total) for total in sums_of(sizes)}
    held = totals["buffer"] > 0
    assert (totals["buffer"][held] == totals["blocks"][held]).all() and held.any()


def sums_of(sizes: np.ndarray) -> set[int]:
    """What some of them add up to."""
    sums = {0}
    for size in sizes:
        sums |= {before + size for before in sums}
    return sums


@pytest.mark.parametrize("method, candidates", [
    ("svm-l", 11), ("svm-k", 66), ("src-l1-l", 3), ("src-l1-k", 30), ("src-l12-l", 3),
    ("src-l12-k", 30), ("sdl-l1-l", 24), ("sdl-l1-k", 240), ("sdl-l12-l", 24), ("sdl-l12-k", 240),
])
@pytest.mark.usefixtures("slow")
def test_grid_of_the_paper(hyperatom: Command, example: Example, method: str,
                           candidates: int) -> None:
    hyperatom("synth", "-o", "scene.img", "--labels", "labels.tif", *TINY_SCENE)
    hyperatom("split", "labels.tif", "--per-class", 6, "-o", "split.json")
    few = ["--epochs", 1] if method.startswith("sdl") else []
    told = hyperatom("tune", "scene.img", "--labels", "labels.tif", "--split", "split.json",
                     "--method", method, "--grid", "paper", *few, "-o", "tuned", "--json").json
    assert told["candidates"] == candidates

    def values(option: str) -> set[float]:
        return {float(each["options"][option]) for each in told["tried"]}

    kernels = {each["options"]["kernel"] for each in told["tried"]} if method[-1] == "k" else set()
    if method.startswith("svm"):
        assert values("cost") == {2.0**power for power in range(-5, 16, 2)}
        assert len(kernels) in (0, 6)
        return
    assert values("lambda1") == {0.1, 0.01, 0.001}
    assert kernels in (set(), {f"gaussian(sigma={half / 2:g})" for half in range(1, 11)})
    if method.startswith("sdl"):
        assert values("nu") == {10.0**power for power in range(-8, 0)}


def test_own_axes_take_the_place_of_the_grids(hyperatom: Command, example: Example,
                                              tuning: Made) -> None:
    median = float(re.search(r"sigma=([\d.]+)",  # the tuning has 0.125x, 0.5x, ... 32x
                             max(tuning.json["tried"], key=sigma_of)["options"]["kernel"])[1]) / 32
    told = hyperatom(*with_split("tune", example, "--method", "svm-k", "--grid", "sigma=1x,0.25",
                                 "--grid", "cost=7", "-o", "tuned", "--json")).json
    assert {each["options"]["cost"] for each in told["tried"]} == {"7"}
    assert sorted(map(sigma_of, told["tried"])) == \
        pytest.approx(sorted([0.25, median]), rel=0.01)
    fixed = hyperatom(*with_split("tune", example, "--method", "svm-k", "--cost", 7, "-o", "fixed",
                                  "--json")).json
    assert fixed["candidates"] == 5 and fixed["options"].keys() == {"kernel"}


def sigma_of(tried: dict[str, Any]) -> float:
    return float(tried["options"]["kernel"][len("gaussian(sigma="):-1])


@pytest.mark.parametrize("words, named", [
    (["--grid", "nonsense"], "nonsense"),
    (["--grid", "colour=1,2"], "colour"),
    (["--grid", "kernel=linear"], "kernel"),
    (["--grid", "cost=1,,2"], "cost=1,,2"),
    (["--grid", "cost="], "cost="),
    (["--grid", "cost=1,-1"], "cost"),
    (["--grid", "cost=cheap"], "cheap"),
    (["--grid", "sigma=-2x"], "sigma"),
    (["--grid", "lambda1=0.1"], "lambda1"),
    (["--grid", "cost=1", "--cost", 3], "--cost"),
    (["--grid", "sigma=1", "--kernel", KERNEL], "--kernel"),
    (["--cost", 3, "--kernel", KERNEL], "nothing to tune"),
    (["--folds", 1], "--folds"),
    (["--fold-buffer", 2], "buffer"),
    (["--method", "sdl-l1-l", "--grid", "loss=2x"], "2x"),
    (["--method", "sdl-l12-l", "--grid", "window=1"], "window"),
    (["--method", "sdl-l12-l", "--grid", "window=9,many"], "many"),
], ids=lambda words: " ".join(map(str, words)) if isinstance(words, list) else "")
def test_wrong_tunings_are_refused_by_name(hyperatom: Command, example: Example,
                                           words: list[object], named: str) -> None:
    method = [] if "--method" in words else ["--method", "svm-k"]
    done = hyperatom(*with_split("tune", example, *method, *words, "-o", "tuned"), code=2)
    assert named in done.stderr and done.stdout == ""
    assert names_in(hyperatom.folder) == set()


def test_wrong_value_in_a_grid_leaves_the_old_tuning(hyperatom: Command, example: Example,
                                                     tuning: Made) -> None:
    shutil.copytree(tuning.folder, hyperatom.folder / "tuned")
    hyperatom(*with_split("tune", example, "--method", "svm-k", "--grid", "cost=cheap", "-o",
                          "tuned", "--overwrite"), code=2)
    assert names_in(hyperatom.folder / "tuned") == TUNING_FILES


# ---- tune, interrupted and killed


@pytest.fixture(scope="session")
def whole_tuning(binary: Path, example: Example, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that nothing disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    Command(binary, folder)(*with_split("tune", example, *TRIALS, "-o", "tuned"))
    return folder / "tuned"


def expect_same_tuning(folder: Path, whole: Path) -> None:
    assert names_in(folder) == TUNING_FILES
    assert (folder / "table.csv").read_bytes() == (whole / "table.csv").read_bytes()

    def in_order(trials: list[dict[str, Any]]) -> list[Any]:
        return sorted([[each[key] for key in ("round", "fold", "candidate", "total", "right")]
                       for each in trials])

    assert in_order(trials_in(folder)) == in_order(trials_in(whole))


def wait_for_lines(path: Path, lines: int, process: subprocess.Popen[str]) -> None:
    wait_for(lambda: path.exists() and path.read_bytes().count(b"\n") >= lines, process)


def test_killed_tuning_goes_on(hyperatom: Command, example: Example, whole_tuning: Path) -> None:
    tuned = hyperatom.folder / "tuned"
    process = hyperatom.start(*with_split("tune", example, *TRIALS, "--jobs", 1, "-o", "tuned"))
    for lines in (5, 15, 30):  # in the first round, and in the second
        wait_for_lines(tuned / "trials.jsonl", lines, process)
        assert stop(process, signal.SIGKILL) == -signal.SIGKILL
        assert not (tuned / "table.csv").exists()
        process = hyperatom.start("tune", "--resume", "tuned", "--jobs", 1)
    assert process.wait(timeout=120) == 0
    expect_same_tuning(tuned, whole_tuning)


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_interrupted_tuning_goes_on(hyperatom: Command, example: Example, whole_tuning: Path,
                                    number: signal.Signals) -> None:
    tuned = hyperatom.folder / "tuned"
    process = hyperatom.start(*with_split("tune", example, *TRIALS, "--jobs", 1, "-o", "tuned"))
    wait_for_lines(tuned / "trials.jsonl", 8, process)
    assert stop(process, number) == 130
    assert names_in(tuned) == TUNING_FILES - {"table.csv"}
    assert "hyperatom tune --resume tuned" in (tuned / "log.txt").read_text()
    hyperatom("tune", "--resume", "tuned", "--jobs", 2)
    expect_same_tuning(tuned, whole_tuning)


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("keep", [0, 1, 20, -1])
def test_line_that_a_kill_cut_short_is_made_again(hyperatom: Command, whole_tuning: Path,
                                                  keep: int) -> None:
    """The last line of trials.jsonl to so many bytes: -1 is all but the line break."""
    tuned = shutil.copytree(whole_tuning, hyperatom.folder / "tuned")
    (tuned / "table.csv").unlink()
    lines = (tuned / "trials.jsonl").read_text().splitlines(keepends=True)[:31]
    (tuned / "trials.jsonl").write_text("".join(lines[:-1]) + lines[-1][:keep])
    hyperatom("tune", "--resume", "tuned")
    expect_same_tuning(tuned, whole_tuning)


def test_finished_tuning_can_be_resumed(hyperatom: Command, tuning: Made) -> None:
    tuned = shutil.copytree(tuning.folder, hyperatom.folder / "tuned")
    told = hyperatom("tune", "--resume", "tuned", "--json").json
    assert told.pop("seconds") == pytest.approx(tuning.json["seconds"])
    assert told == {key: value for key, value in tuning.json.items() if key != "seconds"}
    for name in TUNING_FILES - {"log.txt"}:
        assert (tuned / name).read_bytes() == (tuning.folder / name).read_bytes(), name


def test_trials_of_other_data_are_refused(hyperatom: Command, example: Example,
                                          tuning: Made) -> None:
    """The labels have changed since."""
    ids = read(example.labels)
    write_labels(hyperatom.folder / "labels.tif", example.labels, ids)
    hyperatom("tune", example.scene, "--labels", "labels.tif", "--split", example.split,
              "--method", "svm-k", "-o", "tuned")
    turned = np.array([0, 2, 1, 3, 4], np.uint8)[ids]
    write_labels(hyperatom.folder / "labels.tif", example.labels, turned)
    before = (hyperatom.folder / "tuned/trials.jsonl").read_bytes()
    message = hyperatom("tune", "--resume", "tuned", code=3).stderr
    assert "tuned/trials.jsonl" in message and "not the trials of this tuning" in message
    assert (hyperatom.folder / "tuned/trials.jsonl").read_bytes() == before
    # With the labels as they were they are its trials again, and so are those of the same data.
    write_labels(hyperatom.folder / "labels.tif", example.labels, ids)
    shutil.copy(tuning.folder / "trials.jsonl", hyperatom.folder / "tuned/trials.jsonl")
    hyperatom("tune", "--resume", "tuned")


# ---- compare


@pytest.fixture(scope="session")
def comparison(binary: Path, example: Example, tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("comparison")
    done = Command(binary, folder)(
        "compare", example.scene, "--labels", example.labels, "--per-class", 10, "--repeats", 2,
        "--methods", "src-l12-l,svm-k", "--grid", "window=9,25", "--grid", "lambda1=1x,0.5x", "-o",
        "compared", "--json")
    return Made(folder / "compared", done.json)


def cells_of(told: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for method in told["methods"] for cell in method["cells"]]


def without_seconds(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in cell.items() if key not in SECONDS} for cell in cells]


def folder_of(folder: Path, cell: dict[str, Any]) -> Path:
    return folder / f"split-{cell['repeat']}" / cell["method"]


def test_comparison_folder_holds_what_is_documented(comparison: Made, validate: Validate) -> None:
    validate("compare", comparison.json)
    assert names_in(comparison.folder) == {
        "args.json", "cells.csv", "log.txt", "split-1", "split-2", "table.csv", "table.json",
        "table.md", "table.tex"}
    for split in ("split-1", "split-2"):
        assert names_in(comparison.folder / split) == {"split.json", "src-l12-l", "svm-k"}
    assert json.loads((comparison.folder / "table.json").read_text()) == comparison.json
    cells = cells_of(comparison.json)
    assert [(cell["method"], cell["repeat"]) for cell in cells] == \
        [("svm-k", 1), ("svm-k", 2), ("src-l12-l", 1), ("src-l12-l", 2)]  # the paper's order
    for cell in cells:
        assert names_in(folder_of(comparison.folder, cell)) == CELL_FILES
        written = json.loads((folder_of(comparison.folder, cell) / "cell.json").read_text())
        assert written == cell
    args = json.loads((comparison.folder / "args.json").read_text())
    validate("args", args)
    assert args["format"] == "hyperatom-comparison"
    assert args["more"]["methods"] == ["src-l12-l", "svm-k"] and args["more"]["repeats"] == 2


def test_spread_is_that_of_the_cells(comparison: Made) -> None:
    for method in comparison.json["methods"]:
        for key in (*ACCURACIES, "atoms", *SECONDS):
            values = [cell[key] for cell in method["cells"]]
            assert method[key]["mean"] == pytest.approx(np.mean(values))
            assert method[key]["deviation"] == pytest.approx(np.std(values, ddof=1))


def test_tables_of_a_comparison_agree(hyperatom: Command, comparison: Made) -> None:
    methods, folder = comparison.json["methods"], comparison.folder
    header, *rows = read_csv(folder / "table.csv")
    for row, method in zip(rows, methods, strict=True):
        found = dict(zip(header, row, strict=True))
        assert (found["method"], found["repeats"]) == (method["method"], "2")
        for key in ("overall", "average", "kappa"):
            assert float(found[key]) == method[key]["mean"]
            assert float(found[f"{key}_deviation"]) == method[key]["deviation"]
        for key in ("atoms", "leakage", *SECONDS):
            assert float(found[key]) == method[key]["mean"]
        assert found["paper_overall"] == found["paper_average"] == ""
    header, *rows = read_csv(folder / "cells.csv")
    written = [dict(zip(header, row, strict=True)) for row in rows]
    assert [(row["repeat"], row["method"]) for row in written] == \
        [("1", "src-l12-l"), ("1", "svm-k"), ("2", "src-l12-l"), ("2", "svm-k")]  # as they are made
    for cell in cells_of(comparison.json):
        row = next(row for row in written
                   if (row["method"], int(row["repeat"])) == (cell["method"], cell["repeat"]))
        assert row["settings"] == cell["settings"] and int(row["window"]) == cell["window"]
        for key in (*ACCURACIES, "atoms", *SECONDS):
            assert float(row[key]) == cell[key]
    markdown, tex = (folder / "table.md").read_text(), (folder / "table.tex").read_text()
    assert hyperatom("compare", "--resume", folder).stdout.startswith(markdown)
    assert tex.count(r"\\") == 3 and r"SRC-$\ell_{12}$-l & " in tex and "SVM-k & " in tex
    for method in methods:
        overall, average, kappa = ([method[key][part] for part in ("mean", "deviation")]
                                   for key in ("overall", "average", "kappa"))
        for text, sign, between in ((markdown, "±", " | "), (tex, r"$\pm$", " & ")):
            assert between.join([
                f"{100 * overall[0]:.2f} {sign} {100 * overall[1]:.2f}",
                f"{100 * average[0]:.2f} {sign} {100 * average[1]:.2f}",
                f"{kappa[0]:.4f} {sign} {kappa[1]:.4f}"]) in text
    assert "paper" not in markdown and "paper" not in tex


def test_splits_of_a_comparison_are_those_of_split(hyperatom: Command, example: Example,
                                                   comparison: Made) -> None:
    for seed, told in enumerate(comparison.json["splits"]):
        result = hyperatom("split", example.labels, "--per-class", 10, "--seed", seed, "-o",
                           f"{seed}.json", "--json").json
        assert {key: result[key] for key in told} == told
        assert (hyperatom.folder / f"{seed}.json").read_bytes() == \
            (comparison.folder / f"split-{seed + 1}/split.json").read_bytes()


def test_cells_are_what_classify_and_evaluate_find(hyperatom: Command, example: Example,
                                                   comparison: Made) -> None:
    for i, cell in enumerate(cells_of(comparison.json)):
        folder = folder_of(comparison.folder, cell)
        hyperatom("classify", example.scene, "-m", folder, "-o", f"{i}.tif")
        result = hyperatom("evaluate", f"{i}.tif", "--labels", example.labels, "--split",
                           folder.parent / "split.json", "--json").json
        assert {key: result[key] for key in ACCURACIES} == {key: cell[key] for key in ACCURACIES}
        assert result == json.loads((folder / "metrics.json").read_text())
        assert result["window"] == cell["window"]


def test_cells_are_what_train_makes_of_their_settings(hyperatom: Command, example: Example,
                                                      comparison: Made) -> None:
    for cell in cells_of(comparison.json):
        folder = folder_of(comparison.folder, cell)
        words = cell["settings"].split()
        flags = [word if i % 2 else f"--{word}" for i, word in enumerate(words)]
        result = hyperatom("train", example.scene, "--labels", example.labels, "--split",
                           folder.parent / "split.json", "--method", cell["method"], *flags,
                           "--seed", cell["repeat"] - 1, "-o", folder.name, "--overwrite",
                           "--json").json
        same_tensors(hyperatom.folder / folder.name / "model.safetensors",
                     folder / "model.safetensors")
        assert result["atoms"] == cell["atoms"] and result["window"] == cell["window"]


def test_given_split_is_repeated_with_other_seeds(hyperatom: Command, example: Example) -> None:
    told = hyperatom(*with_split("compare", example, "--repeats", 2, "--methods",
                                 "sdl-l1-l,svm-l", "--epochs", 2, "--lambda1", 0.04, "--nu", 1e-4,
                                 "--loss", "squared", "--cost", 50, "-o", "compared",
                                 "--json")).json
    assert [each["sha256"] for each in told["splits"]] == 2 * [example.split_json["sha256"]]
    svm, sdl = told["methods"]
    assert [cell["settings"] for cell in svm["cells"]] == 2 * [""]
    assert [cell["settings"] for cell in sdl["cells"]] == 2 * ["balance 0.5 refit true"]
    assert svm["overall"]["deviation"] == 0
    models = [read_tensors(folder_of(hyperatom.folder / "compared", cell) / "model.safetensors")[1]
              for cell in sdl["cells"]]
    assert models[0]["dictionary"].tobytes() != models[1]["dictionary"].tobytes()


def side_maps(folder: Path, example: Example, train: np.ndarray, test: np.ndarray) -> list[object]:
    """Two label maps and the words that name them."""
    ids = read(example.labels)
    for name, pixels in {"train": train, "test": test}.items():
        side = np.zeros_like(ids)
        side.flat[pixels] = ids.flat[pixels]
        write_labels(folder / f"{name}.tif", example.labels, side)
    return ["compare", example.scene, "--labels", "train.tif", "--test-labels", "test.tif"]


def test_classes_without_training_pixels_are_not_held_against_methods(
        hyperatom: Command, example: Example) -> None:
    train, test = sides(example.split)
    words = side_maps(hyperatom.folder, example,
                      train[read(example.labels).flat[train] != 4], test)
    told = hyperatom(*words, "--methods", "svm-l", "-o", "compared", "--json").json
    cell = cells_of(told)[0]
    metrics = json.loads((folder_of(hyperatom.folder / "compared", cell) /
                          "metrics.json").read_text())
    assert metrics["overall"] < metrics["known_classes"]["overall"]
    for key in ("overall", "average", "kappa"):
        assert cell[key] == metrics["known_classes"][key]


def test_comparison_without_a_kappa(hyperatom: Command, example: Example,
                                    validate: Validate) -> None:
    """All test pixels are of one class, and found: there is nothing to divide by."""
    train, test = sides(example.split)
    words = side_maps(hyperatom.folder, example, train,
                      test[read(example.labels).flat[test] == 4])
    done = hyperatom(*words, "--methods", "svm-l", "-o", "compared", "--json")
    validate("compare", done.json)
    assert cells_of(done.json)[0]["overall"] == 1 and cells_of(done.json)[0]["kappa"] is None
    text = hyperatom("compare", "--resume", "compared").stdout
    for name in ("table.csv", "table.md", "table.tex", "cells.csv"):
        text += (hyperatom.folder / "compared" / name).read_text()
    assert not re.search(r"\bnan\b", text)


@pytest.mark.parametrize("words, named", [
    (["--per-class", 10, "--methods", "svm-x"], "svm-x"),
    (["--per-class", 10, "--methods", "svm-k,svm-l,svm-k"], "svm-k twice"),
    (["--per-class", 10, "--methods", "svm-k,"], "--methods"),
    (["--per-class", 10, "--methods", "svm-k svm-l"], "svm-k svm-l"),
    (["--split", "SPLIT", "--train", 50], "--train"),
    (["--split", "SPLIT", "--blocks", 5], "--blocks"),
    (["--test-labels", "LABELS", "--fraction", 0.5], "--fraction"),
    ([], "--per-class"),
    (["--train", 50, "--fraction", 0.5], "--fraction"),
    (["--train", 100000], "--train"),
    (["--train", 50, "--repeats", 0], "--repeats"),
    (["--train", 50, "--paper", "salinas"], "--paper"),
    (["--train", 50, "--grid", "colour=1"], "colour"),
    (["--train", 50, "--methods", "svm-k", "--grid", "lambda1=1"], "lambda1"),
    (["--train", 50, "--methods", "svm-k", "--lambda1", 1], "--lambda1"),
    (["--train", 50, "--methods", "svm-k,sdl-l1-l", "--window", 9], "--window"),
    (["--train", 50, "--methods", "svm-k", "--grid", "cost=1", "--cost", 3], "--cost"),
    (["--train", 50, "--methods", "svm-k", "--grid", "cost=-1"], "cost"),
    (["--train", 50, "--methods", "svm-k", "--fold-buffer", 2], "buffer"),
    (["--train", 50, "--methods", "svm-l,svm-k", "--kernel", "linear"], "linear kernel"),
    (["--train", 50, "--methods", "svm-k,src-l12-l", "--window", 1], "window of more than 1"),
], ids=lambda words: " ".join(map(str, words)) if isinstance(words, list) else "")
def test_wrong_comparisons_are_refused_by_name(hyperatom: Command, example: Example,
                                               words: list[object], named: str) -> None:
    paths = {"SPLIT": example.split, "LABELS": example.labels}
    done = hyperatom("compare", example.scene, "--labels", example.labels, "-o", "compared",
                     *(paths.get(str(word), word) for word in words), code=2)
    assert named in done.stderr and done.stdout == ""
    assert names_in(hyperatom.folder) == set()


def test_overwriting_removes_the_old_comparison_and_nothing_else(
        hyperatom: Command, example: Example, comparison: Made) -> None:
    compared = shutil.copytree(comparison.folder, hyperatom.folder / "compared")
    for foreign in ("thesis.txt", "split-1/notes.txt", "split-2/svm-k/figure.png"):
        (compared / foreign).write_text("mine")
    words = with_split("compare", example, "--methods", "svm-l", "-o", "compared")
    assert "--overwrite" in hyperatom(*words, code=5).stderr
    assert (compared / "split-2/svm-k/cell.json").exists()
    hyperatom(*words, "--overwrite")
    files = {str(path.relative_to(compared)) for path in compared.rglob("*") if path.is_file()}
    assert files == {
        "args.json", "cells.csv", "log.txt", "table.csv", "table.json", "table.md", "table.tex",
        "thesis.txt", "split-1/split.json", "split-1/notes.txt", "split-2/svm-k/figure.png",
        *(f"split-1/svm-l/{name}" for name in CELL_FILES)}
    assert (compared / "split-1/notes.txt").read_text() == "mine"


@pytest.mark.parametrize("verb", ["train", "tune"])
def test_comparison_is_not_overwritten_in_part(hyperatom: Command, example: Example,
                                               comparison: Made, verb: str) -> None:
    """What another verb leaves of it must not be taken for a whole one."""
    shutil.copytree(comparison.folder, hyperatom.folder / "compared")
    words = with_split(verb, example, "--method", "svm-l", "-o", "compared")
    assert "compared" in hyperatom(*words, code=5).stderr
    hyperatom("compare", "--resume", "compared")


# ---- compare, interrupted and killed


@pytest.fixture(scope="session")
def whole_comparison(binary: Path, example: Example,
                     tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What one told that nothing disturbed."""
    return Command(binary, tmp_path_factory.mktemp("whole"))(
        "compare", example.scene, "--labels", example.labels, *LONG_CELL, "-o", "compared",
        "--json").json


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=lambda number: number.name)
def test_stopped_comparison_goes_on(hyperatom: Command, example: Example,
                                    whole_comparison: dict[str, Any],
                                    number: signal.Signals) -> None:
    compared = hyperatom.folder / "compared"
    process = hyperatom.start("compare", example.scene, "--labels", example.labels, *LONG_CELL,
                              "-o", "compared")
    wait_for((compared / "split-1/svm-l/cell.json").exists, process)
    first = (compared / "split-1/svm-l/cell.json").read_bytes()
    wait_for_lines(compared / "split-1/sdl-l1-k/trials.jsonl", 10, process)
    assert stop(process, number) == (130 if number == signal.SIGINT else -number)
    assert not (compared / "split-1/sdl-l1-k/cell.json").exists()
    assert [row[0] for row in read_csv(compared / "table.csv")] == ["method", "svm-l"]
    told = hyperatom("compare", "--resume", "compared", "--json").json
    assert without_seconds(cells_of(told)) == without_seconds(cells_of(whole_comparison))
    assert told["splits"] == whole_comparison["splits"]
    assert (compared / "split-1/svm-l/cell.json").read_bytes() == first
    assert json.loads((compared / "table.json").read_text()) == told


def test_finished_comparison_can_be_resumed(hyperatom: Command, comparison: Made) -> None:
    compared = shutil.copytree(comparison.folder, hyperatom.folder / "compared")
    told = hyperatom("compare", "--resume", "compared", "--json").json
    scene = Path(comparison.json["scene"])
    assert Path(told.pop("scene")) == scene
    assert told == {key: value for key, value in comparison.json.items() if key != "scene"}
    for path in comparison.folder.rglob("*"):
        if path.is_file() and path.name not in ("log.txt", "table.json"):
            name = path.relative_to(comparison.folder)
            assert (compared / name).read_bytes() == path.read_bytes(), name


def test_cell_of_a_comparison_is_made_again_where_it_is_missing(hyperatom: Command,
                                                                comparison: Made) -> None:
    """And what the killed one left of it does no harm."""
    compared = shutil.copytree(comparison.folder, hyperatom.folder / "compared")
    for name in ("cell.json", "metrics.json", "table.csv"):
        (compared / "split-2/svm-k" / name).unlink()
    (compared / "split-1/src-l12-l/cell.json").unlink()
    (compared / "split-1/src-l12-l/trials.jsonl").unlink()
    told = hyperatom("compare", "--resume", "compared", "--json").json
    assert without_seconds(cells_of(told)) == without_seconds(cells_of(comparison.json))


# ---- The paper's figures


PAPER = {  # overall and average accuracy in per cent, from the paper's tables
    "Table 1, Indian Pines": {"svm-l": (64.94, 56.53), "svm-k": (75.78, 61.40)},
    "Table 2, Pavia University": {"svm-l": (61.84, 65.09), "svm-k": (62.43, 72.14)},
}


def expect_paper(folder: Path, told: dict[str, Any], title: str) -> None:
    """The figures beside ours, in all files."""
    assert told["paper"] == title
    table = {row[0]: row for row in read_csv(folder / "table.csv")}
    where = [table["method"].index(key) for key in ("paper_overall", "paper_average")]
    markdown, tex = (folder / "table.md").read_text(), (folder / "table.tex").read_text()
    for text in (markdown, tex):
        assert "paper OA" in text and "paper AA" in text
    for method in told["methods"]:
        overall, average = PAPER[title][method["method"]]
        assert method["paper"] == pytest.approx({"overall": overall / 100,
                                                 "average": average / 100})
        assert [float(table[method["method"]][i]) for i in where] == \
            pytest.approx([overall / 100, average / 100])
        assert f" & {overall:.2f} & {average:.2f} \\\\" in tex
        row = next(line for line in markdown.splitlines()
                   if line.startswith(f"| {method['method']} |"))
        for key, figure in (("overall", overall), ("average", average)):
            above = 100 * method[key]["mean"] < figure
            assert f" | {figure:.2f}{' (above ours)' if above else ''} | " in row


def test_scene_of_the_size_of_indian_pines_has_its_figures_beside(hyperatom: Command,
                                                                  validate: Validate) -> None:
    hyperatom("synth", "-o", "scene.img", "--labels", "labels.tif", "--rows", 145, "--cols", 145,
              "--bands", 200, "--classes", 4)
    words = ["compare", "scene.img", "--labels", "labels.tif", "--per-class", 5, "--methods",
             "svm-l", "--grid", "cost=100", "--json"]
    told = hyperatom(*words, "-o", "compared").json
    validate("compare", told)
    expect_paper(hyperatom.folder / "compared", told, "Table 1, Indian Pines")
    assert hyperatom(*words, "--paper", "none", "-o", "none").json["paper"] is None


def test_figures_of_the_paper_can_be_asked_for(hyperatom: Command, example: Example,
                                               comparison: Made, validate: Validate) -> None:
    assert comparison.json["paper"] is None
    assert [method["paper"] for method in comparison.json["methods"]] == [None, None]
    told = hyperatom(*with_split("compare", example, "--methods", "svm-k,svm-l", "--paper",
                                 "pavia-university", "-o", "compared", "--json")).json
    validate("compare", told)
    expect_paper(hyperatom.folder / "compared", told, "Table 2, Pavia University")
    text = hyperatom("compare", "--resume", "compared").stdout
    assert "paper: Table 2, Pavia University" in text
