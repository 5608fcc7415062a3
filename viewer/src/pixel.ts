// What is known of one pixel.

import { type Accuracy, type Details, type Entry, entriesAt, type Layers, NONE, type Report } from "./data";

export interface ScoredClass {
  index: number;
  score: number;
}

export interface Pixel {
  row: number;
  col: number;
  truth: number | null;
  prediction: number | null;
  role: "training" | "test" | null;
  confidence: number | null;
  novelty: number | null;
  /// A value of each band; null where the page has none.
  spectrum: (number | null)[] | null;
  reconstruction: Float64Array | null;
  /// Strongest first.
  entries: Entry[] | null;
  /// Best first.
  scores: ScoredClass[] | null;
  /// What each method of a comparison says.
  votes: { method: string; index: number | null }[];
}

/// Of the counted pixels that the map has as a class, those of each class in truth, most first.
export function truthOfMapped(accuracy: Accuracy, predicted: number): { index: number; pixels: number }[] {
  return accuracy.confusion
    .map((line, index) => ({ index, pixels: line[predicted] }))
    .filter(({ pixels }) => pixels > 0)
    .sort((a, b) => b.pixels - a.pixels);
}

export function spectrumAt(report: Report, details: Details, index: number): (number | null)[] | null {
  const { spectra } = details;
  if (!spectra) return null;
  const place = spectra.places ? spectra.places[index] : index;
  if (place < 0) return null;
  const { bands, low, high } = report.spectra;
  const values = new Array<number | null>(report.scene.bands).fill(null);
  bands.forEach((band, k) => {
    const root = spectra.quantised[place * bands.length + k] / 255;
    values[band] = low[band] + (high[band] - low[band]) * root * root;
  });
  return values;
}

export function reconstructionOf(
  report: Report,
  details: Details,
  index: number,
  entries: Entry[],
): Float64Array | null {
  const { atoms, codes } = details;
  if (!atoms || entries.length === 0) return null;
  const bands = report.scene.bands;
  const times = codes?.offsets ? codes.offsets[index] : 1;
  const sum = Float64Array.from({ length: bands }, (_, band) => times * (report.offset?.[band] ?? 0));
  for (const { atom, part } of entries)
    for (let band = 0; band < bands; ++band) sum[band] += part * atoms[atom * bands + band];
  return sum;
}

function scoresAt(report: Report, details: Details, index: number): ScoredClass[] | null {
  const { scores } = details;
  if (!scores || !report.scores) return null;
  const { low, high } = report.scores;
  const count = report.classes.length;
  const all = report.classes.map((_, c) => ({
    index: c,
    score: low + ((high - low) * scores[index * count + c]) / 255,
  }));
  return all.sort((a, b) => b.score - a.score);
}

export function describePixel(
  report: Report,
  layers: Layers,
  details: Details | null,
  row: number,
  col: number,
): Pixel {
  const index = row * report.scene.cols + col;
  const label = (name: string) => {
    const value = layers.get(name)?.[index] ?? 0;
    return value > 0 && value <= report.classes.length ? value - 1 : null;
  };
  const share = (name: string) => {
    const value = layers.get(name)?.[index] ?? NONE;
    return value === NONE ? null : value / 254;
  };
  const role = layers.get("split")?.[index];
  const entries = details?.codes
    ? entriesAt(details.codes, index).sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight))
    : null;
  return {
    row,
    col,
    truth: label("truth"),
    prediction: label("prediction"),
    role: role === 1 ? "training" : role === 2 ? "test" : null,
    confidence: share("confidence"),
    novelty: share("novelty"),
    spectrum: details && spectrumAt(report, details, index),
    reconstruction: details && entries && reconstructionOf(report, details, index, entries),
    entries,
    scores: details && scoresAt(report, details, index),
    votes: (report.comparison?.maps ?? [])
      .filter((method) => layers.has(`map-${method}`))
      .map((method) => ({ method, index: label(`map-${method}`) })),
  };
}
