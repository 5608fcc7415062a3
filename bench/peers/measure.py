#!/usr/bin/env python3
"""Measures hyperatom's coder beside its peers, all in one run: solves per second at equal accuracy, judged alike (judge.py).

make bench-peers          everything; hours
make bench-peers QUICK=1  a few minutes

hyperatom codes a sequence of windows, libraries a few of them, each within its time; one that needs longer has a bound instead of a figure. The times are
processor times of one thread; hyperatom and the rival at its heels are repeated in turn and the shortest times count."""

from __future__ import annotations

import argparse
import datetime
import json
import multiprocessing
import os
import platform
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402

from coders import Attempt, Ladder, Problem, Rivals, libraries, spams_lars  # noqa: E402
from judge import ACCURACY, dual, gap, objective  # noqa: E402
from problems import SEED, SIZES, Cell, Problems, cells  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results" / "peers.json"
SAMPLE = 10  # windows that slow libraries code
MANY = 500  # atoms from which ADMM takes too long for all windows
PACKAGES = ("celer", "numpy", "scikit-learn", "scipy", "skglm", "spams-bin")


def attempts_within(seconds: float, ladder: Ladder, problem: Problem, which: list[int], before: list[Any]) -> Iterator[Attempt]:
    """In a process of its own, which is stopped after so many seconds."""
    context = multiprocessing.get_context("fork")
    queue, sender = context.Pipe(duplex=False)

    def work() -> None:
        try:
            for attempt in ladder(problem, which, before):
                sender.send(attempt)
            sender.send(None)
        except Exception as error:  # noqa: BLE001: a library that fails is a result
            sender.send(error)

    process = context.Process(target=work)
    process.start()
    deadline = time.monotonic() + seconds
    try:
        while queue.poll(max(0.0, deadline - time.monotonic())):
            attempt = queue.recv()
            if attempt is None or isinstance(attempt, Exception):
                if attempt is not None:
                    print(f"    {type(attempt).__name__}: {attempt}", file=sys.stderr)
                return
            yield attempt
    finally:
        process.kill()
        process.join()


class Measurement:
    def __init__(self, problems: Problems, rivals: Rivals, patience: float) -> None:
        self.problems, self.rivals = problems, rivals
        self.patience = patience  # seconds for a library and a window, at least

    def cell(self, cell: Cell) -> dict[str, Any]:
        K, columns = self.problems.dictionary(cell.atoms, cell.sigma, cell.learned)
        problem = Problem(K, columns, self.problems.windows(cell), cell.lambda1)
        count = len(problem.windows)
        # A first pass says how many windows are worth the time.
        first = self.rivals.hyperatom(problem, min(count, 4)).seconds
        count = max(4, min(count, int(2 / first)))
        exact = self.rivals.exact(problem, count)
        bounds = np.array([dual(K, problem.B(i), exact[i], cell.lambda1) for i in range(count)])
        ours = self.rivals.hyperatom(problem, count)
        codes = np.zeros((count, cell.window, cell.atoms))
        self.rivals.hyperatom(problem, count, codes=codes)
        gaps = [gap(K, problem.B(i), codes[i].T, cell.lambda1, bounds[i]) for i in range(count)]
        result: dict[str, Any] = {**vars(cell), "scene": SIZES[cell.atoms], "windows": count, "rows": ours.rows,
                                  "uncertified": ours.uncertified, "gap": max(gaps), "libraries": {}}
        times = [ours.seconds]
        # The fast ones code all windows, the others some from all over: the first few are no sample of them.
        every, few = list(range(count)), min(SAMPLE, count)
        some = [(2 * i + 1) * count // (2 * few) for i in range(few)]
        for name, ladder in libraries(cell.window).items():
            which = every if name.startswith("SPAMS LARS") else some
            times.append(self.rivals.hyperatom(problem, count).seconds)
            result["libraries"][name] = self.library(ladder, problem, which, exact, bounds, self.worth(which, times, result["libraries"]))
        if cell.window > 1:
            result["admm"] = self.admm(problem, bounds, times)
        if cell.window == 1:  # neck and neck: again and in turn
            best = "SPAMS LARS"
            for _ in range(5):
                again = self.library(libraries(1)[best], problem, every, exact, bounds, 60)
                if again["seconds"] < result["libraries"][best]["seconds"]:
                    result["libraries"][best] = again
                times.append(self.rivals.hyperatom(problem, count).seconds)
        result["seconds"] = min(times)
        result["all_cores"] = self.all_cores(problem, count, exact, bounds)
        return result

    def worth(self, which: Sequence[int], times: list[float], others: dict[str, Any]) -> float:
        """Seconds to wait for a library: as many as windows, or 150 times as long as hyperatom takes for one, or 30 times for many; once another has got
        there, ten times as long as that took."""
        most = min(max(self.patience * len(which), 150 * min(times), 30 * len(which) * min(times)), 60)
        best = min((each["seconds"] for each in others.values() if each["reached"]), default=float("inf"))
        return min(most, max(1.0, 10 * best * len(which)))

    def all_cores(self, problem: Problem, count: int, exact: Any, bounds: Any) -> dict[str, Any]:
        """Wall-clock times, by threads where a coder has them."""
        threads = os.cpu_count() or 1
        found: dict[str, Any] = {"threads": threads, "seconds": float("inf")}
        for _ in range(3):
            found["seconds"] = min(found["seconds"], self.rivals.hyperatom(problem, count, threads=threads).seconds)
            if problem.windows.shape[1] == 1:
                peer = self.library(spams_lars(cholesky=False, threads=threads), problem, list(range(count)), exact, bounds, 60)
                found["SPAMS LARS"] = min(found.get("SPAMS LARS", float("inf")), peer["seconds"])
        return found

    def library(self, ladder: Ladder, problem: Problem, which: list[int], exact: Any, bounds: Any, patience: float) -> dict[str, Any]:
        before = [exact[max(0, i - 1)] for i in which]
        found: dict[str, Any] = {"seconds": 0.0, "reached": False}
        begin = time.monotonic()
        for attempt in attempts_within(patience, ladder, problem, which, before):
            gaps = [gap(problem.K, problem.B(i), code, problem.lambda1, bounds[i]) for i, code in zip(which, attempt.codes, strict=True)]
            found = {"seconds": attempt.seconds, "reached": bool(max(gaps) <= ACCURACY), "gap": max(gaps), "tolerance": attempt.tolerance}
            if found["reached"]:
                return found
            begin = time.monotonic()
        # The next attempt would have taken longer than this one, and than the time that it was given.
        found["seconds"] = max(found["seconds"], (time.monotonic() - begin) / len(which))
        return found

    def admm(self, problem: Problem, bounds: Any, times: list[float]) -> dict[str, Any]:
        """On all windows, or, of many atoms, on the first four; then hyperatom is timed on these, too."""
        count = len(bounds)
        few = count if len(problem.K) < MANY else 4
        # The oracle: an objective that is certainly within the accuracy.
        enough = bounds[:few] * (1 + ACCURACY)
        patience = 60 if few == count else min(max(3 * self.patience, 5 * few * min(times)), 60)
        found = self.rivals.admm(problem, enough, patience)
        result: dict[str, Any] = {"windows": few, "seconds": patience / few, "reached": False}
        own, taken = [], []
        for _ in range(5):
            if found is not None and sum(taken) * few <= patience:
                taken.append(found[2]())
            own.append(self.rivals.hyperatom(problem, few).seconds)
        if found is not None:
            result |= {"seconds": min(taken), "reached": True, "rho": found[0], "iterations": found[1]}
        if few == count:
            times += own
        else:
            result["hyperatom"] = min(own)
        return result


def ratios_of(result: dict[str, Any]) -> dict[str, tuple[float, bool]]:
    """How many times faster hyperatom is than the best library and than ADMM; False: at least."""
    reached = [each for each in result["libraries"].values() if each["reached"]]
    best = min(reached or result["libraries"].values(), key=lambda each: each["seconds"])
    ratios = {"library": (best["seconds"] / result["seconds"], best["reached"])}
    if "admm" in result:
        ours = result["admm"].get("hyperatom", result["seconds"])  # on the same windows
        ratios["admm"] = (result["admm"]["seconds"] / ours, result["admm"]["reached"])
    return ratios


def told(ratio: tuple[float, bool]) -> str:
    return ("" if ratio[1] else ">") + f"{ratio[0]:,.1f} x"


def geometric_mean(values: list[float]) -> float:
    return float(np.exp(np.mean(np.log(values)))) if values else float("nan")


def summary(results: list[dict[str, Any]]) -> str:
    single = [result["libraries"]["SPAMS LARS"]["seconds"] / result["seconds"] for result in results if result["window"] == 1]
    joint = [ratios_of(result) for result in results if result["window"] > 1]
    return (f"geometric mean: S=1 {geometric_mean(single):.1f} x SPAMS LARS; "
            f"S>1 {geometric_mean([each['library'][0] for each in joint]):,.0f} x best library, "
            f"{geometric_mean([each['admm'][0] for each in joint]):.0f} x ADMM")


def processor() -> str:
    found = re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text()) if Path("/proc/cpuinfo").is_file() else None
    return found[1] if found else platform.machine()


def today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def of_cells(document: dict[str, Any], what: str) -> str:
    """The machine or the date, or which of them stands for how many cells."""
    counts = Counter(cell.get(what, document[what]) for cell in document["cells"])
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{name} ({count} cells)" for name, count in sorted(counts.items()))


def options(text: str | None, output: Path) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer cells")
    parser.add_argument("--only", default="", help="only cells whose name has this in it")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder with the real scenes")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release", help="folder of the build")
    parser.add_argument("-o", "--output", type=Path, default=output, help="the JSON file to make")
    parser.add_argument("--resume", action="store_true", help="go on: cells that the file has are not measured again")
    return parser


def measurement_of(args: argparse.Namespace, patience: float) -> Measurement:
    work = ROOT / "build" / "peers"
    work.mkdir(parents=True, exist_ok=True)
    return Measurement(Problems(args.data, args.build / "bin" / "hyperatom", work), Rivals(args.build / "bench" / "libhyperatom_rivals.so"), patience)


def document_of(args: argparse.Namespace, packages: Sequence[str]) -> dict[str, Any]:
    """What the file has, or one without cells."""
    if args.resume and args.output.is_file():
        return dict(json.loads(args.output.read_text()))
    return {"date": today(), "machine": processor(), "seed": SEED, "accuracy": ACCURACY, "packages": {name: version(name) for name in packages}, "cells": []}


def cell_of(result: dict[str, Any]) -> Cell:
    return Cell(*(result[key] for key in ("atoms", "window", "sigma", "lambda1", "learned")))


def missing(document: dict[str, Any], wanted: list[Cell]) -> list[Cell]:
    known = set(map(cell_of, document["cells"]))
    return [cell for cell in wanted if cell not in known]


def add(document: dict[str, Any], result: dict[str, Any], output: Path) -> None:
    """A cell to the document and to its file."""
    document["cells"].append(result | {"machine": processor(), "date": today()})  # a run that is resumed may have moved
    partial = output.with_suffix(".part")
    partial.write_text(json.dumps(document, indent=1))
    partial.replace(output)


def main() -> int:
    parser = options(__doc__, RESULTS)
    parser.add_argument("--patience", type=float, default=1.0, help="seconds that a library is given for a window, unless another has been faster")
    args = parser.parse_args()
    measurement = measurement_of(args, args.patience)
    document = document_of(args, PACKAGES)
    warmed: set[bool] = set()
    for cell in missing(document, [cell for cell in cells(args.quick) if args.only in cell.name]):
        if (cell.window == 1) not in warmed:  # what libraries compile at their first call is not their speed
            warm_up(cell.window, libraries(cell.window).values())
            warmed.add(cell.window == 1)
        result = measurement.cell(cell)
        result["real"] = measurement.problems.scene(SIZES[cell.atoms]).real
        add(document, result, args.output)
        ratios = ratios_of(result)
        print(f"{cell.name:64} {1 / result['seconds']:>10,.0f}/s  rows {result['rows']:5.1f}  " + "  ".join(f"{key} {told(ratio)}" for key, ratio in ratios.items())
              + ("" if result["uncertified"] == 0 and result["gap"] <= ACCURACY else f"  NOT SOLVED: {result['uncertified']}, gap {result['gap']:.1e}"),
              flush=True)
    print(summary(document["cells"]))
    return 0


def warm_up(window: int, ladders: Iterable[Ladder]) -> None:
    """In this process, so that those it forks find the compiled code."""
    random = np.random.default_rng(SEED)
    D = random.standard_normal((20, 8))
    D /= np.linalg.norm(D, axis=0)
    K = D.T @ D
    S = 1 if window == 1 else 4
    problem = Problem(np.asfortranarray(K), np.asfortranarray(K[:, :S] * 0.9), np.arange(S, dtype=np.int64)[None], 0.05)
    for ladder in ladders:
        next(iter(ladder(problem, [0], [np.zeros((8, S))])))


if __name__ == "__main__":
    sys.exit(main())
