// What the reader has chosen to see.

import type { Layers, Report } from "./data";
import { type CellOfConfusion, methodsIn } from "./layers";
import type { Focus } from "./view";

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
  /// Null: the whole scene.
  focus: Focus | null;
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
  const first = (...names: string[]) => names.find((name) => layers.has(name)) ?? "";
  const map = first("prediction", `map-${methodsIn(layers).at(-1)}`);
  return {
    a: first("rgb", "truth", map),
    b: map || first("truth", "rgb"),
    swipe: 0.5,
    opacity: 1,
    isolate: null,
    cell: null,
    training: false,
    test: false,
    window: true,
    cursor: firstPixel(report, layers),
    focus: null,
  };
}
