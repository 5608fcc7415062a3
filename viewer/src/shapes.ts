// Atoms and mean spectra as shapes: atoms with the offset, both scaled to unit length, since an atom has no scale of its own. And the
// part of a histogram that is worth drawing.

import type { Certificate, Details, Model, Report } from "./data";

export type Shape = Float64Array;

export function shapeOf(values: ArrayLike<number>, offset: number[] | null): Shape | null {
  const shape = Float64Array.from(values, (value, band) => value + (offset?.[band] ?? 0));
  const norm = Math.hypot(...shape);
  return norm > 0 && Number.isFinite(norm) ? shape.map((value) => value / norm) : null;
}

export interface ClassShapes {
  mean: Shape | null;
  /// Most used first.
  atoms: { atom: number; shape: Shape }[];
}

export function shapesOfClass(report: Report, model: Model, details: Details, index: number): ClassShapes {
  const { bands } = report.scene;
  const line = (values: Float32Array, at: number) => values.subarray(at * bands, (at + 1) * bands);
  const mean = details.means && shapeOf(line(details.means, index), null);
  const atoms: ClassShapes["atoms"] = [];
  model.atom_classes.forEach((owner, atom) => {
    const shape = owner === index && details.atoms ? shapeOf(line(details.atoms, atom), report.offset) : null;
    if (shape) atoms.push({ atom, shape });
  });
  atoms.sort((a, b) => model.usage[b.atom] - model.usage[a.atom]);
  return { mean, atoms };
}

/// A path in a box of 100 x 40 that holds both shapes: each is drawn with the other, at one scale.
export function sparkline(shape: Shape, other: Shape | null): string {
  const low = Math.min(...shape, ...(other ?? []));
  const high = Math.max(...shape, ...(other ?? []));
  const x = (band: number) => ((100 * band) / Math.max(1, shape.length - 1)).toFixed(1);
  const y = (value: number) => (38 - (36 * (value - low)) / (high - low || 1)).toFixed(1);
  return Array.from(shape, (value, band) => `${band === 0 ? "M" : "L"}${x(band)} ${y(value)}`).join("");
}

/// Without the empty bins at both ends, but with the tolerance.
export function occupied({ edges, counts, tolerance }: Certificate): { edges: number[]; counts: number[] } {
  const limit = Math.log10(tolerance);
  const kept = counts.map((n, i) => n > 0 || (edges[i] <= limit && limit <= edges[i + 1]));
  const [first, last] = [Math.max(0, kept.indexOf(true)), kept.lastIndexOf(true) + 1];
  return { edges: edges.slice(first, last + 1), counts: counts.slice(first, last) };
}
