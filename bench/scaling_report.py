#!/usr/bin/env python3
"""Makes docs/scaling.md, docs/scaling.svg and docs/training-curves.svg from bench/results/scaling.json."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from scaling import RESULTS, ROOT, SWEEP_EPOCHS, SWEEP_KERNEL, Document, aims, exponent, lowest, measured, race, svm_seconds, time_to

PAGE = ROOT / "docs" / "scaling.md"
SWEEPS_PLOT = ROOT / "docs" / "scaling.svg"
CURVES_PLOT = ROOT / "docs" / "training-curves.svg"


def aims_table(document: Document) -> list[str]:
    every = aims(document)
    missed = sum(not aim.met for aim in every)
    return [f"{len(every) - missed} of {len(every)} aims are met." if missed else "All aims are met.", "", "| ratio | figure | aim | |", "|---|---:|---:|---|",
            *(f"| {aim.what} | {aim.figure:.2f} | {'<=' if aim.at_most else '>='} {aim.bound:g} | {'' if aim.met else '**missed**'} |" for aim in every)]


def scene_table(cells: list[dict[str, Any]]) -> list[str]:
    """Where the time of a map goes, one thread."""
    lines = ["| scene | normaliser | S | settings | active atoms | the command | of it reading | in memory | normalising | k(D, X) | coding, scores | bare k(D, X): Eigen | in memory / our k(D, X) |",
             "|---|---|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for cell in cells:
        rest = cell["whole"] - cell["normalise"] - cell["gram"]
        times = (cell["one"]["processor"], cell["read"], cell["whole"], cell["normalise"], cell["gram"], rest, cell["bare"])
        lines.append(f"| {cell['scene']} | {cell['normalize']} ({cell['features']}) | {cell['window']} | {cell['kernel']}, lambda1 {cell['lambda1']:g} | {cell['active']:.1f} | "
                     + " | ".join(f"{each:.3f} s" for each in times) + f" | {cell['whole'] / cell['gram']:.2f} |")
    return lines


def svm_lines(cells: list[dict[str, Any]]) -> list[str]:
    return [f"* {cell['scene']}, {cell['normalize']}, S = 9: {cell['whole']:.1f} s; LIBSVM {svm_seconds(cell):.1f} s ({cell['svm']['support_vectors']:,} support vectors, {cell['svm']['kernel']}, C = "
            f"{cell['svm']['cost']:g}; measured on {cell['svm']['pixels']:,} pixels, extrapolated in proportion; {cell['svm']['differ']} of them get another class than by "
            "`hyperatom classify` with the same SVM)." for cell in cells if cell["window"] > 1]


def training_lines(learned: dict[str, Any]) -> list[str]:
    epoch = learned["epoch"]
    adam, sgd, loss = race(learned["curves"])
    return [f"* An epoch takes {1e3 * epoch['epoch']:.0f} ms, coding its windows {1e3 * epoch['coding_afresh']:.0f} ms afresh and {1e3 * epoch['coding_warm']:.0f} ms from their codes of the epoch "
            f"before (processor time of one thread; {epoch['active']:.1f} of {epoch['atoms']} atoms are active). Coding counts k(D, D) once, k(D, X) of every window and codes of the same tolerance; "
            "an epoch counts all of its steps, which code from the epoch before.",
            f"* Loss {loss:.4f}: Adam after {time_to(adam, loss):.2f} s, the paper's stochastic gradient after {time_to(sgd, loss):.2f} s (rho = {sgd['rho']:g}, {sgd['batch']} a step: the fastest of "
            f"{len(learned['curves']) - 1} settings; Adam has its defaults). Both start from the same atoms and classifier. Lowest losses: {lowest(adam):.4f} and {lowest(sgd):.4f}."]


def points(sweep: list[dict[str, Any]], verb: str, figure: str) -> list[tuple[float, float]]:
    return [(point["size"], point[verb][figure]) for point in sweep]


def exponent_table(sweeps: dict[str, list[dict[str, Any]]]) -> list[str]:
    lines = ["| axis | from | to | train, time | train, memory | classify, time | classify, memory |", "|---|---:|---:|---:|---:|---:|---:|"]
    for axis, sweep in sweeps.items():
        fitted = " | ".join(f"{exponent(points(sweep, verb, figure)):.2f}" for verb in ("train", "classify") for figure in ("seconds", "peak"))
        lines.append(f"| {axis} | {sweep[0]['size']:,} | {sweep[-1]['size']:,} | {fitted} |")
    return lines


def page(document: Document) -> str:
    cells, plan, learned = document["classification"], document["plan"], document["training"]
    real = next((cell for cell in cells if cell["scene"] != "synthetic"), None)
    base = f"{plan['side']} x {plan['side']} pixels, 100 bands, 9 classes, 1,000 training pixels, d = 45, S = 9"
    return "\n".join([
        "# Whole scenes and training", "",
        f"Made by `bench/scaling_report.py` from `bench/results/scaling.json`, which `make bench-scaling` measured ({document['cores']} cores, seed {document['seed']}): "
        f"{measured(document)}. How it measures: [benchmarks](benchmarks.md#whole-scenes-and-training).", "",
        *aims_table(document), "",
        "## A map", "",
        f"Scenes of {plan['rows']} x 340 pixels and 103 bands: a synthetic one of 9 classes ({cells[0]['pixels']:,} of its {plan['rows'] * 340:,} pixels hold data and are classified; {cells[0]['atoms']} atoms learned "
        f"from {plan['training']:,} training pixels)" + (f", and the crop of Pavia University, mirrored to that size ({real['pixels']:,} pixels, {real['atoms']} atoms, {real['training_pixels']:,} training pixels)"
                                                         if real else "") + "; processor time of one thread. "
        "After the normaliser: how many features it leaves. Bare are a product of matrices and exponentials alone, by Eigen, of as many atoms and the scene's bands, for the pixels that are classified. "
        "The library's own k(D, X), of the features, takes less; the last column is the ratio to that. The whole command also loads GDAL and its libraries, reads the scene and writes the map: "
        "with S = 1 that is much of it, and a second thread does little for it.", "",
        *scene_table(cells), "",
        "Beside LIBSVM's `svm_predict`, its SVM trained on the same pixels with C and gamma by cross-validation, both on one thread:", "",
        *svm_lines(cells), "",
        "## Training", "",
        f"{learned['epoch']['pixels']} pixels of a scene of 145 x 145 pixels, 200 bands and 16 classes, d = {learned['epoch']['atoms']}, S = 9, {learned['kernel']}, lambda1 = {learned['lambda1']:g}, "
        f"{learned['epochs']} epochs.", "",
        *training_lines(learned), "",
        "![Loss against seconds of training](training-curves.svg)", "",
        "## Growth", "",
        f"Exponents p of time and of peak memory as x^p, from {base}, where one size changes (one thread, `{SWEEP_KERNEL}`, pixels of unit length). Time is that of the processor: {SWEEP_EPOCHS} "
        "epochs of train, all of classify. Classify holds the pixels and results of a few rows.", "",
        *exponent_table(document["sweeps"]), "",
        "![Time and peak memory against sizes](scaling.svg)"]) + "\n"


def plot(document: Document) -> None:
    import matplotlib  # here, because the page's test runs without it

    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator

    sweeps = document["sweeps"]
    figure, axes = plt.subplots(2, len(sweeps), figsize=(3 * len(sweeps), 6), sharey="row", layout="constrained")
    for column, (axis, sweep) in enumerate(sweeps.items()):
        for row, (figure_name, label) in enumerate((("seconds", "seconds"), ("peak", "peak memory, MB"))):
            for verb, colour in (("train", "#0072b2"), ("classify", "#d55e00")):
                shown = points(sweep, verb, figure_name)
                axes[row, column].plot(*zip(*shown, strict=True), "o-", color=colour, markersize=3, label=f"{verb}, exponent {exponent(shown):.2f}")
            axes[row, column].set(xscale="log", yscale="log", xlabel=axis, ylabel=label if column == 0 else "")
            sizes = [point["size"] for point in sweep]
            axes[row, column].set_xticks(sizes, labels=[f"{size:,}" for size in sizes], rotation=30, fontsize=8)
            axes[row, column].minorticks_off()
            axes[row, column].grid(alpha=0.3)
            axes[row, column].legend(fontsize=7)
    for axis in axes[:, 0]:
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.yaxis.set_major_formatter("{x:g}")
    figure.savefig(SWEEPS_PLOT, metadata={"Date": None})

    figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
    adam, sgd, loss = race(document["training"]["curves"])
    for curve, colour, name in ((adam, "#0072b2", "Adam"), (sgd, "#d55e00", f"stochastic gradient, rho = {sgd['rho']:g}, {sgd['batch']} a step")):
        axis.plot(curve["seconds"], curve["loss"], color=colour, label=name)
    axis.axhline(loss, color="black", linewidth=0.8)
    axis.set(yscale="log", xlabel="seconds of training (processor time, one thread)", ylabel="mean loss of the training pixels")
    axis.grid(alpha=0.3)
    axis.legend(fontsize=8)
    figure.savefig(CURVES_PLOT, metadata={"Date": None})


def main() -> int:
    document = json.loads(Path(RESULTS).read_text())
    plot(document)
    PAGE.write_text(page(document))
    return 0


if __name__ == "__main__":
    sys.exit(main())
