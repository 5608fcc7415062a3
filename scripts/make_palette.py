#!/usr/bin/env python3
"""Prints the colours of hyperatom/scene/labels.cpp of classes, and how far apart they are.

The first seven are Okabe and Ito's without their black. Each further one is, of a grid of colours, the one that is farthest from all before it, and not near the black of no data, by the
least of four distances: as most people see it and as people without one of the three cones do (Machado, Oliveira and Fernandes, 2009), in OKLab (Ottosson, 2020)."""

from __future__ import annotations

import itertools
import math
import sys

COUNT = 32
FIRST = [(230, 159, 0), (86, 180, 233), (0, 158, 115), (240, 228, 66), (0, 114, 178), (213, 94, 0), (204, 121, 167)]
BLACK, FROM_BLACK = (0, 0, 0), 0.35
STEPS = (0, 25, 51, 76, 102, 127, 153, 178, 204, 229, 255)

Triple = tuple[float, ...]
Matrix = tuple[Triple, Triple, Triple]

VISIONS: tuple[Matrix, ...] = (
    ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
)
TO_CONES: Matrix = ((0.4122214708, 0.5363325363, 0.0514459929), (0.2119034982, 0.6806995451, 0.1073969566), (0.0883024619, 0.2817188376, 0.6299787005))
TO_LAB: Matrix = ((0.2104542553, 0.7936177850, -0.0040720468), (1.9779984951, -2.4285922050, 0.4505937099), (0.0259040371, 0.7827717662, -0.8086757660))


def times(matrix: Matrix, vector: Triple) -> Triple:
    return tuple(sum(m * v for m, v in zip(row, vector, strict=True)) for row in matrix)


def linear(value: int) -> float:
    share = value / 255
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4


def seen(colour: tuple[int, ...]) -> list[Triple]:
    """The colour in OKLab, by each vision."""
    light = tuple(linear(value) for value in colour)
    return [times(TO_LAB, tuple(math.cbrt(max(0.0, cone)) for cone in times(TO_CONES, tuple(min(1.0, max(0.0, x)) for x in times(vision, light))))) for vision in VISIONS]


def distance(a: list[Triple], b: list[Triple]) -> float:
    return min(math.dist(x, y) for x, y in zip(a, b, strict=True))


def main() -> int:
    colours: list[tuple[int, ...]] = list(FIRST)
    candidates = {colour: seen(colour) for colour in itertools.product(STEPS, repeat=3) if distance(seen(colour), seen(BLACK)) > FROM_BLACK}
    nearest = {colour: min(distance(lab, seen(other)) for other in FIRST) for colour, lab in candidates.items()}
    while len(colours) < COUNT:
        best = max(nearest, key=lambda colour: nearest[colour])
        colours.append(best)
        for colour, lab in candidates.items():
            nearest[colour] = min(nearest[colour], distance(lab, candidates[best]))
    labs = [seen(colour) for colour in colours]
    for count in (7, 8, 9, 12, 16, 24, 32):
        print(f"// {count}: at least {min(distance(a, b) for a, b in itertools.combinations(labs[:count], 2)):.4f} apart")
    print(", ".join("{" + ", ".join(map(str, colour)) + "}" for colour in colours))
    return 0


if __name__ == "__main__":
    sys.exit(main())
