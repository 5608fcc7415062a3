#!/usr/bin/env python3
"""Makes a scene of any size of the crop of Pavia University: mirrored at its edges again and again, so that neighbours stay neighbours. Its labels are there once, in the upper left corner.

  bench/mirrored_scene.py FOLDER ROWS COLS SCENE LABELS    from the crop in FOLDER; SCENE and LABELS are raw files of ENVI, lines of bands and bytes"""

from __future__ import annotations

import itertools
import struct
import sys
import zlib
from array import array
from pathlib import Path

CROP, CLASSES = "pavia_u_crop.mat", "pavia_u_crop_gt.mat"
TYPES = {1: "b", 2: "B", 3: "h", 4: "H"}  # MATLAB's numbers of types: those that hold spectra and classes


def read_array(path: Path) -> tuple[list[int], array[int]]:
    """The one array of a compressed MATLAB 5 file: its sizes, and its values, the first index fastest."""
    element = zlib.decompress(path.read_bytes()[136:])
    place, parts = 8, []
    while len(parts) < 4:  # flags, sizes, name, values
        kind, size = struct.unpack_from("<II", element, place)
        if kind >> 16:  # four bytes or fewer are kept in the tag
            kind, size, start, place = kind & 0xFFFF, kind >> 16, place + 4, place + 8
        else:
            start, place = place + 8, place + 8 + (size + 7) // 8 * 8
        parts.append((kind, element[start:start + size]))
    return list(array("i", parts[1][1])), array(TYPES[parts[3][0]], parts[3][1])


def mirrored(size: int, length: int) -> list[int]:
    """Places of `size` things, there and back, until there are `length` of them."""
    return list(itertools.islice(itertools.cycle([*range(size), *reversed(range(size))]), length))


def write(path: Path, lines: list[bytes], cols: int, bands: int, kind: int) -> None:
    path.write_bytes(b"".join(lines))
    path.with_suffix(".hdr").write_text(f"ENVI\nsamples = {cols}\nlines = {len(lines)}\nbands = {bands}\nheader offset = 0\nfile type = ENVI Standard\ndata type = {kind}\n"
                                        "interleave = bil\nbyte order = 0\n")


def make(folder: Path, rows: int, cols: int, scene: Path, labels: Path) -> None:
    (height, width, bands), values = read_array(folder / CROP)
    columns = mirrored(width, cols)
    spectra = array("H", values)
    # What a line of a band has is `height` apart.
    lines = [b"".join(array("H", map(spectra[height * width * b + r:height * width * (b + 1):height].__getitem__, columns)).tobytes() for b in range(bands))
             for r in range(min(height, rows))]
    write(scene, [lines[r] for r in mirrored(height, rows)], cols, bands, 12)
    _, classes = read_array(folder / CLASSES)
    known = [bytes(classes[r::height][:cols]).ljust(cols, b"\0") for r in range(min(height, rows))]
    write(labels, known + [bytes(cols)] * (rows - len(known)), cols, 1, 1)


if __name__ == "__main__":
    make(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]), Path(sys.argv[5]))
