"""The judge of every solution, hyperatom's too: how far its objective is above a lower bound of the optimum, relative to it.

The bound is the largest value of the dual problem that anyone has shown: of hyperatom's own solution to 1e-10, computed here once more from
the code alone. A solution is accepted if the gap between its objective and that bound is at most 1e-6 of the objective. This is the kindest way
to judge by a duality gap: a coder that has no good dual point of its own is not blamed for it."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
ACCURACY = 1e-6


def times(K: Array, A: Array) -> Array:
    """K A, without the rows of A that are zero."""
    rows = np.flatnonzero(A.any(axis=1))
    return K[:, rows] @ A[rows]


def objective(K: Array, B: Array, A: Array, lambda1: float) -> float:
    """1/2 |Phi(X) - Phi(D) A|^2 + lambda1 sum_j |a_j|, where k(x, x) = 1."""
    return 0.5 * B.shape[1] + float(np.sum(A * (0.5 * times(K, A) - B))) + lambda1 * float(np.linalg.norm(A, axis=1).sum())


def dual(K: Array, B: Array, A: Array, lambda1: float) -> float:
    """The dual value of the residual of A, scaled until it is feasible."""
    G = B - times(K, A)
    scale = min(1.0, lambda1 / float(np.linalg.norm(G, axis=1).max()))
    squared = B.shape[1] - float(np.sum((B + G) * A))  # of the residual
    correlation = squared + float(np.sum(A * G))  # <Phi(X), R>
    return scale * correlation - 0.5 * scale**2 * squared


def gap(K: Array, B: Array, A: Array, lambda1: float, bound: float) -> float:
    value = objective(K, B, A, lambda1)
    return (value - bound) / value
