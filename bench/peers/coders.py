"""The coders that are measured. hyperatom and ADMM are called through bench/peers/rivals.cpp, the libraries as their users call them.

Libraries that take a design matrix get the square root of k(D, D), made outside the clock. Where a library can start from a code it gets, for nothing,
the exact code of the window before."""

from __future__ import annotations

import ctypes
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from judge import ACCURACY, Array

LONGEST = 300  # rows of LARS's paths, far more than they have: with room for all of 3,921 a call would spend 0.3 s on memory, as much as on some hundred pixels
RHOS = (0.03, 0.01, 0.1, 0.003, 0.001)  # the likely ones first: others stop where they need more iterations


@dataclass
class Problem:
    K: Array  # d x d
    columns: Array  # d x pixels: k(D, x)
    windows: Array  # windows x S
    lambda1: float

    @property
    def kappa(self) -> float:
        return float(self.windows.shape[1])

    def B(self, i: int) -> Array:
        return np.asfortranarray(self.columns[:, self.windows[i]])


@dataclass
class Coded:
    seconds: float  # a window
    uncertified: int
    rows: float  # that are not zero, on the mean


class Rivals:
    """hyperatom and ADMM."""

    def __init__(self, library: Path) -> None:
        self.library = ctypes.CDLL(str(library))
        self.library.hyperatom_code.restype = ctypes.c_double
        self.library.admm_needs.restype = ctypes.c_int64
        self.library.admm_run.restype = ctypes.c_double
        self.inverses: dict[tuple[int, float], tuple[Array, Array]] = {}

    @staticmethod
    def pointer(array: Array | None) -> ctypes.c_void_p:
        return ctypes.c_void_p(None if array is None else array.ctypes.data)

    def sizes(self, p: Problem, count: int) -> list[Any]:
        return [ctypes.c_int64(p.K.shape[0]), ctypes.c_int64(p.windows.shape[1]), ctypes.c_int64(count)]

    def exact(self, p: Problem, count: int) -> Array:
        """Codes to 1e-10, each d x S."""
        codes = np.zeros((count, p.windows.shape[1], p.K.shape[0]))
        self.hyperatom(p, count, tolerance=1e-10, codes=codes)
        return codes.transpose(0, 2, 1)

    def hyperatom(self, p: Problem, count: int, tolerance: float = ACCURACY, threads: int = 1, codes: Array | None = None) -> Coded:
        found = np.zeros(2)
        seconds = self.library.hyperatom_code(
            *self.sizes(p, count), self.pointer(p.K), self.pointer(p.columns), self.pointer(p.windows), ctypes.c_double(p.kappa),
            ctypes.c_double(p.lambda1), ctypes.c_double(tolerance), ctypes.c_int64(threads), self.pointer(codes),
            self.pointer(found))
        return Coded(seconds / count, int(found[0]), float(found[1]))

    def inverse(self, p: Problem, rho: float) -> Array:
        key = (id(p.K), rho)
        if key not in self.inverses:
            self.inverses = {k: v for k, v in self.inverses.items() if k[0] == id(p.K)}
            self.inverses[key] = (p.K, np.asfortranarray(np.linalg.inv(p.K + rho * np.eye(len(p.K)))))
        return self.inverses[key][1]

    def admm(self, p: Problem, enough: Array, most_seconds: float) -> tuple[float, float, Callable[[], float]] | None:
        """Of the rho that needs the fewest iterations for objectives of at most `enough`: rho, iterations a window, and a function that
        takes the seconds a window once more. None when no rho does within the time."""
        best: tuple[int, float, Array] | None = None
        for rho in RHOS:
            iterations = np.zeros(len(enough), dtype=np.int64)
            needs = self.library.admm_needs(
                *self.sizes(p, len(enough)), self.pointer(p.K), self.pointer(self.inverse(p, rho)), self.pointer(p.columns),
                self.pointer(p.windows), ctypes.c_double(p.kappa), ctypes.c_double(p.lambda1), ctypes.c_double(rho),
                self.pointer(enough), ctypes.c_int64(best[0] if best else 10**9), ctypes.c_double(most_seconds),
                self.pointer(iterations))
            if needs > 0:
                best = (needs, rho, iterations)
        if best is None:
            return None
        sum_, rho, iterations = best

        def run() -> float:
            return float(self.library.admm_run(
                *self.sizes(p, len(enough)), self.pointer(p.K), self.pointer(self.inverse(p, rho)), self.pointer(p.columns),
                self.pointer(p.windows), ctypes.c_double(p.lambda1), ctypes.c_double(rho), self.pointer(iterations))) / len(enough)

        return rho, sum_ / len(enough), run


@dataclass
class Attempt:
    """What a library made of some windows with one of its tolerances."""

    tolerance: float
    seconds: float  # a window
    codes: list[Array]  # d x S


def root_of(K: Array) -> Array:
    """X with X'X = K, without what is smaller than 1e-12 of K."""
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-12 * values[-1]
    return np.asfortranarray(np.sqrt(values[kept])[:, None] * vectors[:, kept].T)


def targets(X: Array, B: Array) -> Array:
    """Y with X'Y = B."""
    return np.asfortranarray((X / (X**2).sum(1)[:, None]) @ B)


# A library is asked to code windows `which` of a problem, tighter and tighter; it starts from `before`, the exact codes of the windows before.
Ladder = Callable[[Problem, list[int], list[Array]], Iterator[Attempt]]


def timed(work: Callable[[], Any], clock: Callable[[], float] = time.thread_time) -> tuple[float, Any]:
    begin = clock()
    result = work()
    return clock() - begin, result


def spams_lars(cholesky: bool, threads: int = 1) -> Ladder:
    def ladder(p: Problem, which: list[int], before: list[Array]) -> Iterator[Attempt]:
        import spams
        B = np.asfortranarray(np.hstack([p.B(i) for i in which]))
        X = np.zeros(B.shape, order="F")  # read for its height, the longest path, and the length of its columns
        X[0] = 1
        seconds, codes = timed(lambda: spams.lasso(X, Q=p.K, q=B, lambda1=p.lambda1, mode=2, cholesky=cholesky, numThreads=threads, L=min(LONGEST, len(p.K))),
                               time.thread_time if threads == 1 else time.perf_counter)
        dense = codes.toarray()
        yield Attempt(0, seconds / len(which), [dense[:, [k]] for k in range(len(which))])
    return ladder


def sklearn_lars(p: Problem, which: list[int], before: list[Array]) -> Iterator[Attempt]:
    from sklearn.linear_model import lars_path_gram
    total, codes = 0.0, []
    for i in which:
        seconds, result = timed(lambda: lars_path_gram(p.B(i)[:, 0], p.K, n_samples=1, alpha_min=p.lambda1, method="lasso", return_path=False))
        total += seconds
        codes.append(np.asarray(result[2])[:, None])
    yield Attempt(0, total / len(which), codes)


def spams_bcd(p: Problem, which: list[int], before: list[Array]) -> Iterator[Attempt]:
    """Its penalty is half of lambda1 sqrt(S) times the norm of a row, as its solutions show."""
    import spams
    X = root_of(p.K)
    S = p.windows.shape[1]
    Y = np.asfortranarray(np.hstack([targets(X, p.B(i)) for i in which]))
    start = np.asfortranarray(np.hstack(before))
    groups = np.array([S * k for k in range(len(which))], dtype=np.int32)
    for tolerance in 10.0**-np.arange(3, 13):
        seconds, A = timed(lambda: spams.l1L2BCD(Y, X, start, groups, lambda1=2 * p.lambda1 / S**0.5, mode=2, itermax=10**7, tol=tolerance, numThreads=1))
        A = np.asarray(A)
        yield Attempt(tolerance, seconds / len(which), [A[:, S * k:S * (k + 1)] for k in range(len(which))])


def estimator(make: Callable[[float, float], Any], tolerances: Array) -> Ladder:
    """Of a library with the manners of scikit-learn; make(alpha, tolerance)."""
    def ladder(p: Problem, which: list[int], before: list[Array]) -> Iterator[Attempt]:
        X = root_of(p.K)
        single = p.windows.shape[1] == 1
        for tolerance in tolerances:
            total, codes = 0.0, []
            for i, start in zip(which, before, strict=True):
                Y = targets(X, p.B(i))
                model = make(p.lambda1 / len(X), float(tolerance))
                model.coef_ = start[:, 0].copy() if single else np.asfortranarray(start.T)
                seconds, _ = timed(lambda: model.fit(X, Y[:, 0] if single else Y))
                total += seconds
                codes.append(np.asarray(model.coef_)[:, None] if single else np.asarray(model.coef_).T)
            yield Attempt(float(tolerance), total / len(which), codes)
    return ladder


def sklearn_cd(single: bool) -> Ladder:
    from sklearn.linear_model import Lasso, MultiTaskLasso
    kind = Lasso if single else MultiTaskLasso
    return estimator(lambda alpha, tolerance: kind(alpha=alpha, tol=tolerance, max_iter=10**8, fit_intercept=False, warm_start=True),
                     10.0**-np.arange(4, 13))


def celer_cd(single: bool) -> Ladder:
    import celer
    kind = celer.Lasso if single else celer.MultiTaskLasso
    return estimator(lambda alpha, tolerance: kind(alpha=alpha, tol=tolerance, max_iter=10**4, max_epochs=10**7, fit_intercept=False,
                                                   warm_start=True), 10.0**-np.arange(4, 13))


def skglm_cd(single: bool) -> Ladder:
    import skglm
    kind = skglm.Lasso if single else skglm.MultiTaskLasso
    return estimator(lambda alpha, tolerance: kind(alpha=alpha, tol=tolerance, max_iter=10**4, max_epochs=10**6, fit_intercept=False,
                                                   warm_start=True), 10.0**-np.arange(4, 13))


def libraries(window: int) -> dict[str, Ladder]:
    warnings.filterwarnings("ignore")
    if window == 1:
        return {"SPAMS LARS": spams_lars(cholesky=False), "SPAMS LARS (Cholesky)": spams_lars(cholesky=True),
                "scikit-learn LARS": sklearn_lars, "scikit-learn": sklearn_cd(True), "celer": celer_cd(True), "skglm": skglm_cd(True)}
    return {"SPAMS BCD": spams_bcd, "scikit-learn": sklearn_cd(False), "celer": celer_cd(False), "skglm": skglm_cd(False)}
