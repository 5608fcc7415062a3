// What the reader has chosen to see.

import type { Layers, Report } from "./data";
import type { CellOfConfusion } from "./layers";

export interface Look {
  /// Layer A is drawn everywhere, B over it to the right of the swipe (0..1), with an opacity.
  a: string;
  b: string;
  swipe: number;
  opacity: number;
  isolate: number | null;
  cell: CellOfConfusion | null;
  training: boolean;
  test: boolean;
  window: boolean;
  cursor: [number, number];
}

export type Change = (part: Partial<Look>) => void;

/// The labelled (else mapped) pixel nearest to a place right of the swipe, where it hides nothing.
export function firstPixel(report: Report, layers: Layers): [number, number] {
  const { rows, cols } = report.scene;
  const centre: [number, number] = [Math.floor(0.4 * rows), Math.floor(0.68 * cols)];
  for (const name of ["truth", "prediction"]) {
    const labels = layers.get(name);
    let best: [number, number] | null = null;
    let nearest = Number.POSITIVE_INFINITY;
    labels?.forEach((label, pixel) => {
      const row = Math.floor(pixel / cols);
      const col = pixel % cols;
      const distance = (row - centre[0]) ** 2 + (col - centre[1]) ** 2;
      if (label > 0 && distance < nearest) {
        nearest = distance;
        best = [row, col];
      }
    });
    if (best) return best;
  }
  return centre;
}

export function firstLook(report: Report, layers: Layers): Look {
  const maps = [...layers.keys()].filter((name) => name.startsWith("map-"));
  const there = ["rgb", "prediction", ...maps.slice(-1), "truth"].filter((name) => layers.has(name));
  return {
    a: there[0] ?? "",
    b: there[1] ?? there[0] ?? "",
    swipe: 0.5,
    opacity: 1,
    isolate: null,
    cell: null,
    training: false,
    test: false,
    window: true,
    cursor: firstPixel(report, layers),
  };
}
