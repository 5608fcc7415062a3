#!/usr/bin/python3
"""Memory and sameness of `hyperatom classify` on tall scenes.

A scene (Indian Pines where the data are, else a synthetic one) is stacked upon itself to several
heights and classified. Prints the peak memory of the process for every height, --ram and number of
threads, and compares all maps of the tallest scene, pixel by pixel.

  bench/large_scene.py [--rows 20010] [--data ../shared/data] [--keep FOLDER]
"""

import argparse
import hashlib
import os
import re
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
from osgeo import gdal

ROOT = Path(__file__).resolve().parent.parent
HYPERATOM = os.environ.get("HYPERATOM_BIN", str(ROOT / "build/release/bin/hyperatom"))
gdal.UseExceptions()


class Run(NamedTuple):
    seconds: float
    peak_mb: float


def run(*words: str) -> Run:
    """Runs hyperatom and watches its peak memory. (What the system tells of a child that has ended
    counts the memory of this program too.)"""
    start, peak = time.monotonic(), 0
    with subprocess.Popen([HYPERATOM, *words, "--quiet"], stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            status = Path(f"/proc/{process.pid}/status").read_text()
            if found := re.search(r"VmHWM:\s*(\d+) kB", status):
                peak = int(found[1])
            time.sleep(0.02)
    if process.returncode != 0:
        sys.exit(f"large_scene: failed: hyperatom {' '.join(words)}")
    return Run(time.monotonic() - start, peak / 1024)


def stack(source: Path, target: Path, rows: int) -> None:
    """The scene as an ENVI file (by lines) of `rows` rows, repeated downwards."""
    dataset = gdal.Open(str(source))
    lines = np.ascontiguousarray(dataset.ReadAsArray().transpose(1, 0, 2))  # row, band, column
    height, bands, cols = lines.shape
    with open(target, "wb") as file:
        for first in range(0, rows, height):
            file.write(lines[: min(height, rows - first)].tobytes())
    data_type = {"uint16": 12, "float32": 4}[lines.dtype.name]
    target.with_suffix(".hdr").write_text(
        f"ENVI\nsamples = {cols}\nlines = {rows}\nbands = {bands}\nheader offset = 0\n"
        f"file type = ENVI Standard\ndata type = {data_type}\ninterleave = bil\nbyte order = 0\n"
        + ("data ignore value = -9999\n" if data_type == 4 else "")
    )


def read_cube(path: Path) -> np.ndarray:
    """The one array of a compressed MATLAB 5 file of unsigned 16-bit numbers."""
    content = path.read_bytes()[128:]
    element = zlib.decompress(content[8:])
    place, parts = 8, []
    while place < len(element) and len(parts) < 4:  # flags, sizes, name, values
        kind, size = struct.unpack_from("<II", element, place)
        if kind >> 16:  # four bytes or fewer are kept in the tag
            kind, size, start, place = kind & 0xFFFF, kind >> 16, place + 4, place + 8
        else:
            start, place = place + 8, place + 8 + (size + 7) // 8 * 8
        parts.append(element[start : start + size])
    shape = np.frombuffer(parts[1], "<i4")
    return np.frombuffer(parts[3], "<u2").reshape(shape, order="F")


def real_scene(data: Path, folder: Path) -> tuple[Path, list[str]]:
    """Indian Pines as a file that GDAL reads, and what to train on."""
    values = read_cube(data / "indian_pines/indian_pines.mat")
    scene = folder / "scene.img"
    rows, cols, bands = values.shape
    driver = gdal.GetDriverByName("ENVI")
    dataset = driver.Create(str(scene), cols, rows, bands, gdal.GDT_UInt16)
    dataset.WriteArray(np.ascontiguousarray(values.transpose(2, 0, 1)))
    dataset = None
    return scene, ["--labels", str(data / "indian_pines/fixed_train_695.mat")]


def synthetic_scene(folder: Path) -> tuple[Path, list[str]]:
    scene, labels = folder / "scene.img", folder / "labels.tif"
    run("synth", "-o", str(scene), "--labels", str(labels), "--rows", "145", "--cols", "145",
        "--bands", "200")
    return scene, ["--labels", str(labels)]


def pixels_hash(path: Path) -> str:
    dataset = gdal.Open(str(path))
    digest = hashlib.sha256()
    for row in range(0, dataset.RasterYSize, 1000):
        count = min(1000, dataset.RasterYSize - row)
        digest.update(dataset.ReadAsArray(0, row, dataset.RasterXSize, count).tobytes())
    return digest.hexdigest()[:16]


def measure(folder: Path, data: Path, rows: int) -> bool:
    real = (data / "indian_pines/indian_pines.mat").is_file()
    scene, labels = real_scene(data, folder) if real else synthetic_scene(folder)
    print(f"scene: {'Indian Pines' if real else 'synthetic'} stacked; "
          "window 9, sigma 0.05, 2 atoms a class, seed 0")
    run("train", str(scene), *labels, "--kernel", "gaussian(sigma=0.05)",
        "--atoms-per-class", "2", "-o", str(folder / "run"))

    def classify(height: int, ram: int, threads: int) -> str:
        tall, map_file = folder / f"tall{height}.img", folder / "map.tif"
        if not tall.exists():
            stack(scene, tall, height)
        result = run("classify", str(tall), "-m", str(folder / "run"), "-o", str(map_file),
                     "--ram", str(ram), "--threads", str(threads), "--overwrite")
        digest = pixels_hash(map_file)
        print(f"{height:6} rows  --ram {ram:6}  --threads {threads}  peak {result.peak_mb:7.0f} MB"
              f"  {result.seconds:6.1f} s  map {digest}", flush=True)
        return digest

    for height in (rows // 16, rows // 4):
        classify(height, 64, 2)
    hashes = [classify(rows, 64, threads) for threads in (1, 2, 5)]
    hashes += [classify(rows, ram, 2) for ram in (8, 100000)]
    same = len(set(hashes)) == 1
    print(f"maps of {rows} rows: {'all the same' if same else 'DIFFERENT'}")
    return same


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", type=int, default=20010)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data")
    parser.add_argument("--keep", type=Path, help="work in this folder and leave it there")
    arguments = parser.parse_args()
    if arguments.keep:
        arguments.keep.mkdir(parents=True, exist_ok=True)
        return 0 if measure(arguments.keep, arguments.data, arguments.rows) else 1
    with tempfile.TemporaryDirectory() as folder:
        return 0 if measure(Path(folder), arguments.data, arguments.rows) else 1


if __name__ == "__main__":
    sys.exit(main())
