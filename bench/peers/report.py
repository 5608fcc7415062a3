#!/usr/bin/env python3
"""Makes docs/peers.md and docs/peers.svg from bench/results/peers.json."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

from measure import RESULTS, ROOT, geometric_mean, missing, of_cells, ratios_of, summary, told  # noqa: E402
from problems import cells as all_cells  # noqa: E402

PAGE = ROOT / "docs" / "peers.md"
PLOT = ROOT / "docs" / "peers.svg"
AIMS = {"single": 2.0, "library": 100.0, "admm": 2.0}  # that every cell should reach

Cells = list[dict[str, Any]]


def dictionary_of(cell: dict[str, Any]) -> str:
    origin = "" if cell["real"] else " (synthetic: the scene was not there)"
    return f"{cell['atoms']:,} {'learned atoms' if cell['learned'] else 'pixels'} of {cell['scene']}{origin}"


def setting_of(cell: dict[str, Any]) -> str:
    return f"S = {cell['window']}, sigma = {cell['sigma']:g}, lambda1 = {cell['lambda1']:g}"


def best_library(cell: dict[str, Any]) -> str:
    libraries = cell["libraries"]
    reached = {name: each for name, each in libraries.items() if each["reached"]} or libraries
    return min(reached, key=lambda name: reached[name]["seconds"])


def tables(cells: Cells) -> list[str]:
    lines = []
    for name, group in itertools.groupby(cells, dictionary_of):
        rows = list(group)
        lines += [f"### {name[0].upper()}{name[1:]}", "",
                  "| S | sigma | lambda1 | active rows | hyperatom, windows/s | best library | times faster | times faster than ADMM |",
                  "|---:|---:|---:|---:|---:|---|---:|---:|"]
        for cell in rows:
            ratios = ratios_of(cell)
            lines.append(f"| {cell['window']} | {cell['sigma']:g} | {cell['lambda1']:g} | {cell['rows']:.1f} | {1 / cell['seconds']:,.0f} | "
                         f"{best_library(cell)} | {told(ratios['library'])} | {told(ratios['admm']) if 'admm' in ratios else ''} |")
        lines.append("")
    return lines


def shortfalls(cells: Cells) -> list[str]:
    """Every cell that misses an aim, with what explains it."""
    lines = []
    for cell in cells:
        ratios = ratios_of(cell)
        aims = {"library": AIMS["single" if cell["window"] == 1 else "library"], "admm": AIMS["admm"]}
        short = [f"{told(ratio)} {'the best library' if rival == 'library' else 'ADMM'}, aim {aims[rival]:g} x"
                 for rival, ratio in ratios.items() if ratio[0] < aims[rival]]
        if short:
            lines.append(f"* {dictionary_of(cell)}, {setting_of(cell)}: {'; '.join(short)}. {cell['rows']:.0f} of {cell['atoms']} rows are active"
                         + (f"; ADMM needs {cell['admm']['iterations']:.0f} iterations." if cell.get("admm", {}).get("reached") else "."))
    return lines


def iterations(cells: Cells) -> str:
    """What those of ADMM cost, by which its ratios can be compared with those of another one."""
    costs = {atoms: [1e6 * cell["admm"]["seconds"] / cell["admm"]["iterations"] for cell in cells
                     if cell["atoms"] == atoms and cell["window"] == 9 and cell["admm"]["reached"]] for atoms in (45, 80)}
    return "An iteration of this ADMM takes " + " and ".join(f"{min(each):.1f} us ({atoms} atoms, S = 9)" for atoms, each in costs.items() if each) + "."


def cores(cells: Cells) -> str:
    gains = [cell["seconds"] / cell["all_cores"]["seconds"] for cell in cells]
    single = [cell["all_cores"]["SPAMS LARS"] / cell["all_cores"]["seconds"] for cell in cells if cell["window"] == 1]
    return (f"With all {cells[0]['all_cores']['threads']} cores, in wall-clock time: {geometric_mean(gains):.2f} x one thread's processor time (geometric mean of all cells, {min(gains):.2f} the least); "
            f"S = 1 {geometric_mean(single):.1f} x SPAMS LARS with as many threads.")


def plot(cells: Cells) -> None:
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
    colours = {45: "#0072b2", 80: "#d55e00", 997: "#009e73", 3921: "#cc79a7"}
    for rival, axis, title in (("library", axes[0], "best library"), ("admm", axes[1], "tuned, oracle-stopped ADMM")):
        for atoms, colour in colours.items():
            shown = [cell for cell in cells if cell["atoms"] == atoms and rival in ratios_of(cell)]
            for joint, marker in ((True, "o"), (False, "x")):
                points = [(cell["rows"] / atoms, ratios_of(cell)[rival][0]) for cell in shown if (cell["window"] > 1) == joint]
                if points:
                    axis.scatter(*zip(*points, strict=True), color=colour, marker=marker, s=18, label=f"d = {atoms:,}, S {'> 1' if joint else '= 1'}")
        axis.set(xscale="log", yscale="log", xlabel="share of the atoms that are active", title=f"times faster than the {title}")
        axis.axhline(1, color="black", linewidth=0.8)
        axis.grid(alpha=0.3)
    axes[0].legend(fontsize=7)
    figure.savefig(PLOT, metadata={"Date": None})


def main() -> int:
    document = json.loads(RESULTS.read_text())
    cells: Cells = sorted(document["cells"], key=lambda cell: (cell["atoms"], cell["learned"], cell["window"], cell["sigma"], -cell["lambda1"]))
    means = {name: [ratios_of(cell)[rival][0] for cell in cells if cell["window"] > 1 and cell["atoms"] in (45, 80)]
             for name, rival in (("the best library", "library"), ("ADMM", "admm"))}
    lines = ["# The coder beside its peers", "",
             f"Made by `bench/peers/report.py` from `bench/results/peers.json`, which `make bench-peers` measured on {of_cells(document, 'date')} ({of_cells(document, 'machine')}; one thread, "
             f"seed {document['seed']}). How it measures: [benchmarks](benchmarks.md#peers). `>`: the rival did not get there in its time; the figure is a bound.",
             "", "Versions: " + ", ".join(f"{name} {version}" for name, version in document["packages"].items()) + ".", "", summary(cells), "",
             "For S > 1 and 45 or 80 atoms: " + ", ".join(f"{geometric_mean(values):,.0f} x {name}" for name, values in means.items()) + " (geometric means). "
             + iterations(cells), "",
             cores(cells), "",
             "![Ratios against the share of active atoms](peers.svg)", ""]
    every = all_cells(quick=False)
    if absent := missing(document, every):
        named = f" It wants: {', '.join(cell.name for cell in absent)}." if len(absent) <= 8 else ""
        lines += [f"**Not all of it:** {len(every) - len(absent)} of the {len(every)} cells have been measured so far.{named}", ""]
    short = shortfalls(cells)
    lines += ["## Where it falls short", ""]
    lines += [f"{len(short)} of {len(cells)} cells miss an aim: twice as fast as the best library for S = 1, a hundred times for S > 1, and twice as fast as ADMM. The more rows are active, the "
              "more a step of Newton's method costs (the cube of their number), and where atoms are unlike each other (sigma = 0.05) sweeps of coordinates and iterations of ADMM are few. The solver for dense codes "
              "([decision 017](decisions/017-dense-codes.md)) needs about as many iterations as an ADMM that is stopped by an oracle, at half to two thirds of their cost.", "",
              *short, ""] if short else ["Nowhere.", ""]
    lines += ["## All cells", "", *tables(cells)]
    plot(cells)
    PAGE.write_text("\n".join(lines).rstrip() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
