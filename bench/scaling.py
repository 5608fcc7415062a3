#!/usr/bin/env python3
"""Measures whole scenes and training: what a map costs, what threads bring, and how time and memory grow.

make bench-scaling          everything; about half an hour
make bench-scaling QUICK=1  smaller scenes, once each; about two minutes

Every figure is of a fresh process of the command, or of bench/scene.cpp for what can't be seen from outside. Works that are compared take turns, and the shortest
times count. Scenes are synthetic, and maps are also made of a real one where the data are (HYPERATOM_DATA or ../shared/data). This program stays small, without NumPy: the system counts its memory as that of the processes that it starts."""

from __future__ import annotations

import argparse
import datetime
import functools
import itertools
import json
import math
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench" / "results" / "scaling.json"
SEED = 0
DATA = Path(os.environ.get("HYPERATOM_DATA", ROOT.parent / "shared" / "data"))

# Optimizer, rho, batch: Adam as it is by default; the paper's stochastic gradient, one sample a step and more, at the rates that are worth trying.
OPTIMIZERS = (("adam", 3e-4, 50), *(("sgd", rho, batch) for batch in (1, 50) for rho in (1e-3, 3e-3, 1e-2, 3e-2)))
SWEEP_KERNEL = "gaussian(sigma=0.4)"  # what `train` chose on such a scene for S = 9
SWEEP_EPOCHS = 10

Document = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    rows: int  # of the scene of 340 columns and 103 bands
    training: int  # pixels for its models
    repeats: int
    epochs: int  # of training curves
    side: int  # of the scene that the sweeps start from
    sides: tuple[int, ...]
    training_pixels: tuple[int, ...]
    windows: tuple[int, ...]
    atoms_per_class: tuple[int, ...]
    bands: tuple[int, ...]


FULL = Plan(610, 3921, 3, 60, 200, (100, 200, 400, 800), (250, 500, 1000, 2000, 4000, 8000), (1, 9, 25, 49, 81), (1, 2, 5, 10, 20, 40), (25, 50, 100, 200, 400))
QUICK = Plan(100, 997, 1, 10, 80, (60, 120, 240), (250, 1000), (1, 9, 25), (1, 5, 20), (25, 100))


@dataclass(frozen=True)
class Setting:
    """The sizes of a point of the sweeps."""

    side: int  # pixels of the scene, both ways
    bands: int = 100
    training: int = 1000
    window: int = 9
    atoms_per_class: int = 5


class Run(NamedTuple):
    """What a process took."""

    wall: float  # seconds
    processor: float  # seconds
    told: float  # seconds by its own account: for train, those of its epochs
    peak: float  # megabytes


def finished(words: Sequence[object]) -> tuple[Run, Any]:
    """Runs a command to its end; what it took and the JSON that it printed."""
    begin = time.monotonic()
    with subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE) as process:
        assert process.stdout
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - begin
    if process.returncode != 0:
        sys.exit(f"scaling: exit code {process.returncode}: {' '.join(map(str, words))}")
    result = json.loads(output)
    return Run(wall, usage.ru_utime + usage.ru_stime, result.get("seconds", 0.0), usage.ru_maxrss / 1024), result


def in_turn(repeats: int, *works: Callable[[], Run]) -> list[dict[str, float]]:
    """The least of each figure of each work."""
    rounds = [[work() for work in works] for _ in range(repeats)]
    return [Run(*map(min, zip(*runs, strict=True)))._asdict() for runs in zip(*rounds, strict=True)]


def draw(classes: bytes, count: int) -> bytes:
    """The classes of so many random pixels, 0 elsewhere: as evenly from all classes as their sizes allow."""
    places: dict[int, list[int]] = {c: [] for c in sorted(set(classes) - {0})}
    for place, c in enumerate(classes):
        if c:
            places[c].append(place)
    for each in places.values():
        Random(SEED).shuffle(each)
    turns = (place for turn in itertools.zip_longest(*places.values()) for place in turn if place is not None)
    drawn = bytearray(len(classes))
    for place in itertools.islice(turns, count):
        drawn[place] = classes[place]
    return bytes(drawn)


class Scene(NamedTuple):
    cube: Path
    classes: Path  # a raw byte a pixel


class Tools:
    """The command, the program of bench/scene.cpp, and what they work on, made when first asked for."""

    def __init__(self, build: Path, folder: Path) -> None:
        self.hyperatom, self.inside = build / "bin" / "hyperatom", build / "bin" / "hyperatom_scene_bench"
        self.folder = folder

    def command(self, *words: object, threads: int = 1) -> tuple[Run, Any]:
        return finished([self.hyperatom, *words, "--threads", threads, "--overwrite", "--json", "--quiet"])

    def parts(self, *words: object) -> dict[str, Any]:
        return finished([self.inside, *words])[1]  # type: ignore[no-any-return]

    @functools.cache
    def scene(self, rows: int, cols: int, bands: int, classes: int) -> Scene:
        name = f"{rows}x{cols}x{bands}"
        cube, labels = self.folder / f"{name}.img", self.folder / f"{name}.tif"
        self.command("synth", "-o", cube, "--labels", labels, "--rows", rows, "--cols", cols, "--bands", bands, "--classes", classes, "--seed", SEED)
        raw = self.folder / f"{name}-classes.img"
        subprocess.run(["gdal_translate", "-q", "-of", "ENVI", labels, raw], check=True)
        return Scene(cube, raw)

    @functools.cache
    def mirrored(self, rows: int, cols: int) -> Scene:
        """The crop of Pavia University, mirrored to this size. By a process of its own, for the memory."""
        scene = Scene(self.folder / "pavia.img", self.folder / "pavia-classes.img")
        subprocess.run([sys.executable, ROOT / "bench" / "mirrored_scene.py", DATA / "pavia_university", str(rows), str(cols), *scene], check=True)
        return scene

    @functools.cache
    def labels(self, scene: Scene, pixels: int) -> Path:
        """Of so many training pixels."""
        path = scene.classes.with_stem(f"{scene.classes.stem}-{pixels}")
        shutil.copy(scene.classes.with_suffix(".hdr"), path.with_suffix(".hdr"))
        path.write_bytes(draw(scene.classes.read_bytes(), pixels))
        return path

    def train(self, scene: Scene, pixels: int, *options: object, method: str = "", window: int = 9, normalize: str = "unit", threads: int = 1) -> tuple[Run, Any]:
        method = method or ("sdl-l1-k" if window == 1 else "sdl-l12-k")
        given = () if method.startswith("svm") else ("--window", window)
        return self.command("train", scene.cube, "--labels", self.labels(scene, pixels), "--method", method, "--normalize", normalize, *given, *options,
                            "--seed", SEED, "-o", self.folder / f"{method}-{window}-{normalize}", threads=threads)

    def classify(self, scene: Scene, model: str, threads: int = 1) -> Run:
        return self.command("classify", scene.cube, "-m", model, "-o", self.folder / "map.tif", threads=threads)[0]


def classification(tools: Tools, plan: Plan) -> list[dict[str, Any]]:
    """Scenes of Pavia University's size by 45 atoms, and by LIBSVM; on pixels of unit length and on the default's noise-whitened features."""
    scenes = {"synthetic": tools.scene(plan.rows, 340, 103, 9)}
    if (DATA / "pavia_university").is_dir():
        scenes["Pavia"] = tools.mirrored(plan.rows, 340)
    found = []
    for (name, scene), normalize in itertools.product(scenes.items(), ("unit", "mnf")):
        _, svm = tools.train(scene, plan.training, method="svm-k", normalize=normalize)
        rival = {"kernel": svm["kernel"], "cost": svm["cost"], **tools.parts("svm", plan.repeats, scene.cube, svm["model"], 4)}
        # Single pixels also by the paper's largest lambda1: how sparse codes are decides what they cost.
        for window, options in ((1, ()), (1, ("--lambda1", 0.1)), (9, ())):
            _, made = tools.train(scene, plan.training, *options, window=window, normalize=normalize)
            model = made["model"]
            one, two = in_turn(plan.repeats, lambda: tools.classify(scene, model), lambda: tools.classify(scene, model, 2))
            found.append({"scene": name, "normalize": normalize, "training_pixels": made["training_pixels"], "kernel": made["kernel"], "lambda1": made["lambda1"], "one": one, "two": two, "svm": rival,
                          **tools.parts("classify", 3 * plan.repeats, scene.cube, model)})
            print(f"{name}, {normalize}, S = {window}, lambda1 = {made['lambda1']:g}: classify {one['wall']:.2f} s, two threads {two['wall']:.2f} s, in memory {found[-1]['whole']:.2f} s", flush=True)
    return found


def training(tools: Tools, plan: Plan) -> Document:
    """997 pixels of 16 classes and 200 bands, the sizes of Indian Pines: threads, an epoch against coding, and the loss against time."""
    scene, pixels = tools.scene(145, 145, 200, 16), 997
    _, made = tools.train(scene, pixels, "--epochs", plan.epochs)
    settings = ("--epochs", plan.epochs, "--kernel", made["kernel"])
    one, two = in_turn(plan.repeats, *(lambda threads=threads: tools.train(scene, pixels, *settings, threads=threads)[0] for threads in (1, 2)))
    labels, model = tools.labels(scene, pixels), made["model"]
    return {"epochs": plan.epochs, "kernel": made["kernel"], "lambda1": made["lambda1"], "one": one, "two": two,
            "epoch": tools.parts("epoch", max(3, plan.repeats), scene.cube, labels, model),
            "curves": [tools.parts("curve", scene.cube, labels, model, *each, plan.epochs) for each in OPTIMIZERS]}


def sizes(plan: Plan) -> list[tuple[str, Setting]]:
    """The axis that changes, and all sizes."""
    base = Setting(plan.side)
    return [*(("pixels", replace(base, side=side)) for side in plan.sides),
            *(("training pixels", replace(base, training=count)) for count in plan.training_pixels),
            *(("S", replace(base, window=window)) for window in plan.windows),
            *(("d", replace(base, atoms_per_class=count)) for count in plan.atoms_per_class),
            *(("bands", replace(base, bands=bands)) for bands in plan.bands)]


def sweeps(tools: Tools, plan: Plan) -> dict[str, list[dict[str, Any]]]:
    """Processor time and memory of both commands, by axis. The time of epochs is what a training takes more than one without any."""
    found: dict[str, list[dict[str, Any]]] = {}
    for axis, setting in sizes(plan):
        scene = tools.scene(setting.side, setting.side, setting.bands, 9)
        train = functools.partial(tools.train, scene, setting.training, "--kernel", SWEEP_KERNEL, "--atoms-per-class", setting.atoms_per_class, window=setting.window)
        _, made = train("--epochs", 0)
        none, some, classify = in_turn(plan.repeats, lambda: train("--epochs", 0)[0], lambda: train("--epochs", SWEEP_EPOCHS)[0],
                                       lambda: tools.classify(scene, made["model"]))
        size = {"pixels": setting.side**2, "training pixels": made["training_pixels"], "S": setting.window, "d": made["atoms"], "bands": setting.bands}[axis]
        point = {"size": size, "train": {"seconds": some["processor"] - none["processor"], "peak": some["peak"]},
                 "classify": {"seconds": classify["processor"], "peak": classify["peak"]}}
        found.setdefault(axis, []).append(point)
        print(f"{axis} {size}: " + ", ".join(f"{verb} {point[verb]['seconds']:.3g} s {point[verb]['peak']:.0f} MB" for verb in ("train", "classify")), flush=True)
    return found


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """p of the y = c x^p that fits best, on logarithmic scales."""
    return statistics.linear_regression([math.log(x) for x, _ in points], [math.log(y) for _, y in points]).slope


def time_to(curve: dict[str, Any], loss: float) -> float:
    """Seconds of training after which the loss is first as low; infinite where it never is."""
    return next((seconds for seconds, each in zip(curve["seconds"], curve["loss"], strict=True) if each is not None and each <= loss), math.inf)


def lowest(curve: dict[str, Any]) -> float:
    """A loss that is not a number was too large for one."""
    return min(each for each in curve["loss"] if each is not None)


def race(curves: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any], float]:
    """Adam, a loss that it and some stochastic gradient reach, and the stochastic gradient that is there first: (Adam, the other, loss)."""
    adam = next(each for each in curves if each["optimizer"] == "adam")
    rivals = [each for each in curves if each["optimizer"] == "sgd"]
    loss = max(lowest(adam), min(map(lowest, rivals)))
    return adam, min(rivals, key=lambda each: time_to(each, loss)), loss


class Aim(NamedTuple):
    what: str
    figure: float
    bound: float
    at_most: bool  # else at least

    @property
    def met(self) -> bool:
        return self.figure <= self.bound if self.at_most else self.figure >= self.bound

    def __str__(self) -> str:
        return f"{self.what}: {self.figure:.2f} (aim: at {'most' if self.at_most else 'least'} {self.bound:g}{'' if self.met else ', MISSED'})"


def svm_seconds(cell: dict[str, Any]) -> float:
    """For as many pixels as were classified."""
    return cell["svm"]["seconds"] / cell["svm"]["pixels"] * cell["pixels"]


def aims(document: Document) -> list[Aim]:
    """Every figure that has an aim."""
    found = []
    for cell in document["classification"]:
        name = f"{cell['scene']}, {cell['normalize']}, S = {cell['window']}, lambda1 = {cell['lambda1']:g}"
        if cell["window"] == 1:
            found += [Aim(f"classify in memory / bare k(D, X), {name}", cell["whole"] / cell["bare"], 3, True),
                      Aim(f"classify, the whole command / bare k(D, X), {name}", cell["one"]["processor"] / cell["bare"], 3, True)]
        else:
            found.append(Aim(f"LIBSVM / classify in memory, {name}", svm_seconds(cell) / cell["whole"], 1, False))
        found += [Aim(f"two threads: classify in memory, {name}", cell["wall_one"] / cell["wall_two"], 1.8, False),
                  Aim(f"two threads: classify, the whole command, {name}", cell["one"]["wall"] / cell["two"]["wall"], 1.8, False)]
    learned = document["training"]
    epoch = learned["epoch"]
    adam, sgd, loss = race(learned["curves"])
    return [*found,
            Aim("two threads: epochs of training", learned["one"]["told"] / learned["two"]["told"], 1.8, False),
            Aim("two threads: train, the whole command", learned["one"]["wall"] / learned["two"]["wall"], 1.8, False),
            Aim("an epoch / coding its windows afresh", epoch["epoch"] / epoch["coding_afresh"], 1.3, True),
            Aim("an epoch / coding its windows from their last codes", epoch["epoch"] / epoch["coding_warm"], 1.3, True),
            Aim("time to the same loss: stochastic gradient / Adam", time_to(sgd, loss) / time_to(adam, loss), 1, False),
            Aim("exponent of an epoch's time in training pixels",
                exponent([(point["size"], point["train"]["seconds"]) for point in document["sweeps"]["training pixels"]]), 1.1, True)]


def processor() -> str:
    found = re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text()) if Path("/proc/cpuinfo").is_file() else None
    return found[1] if found else platform.machine()


PARTS: dict[str, Callable[[Tools, Plan], Any]] = {"classification": classification, "training": training, "sweeps": sweeps}


def measured(document: Document) -> str:
    """When, part by part."""
    return ", ".join(f"{part} on {told['date']} ({told['machine']}, load {told['load']:.1f} at its beginning)" for part, told in document["measured"].items())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller scenes, once each")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release", help="folder of the build")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS, help="the JSON file to make")
    parser.add_argument("--part", choices=PARTS, action="append", help="measure this part alone; the file keeps the others")
    args = parser.parse_args()
    plan = QUICK if args.quick else FULL
    document: Document = json.loads(args.output.read_text()) if args.part else {"measured": {}}
    document |= {"cores": os.cpu_count(), "seed": SEED, "plan": asdict(plan)}
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(args.build, Path(folder))
        for part in args.part or PARTS:
            document["measured"][part] = {"machine": processor(), "date": datetime.datetime.now(datetime.UTC).date().isoformat(), "load": os.getloadavg()[0]}
            document[part] = PARTS[part](tools, plan)
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.write_text(json.dumps(document, indent=1) + "\n")
    print(*aims(document), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
