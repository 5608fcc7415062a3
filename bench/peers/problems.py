"""The problems that all coders are measured on: atoms and windows of real scenes, or of a synthetic one where they are absent."""

from __future__ import annotations

import functools
import itertools
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io

Array = np.ndarray[Any, Any]

SIZES = {45: "pavia", 80: "indian-pines", 997: "indian-pines", 3921: "pavia"}
FILES = {"indian-pines": ("indian_pines/indian_pines.mat", "indian_pines/indian_pines_gt.mat"),
         "pavia": ("pavia_university/pavia_u_crop.mat", "pavia_university/pavia_u_crop_gt.mat")}
SHAPES = {"indian-pines": (145, 145, 200), "pavia": (140, 80, 103)}
WINDOWS = (1, 9, 25, 49, 81)
SIGMAS = (0.05, 1.0)
LAMBDAS = (0.3, 0.1, 0.01, 0.001)
COUNTS = {45: 200, 80: 200, 997: 200, 3921: 100}  # windows that hyperatom codes, of S > 1
SINGLE = 2000  # pixels of S = 1: enough that what a call costs by itself does not count
SEED = 0


@dataclass(frozen=True)
class Cell:
    atoms: int
    window: int
    sigma: float
    lambda1: float
    learned: bool  # atoms that were learned, else pixels

    @property
    def name(self) -> str:
        return (f"{SIZES[self.atoms]} d={self.atoms} {'learned' if self.learned else 'pixels'} S={self.window} "
                f"sigma={self.sigma:g} lambda1={self.lambda1:g}")


def cells(quick: bool) -> list[Cell]:
    """Learned dictionaries are compact: they come in the sizes of the paper's two."""
    if quick:
        return [Cell(d, S, sigma, lambda1, learned)
                for d, S, learned in ((45, 1, False), (80, 1, False), (997, 1, False), (45, 9, False), (80, 9, False), (80, 49, False),
                                      (80, 9, True), (997, 9, False))
                for sigma, lambda1 in ((0.05, 0.1), (1.0, 0.01))]
    return [Cell(d, S, sigma, lambda1, learned)
            for d, learned in ((45, False), (45, True), (80, False), (80, True), (997, False), (3921, False))
            for S, sigma, lambda1 in itertools.product(WINDOWS, SIGMAS, LAMBDAS)]


def gaussian(X: Array, Y: Array, sigma: float) -> Array:
    """k(x, y) = exp(-|x - y|^2 / sigma) of the columns."""
    squares = (X**2).sum(0)[:, None] + (Y**2).sum(0)[None] - 2 * X.T @ Y
    return np.asfortranarray(np.exp(-np.maximum(squares, 0) / sigma))


def synthetic_scene(rows: int, cols: int, bands: int) -> tuple[Array, Array]:
    """A cube and its classes: smooth spectra of 16 classes in fields, mixed with each other, with 0.1 % noise."""
    random = np.random.default_rng(SEED)
    x = np.linspace(0, 1, bands)
    spectra = np.array([(0.35 + 0.3 * np.sin(2.5 * x) - 0.15 * x**2)
                        * np.prod([1 - 0.1 * random.uniform(0.3, 1) * np.exp(-(((x - random.uniform()) / random.uniform(0.02, 0.08))**2) / 2)
                                   for _ in range(4)], axis=0) for _ in range(16)])
    seeds = random.uniform(size=(60, 2)) * (rows, cols)
    here = np.stack(np.meshgrid(np.arange(rows), np.arange(cols), indexing="ij"), -1).reshape(-1, 1, 2)
    fields = ((here - seeds)**2).sum(-1).argmin(1) % 16
    mixed = random.uniform(0, 0.6, rows * cols)[:, None]
    pixels = (1 - mixed) * spectra[fields] + mixed * spectra[random.integers(0, 16, rows * cols)]
    pixels += 0.001 * random.standard_normal(pixels.shape)
    return pixels.reshape(rows, cols, bands), (fields + 1).reshape(rows, cols).astype(np.uint8)


def array_of(path: Path) -> Array:
    """The array of a MATLAB file that has one."""
    return next(np.asarray(value) for key, value in scipy.io.loadmat(path).items() if not key.startswith("_"))


@dataclass
class Scene:
    name: str
    pixels: Array  # bands x pixels, of length 1
    labels: Array  # rows x cols
    real: bool


class Problems:
    """The Gaussian kernel of pixels of length 1."""

    def __init__(self, data: Path, hyperatom: Path, work: Path) -> None:
        self.data, self.hyperatom, self.work = data, hyperatom, work

    @functools.cache
    def scene(self, name: str) -> Scene:
        cube_file, labels_file = (self.data / file for file in FILES[name])
        real = cube_file.is_file()
        cube, labels = (array_of(cube_file).astype(float), array_of(labels_file)) if real else synthetic_scene(*SHAPES[name])
        pixels = cube.reshape(-1, cube.shape[2]).T
        return Scene(name, np.asfortranarray(pixels / np.linalg.norm(pixels, axis=0)), labels, real)

    @functools.lru_cache(maxsize=1)
    def dictionary(self, atoms: int, sigma: float, learned: bool) -> tuple[Array, Array]:
        """k(D, D) and k(D, X) of all pixels X."""
        scene = self.scene(SIZES[atoms])
        if learned:
            D = self.learn(scene, sigma, atoms)
        else:
            D = scene.pixels[:, np.random.default_rng(SEED).permutation(scene.pixels.shape[1])[:atoms]]
        return gaussian(D, D, sigma), gaussian(D, scene.pixels, sigma)

    def learn(self, scene: Scene, sigma: float, atoms: int) -> Array:
        """By `hyperatom train`, from the scene's labels; the first so many of the atoms."""
        per_class = -(-atoms // (len(np.unique(scene.labels)) - int((scene.labels == 0).any())))
        folder = self.work / f"learned-{scene.name}-{sigma:g}"
        cube, labels = self.work / f"{scene.name}.npy", self.work / f"{scene.name}-labels.npy"
        np.save(cube, np.ascontiguousarray(scene.pixels.T).reshape(*scene.labels.shape, -1))
        np.save(labels, scene.labels)
        subprocess.run([self.hyperatom, "train", cube, "--labels", labels, "--normalize", "unit", "--window", "9",
                        "--kernel", f"gaussian(sigma={sigma:g})", "--atoms-per-class", str(per_class), "--epochs", "3",
                        "--seed", str(SEED), "-o", folder, "--overwrite", "--quiet"], check=True, stdout=subprocess.DEVNULL)
        return tensor_of(folder / "model.safetensors", "dictionary")[:, :atoms]

    def windows(self, cell: Cell, count: int | None = None) -> Array:
        """S pixel numbers a window, the centre first, in raster order from the middle of the scene on."""
        count = count or (COUNTS[cell.atoms] if cell.window > 1 else SINGLE)
        rows, cols = self.scene(SIZES[cell.atoms]).labels.shape
        reach = (round(cell.window**0.5) - 1) // 2
        offsets = sorted(itertools.product(range(-reach, reach + 1), repeat=2), key=lambda o: (o != (0, 0), o))
        centres = [(r, c) for r in range(rows // 2, rows - reach) for c in range(reach, cols - reach)][:count]
        return np.array([[(r + i) * cols + c + j for i, j in offsets] for r, c in centres], dtype=np.int64)


def tensor_of(path: Path, name: str) -> Array:
    """A matrix of doubles of a safetensors file, its rows as columns."""
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    entry = json.loads(content[8:8 + length])[name]
    begin, end = (8 + length + offset for offset in entry["data_offsets"])
    return np.frombuffer(content[begin:end]).reshape(entry["shape"]).T.copy(order="F")
