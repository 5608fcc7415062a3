"""The judge of bench/peers, against a slow textbook solver, and what its last line says."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench" / "peers"))

import judge  # noqa: E402
import measure  # noqa: E402
import problems  # noqa: E402


def proximal_gradient(K: Any, B: Any, lambda1: float) -> Any:
    """As in textbooks, with a step of 1 / |K|, until nothing moves."""
    A = np.zeros_like(B)
    step = 1 / np.linalg.norm(K, 2)
    for _ in range(20000):
        moved = A - step * (K @ A - B)
        norms = np.linalg.norm(moved, axis=1, keepdims=True)
        A = np.maximum(0, 1 - step * lambda1 / np.maximum(norms, 1e-300)) * moved
    return A


@pytest.fixture(params=[1, 4])
def problem(request: pytest.FixtureRequest) -> tuple[Any, Any, Any, float]:
    random = np.random.default_rng(request.param)
    D, X = (random.standard_normal((6, count)) for count in (9, request.param))
    K, B, lambda1 = problems.gaussian(D, D, 12), problems.gaussian(D, X, 12), 0.1
    return K, B, proximal_gradient(K, B, lambda1), lambda1


def test_objective_is_the_definition(problem: tuple[Any, Any, Any, float]) -> None:
    """With explicit features: columns of the root of the kernel matrix of atoms and pixels."""
    K, B, A, lambda1 = problem
    d, S = B.shape
    random = np.random.default_rng(3)
    features = random.standard_normal((d + S, d + S))
    features /= np.linalg.norm(features, axis=0)
    atoms, pixels = features[:, :d], features[:, d:]
    value = judge.objective(atoms.T @ atoms, atoms.T @ pixels, A, lambda1)
    expected = 0.5 * np.sum((pixels - atoms @ A)**2) + lambda1 * np.sum(np.sqrt(np.sum(A**2, axis=1)))
    assert value == pytest.approx(expected, rel=1e-12)


def test_bound_meets_the_optimum_and_stays_below_everything_else(problem: tuple[Any, Any, Any, float]) -> None:
    K, B, A, lambda1 = problem
    bound, best = judge.dual(K, B, A, lambda1), judge.objective(K, B, A, lambda1)
    assert 0 < np.count_nonzero(np.linalg.norm(A, axis=1)) < len(A)
    assert best == pytest.approx(bound, rel=1e-9)
    random = np.random.default_rng(4)
    for size in (1e-3, 0.1, 1):
        other = A + size * random.standard_normal(A.shape)
        assert judge.dual(K, B, other, lambda1) <= best <= judge.objective(K, B, other, lambda1)
        assert judge.gap(K, B, other, lambda1, bound) > judge.ACCURACY
    assert judge.gap(K, B, A, lambda1, bound) < 1e-8


def result(window: int, seconds: float, libraries: dict[str, tuple[float, bool]], admm: tuple[float, bool] | None = None) -> dict[str, Any]:
    made: dict[str, Any] = {"window": window, "seconds": seconds,
                            "libraries": {name: {"seconds": each[0], "reached": each[1]} for name, each in libraries.items()}}
    if admm:
        made["admm"] = {"seconds": admm[0], "reached": admm[1]}
    return made


def test_ratios_are_to_the_fastest_that_got_there() -> None:
    ratios = measure.ratios_of(result(9, 2e-6, {"quick but wrong": (1e-6, False), "slow": (8e-6, True), "slower": (9e-6, True)}, (1e-5, True)))
    assert ratios["library"] == (pytest.approx(4), True) and ratios["admm"] == (pytest.approx(5), True)
    few = result(9, 2e-6, {"one": (1, True)}, (1e-5, True))
    few["admm"]["hyperatom"] = 4e-6  # on the windows that ADMM was given
    assert measure.ratios_of(few)["admm"] == (pytest.approx(2.5), True)
    nobody = measure.ratios_of(result(9, 1e-6, {"one": (3e-6, False), "other": (2e-6, False)}, (4e-6, False)))
    assert nobody["library"] == (pytest.approx(2), False) and measure.told(nobody["admm"]) == ">4.0 x"


def test_last_line() -> None:
    results = [result(1, 1e-6, {"SPAMS LARS": (4e-6, True), "other": (9e-6, True)}), result(1, 1e-6, {"SPAMS LARS": (9e-6, True)}),
               result(9, 1e-6, {"one": (1e-3, True)}, (1e-5, True)), result(25, 1e-6, {"one": (4e-3, True)}, (4e-5, True))]
    assert measure.summary(results) == "geometric mean: S=1 6.0 x SPAMS LARS; S>1 2,000 x best library, 20 x ADMM"


def test_all_cells_are_those_of_the_page() -> None:
    cells = problems.cells(quick=False)
    assert len(cells) == len(set(cells)) == 6 * 5 * 2 * 4
    assert {cell.atoms for cell in cells} == {45, 80, 997, 3921} and {cell.window for cell in cells} == {1, 9, 25, 49, 81}
    assert set(problems.cells(quick=True)) <= set(cells)
