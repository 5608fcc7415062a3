// Layers of the map as RGBA pixels.

import { type ClassInfo, type Layers, NONE, type Report } from "./data";

export type Colour = [number, number, number];

export const ERRORS = "errors";
export const RIGHT = 1;
export const WRONG = 2;
export const TRAINING = 3;

/// Right and wrong differ in lightness as well as in hue, so that no kind of colour vision confuses them.
export const ERROR_KEYS: { code: number; label: string; colour: Colour }[] = [
  { code: RIGHT, label: "right", colour: [58, 110, 150] },
  { code: WRONG, label: "wrong", colour: [255, 176, 46] },
  { code: TRAINING, label: "training, not counted", colour: [120, 124, 128] },
];

/// Of training and test pixels and of the cursor's window; style.css has them too.
export const OUTLINES = { training: "#ffffff", test: "#8fd3ff", window: "#ffe14d" };

export const LIT: Colour = [255, 214, 0];
const VEIL: [number, number, number, number] = [8, 11, 14, 190];
const DIM = 26;
const GREY: Colour = [136, 136, 136];

/// From dark blue to pale yellow, ever lighter: order is read from lightness alone.
const RAMP: Colour[] = [
  [14, 22, 66],
  [34, 66, 122],
  [38, 116, 138],
  [76, 162, 126],
  [166, 200, 100],
  [250, 236, 150],
];

export function parseColour(text: string): Colour {
  const digits = /^#([0-9a-f]{6})$/i.exec(text);
  if (!digits) return GREY;
  const value = Number.parseInt(digits[1], 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

export const cssColour = ([r, g, b]: Colour) => `rgb(${r} ${g} ${b})`;

export function ramp(share: number): Colour {
  const at = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const below = Math.min(Math.floor(at), RAMP.length - 2);
  const mix = at - below;
  const channel = (i: number) => Math.round(RAMP[below][i] * (1 - mix) + RAMP[below + 1][i] * mix);
  return [channel(0), channel(1), channel(2)];
}

/// The pixels that accuracy is counted on: the test pixels, or without a split all that have a truth.
export function isCounted(truth: Uint8Array, split: Uint8Array | undefined, pixel: number): boolean {
  return truth[pixel] > 0 && (!split || split[pixel] === 2);
}

/// A labelled pixel that the map leaves out is wrong, as in the accuracy.
export function errorLayer(truth: Uint8Array, map: Uint8Array, split: Uint8Array | undefined): Uint8Array {
  return truth.map((label, pixel) => {
    if (label > 0 && split?.[pixel] === 1) return TRAINING;
    if (!isCounted(truth, split, pixel)) return 0;
    return label === map[pixel] ? RIGHT : WRONG;
  });
}

/// The layer whose errors a layer shows: "errors" those of the prediction, "errors-METHOD" those of a method's map.
export function judgedLayer(name: string): string | null {
  if (name === ERRORS) return "prediction";
  return name.startsWith(`${ERRORS}-`) ? `map-${name.slice(ERRORS.length + 1)}` : null;
}

/// Null when the layer is not one of errors, or is not there.
export function errorsIn(name: string, layers: Layers): Uint8Array | null {
  const truth = layers.get("truth");
  const map = layers.get(judgedLayer(name) ?? "");
  return truth && map ? errorLayer(truth, map, layers.get("split")) : null;
}

export interface CellOfConfusion {
  truth: number;
  predicted: number;
}

export function cellName(report: Report, { truth, predicted }: CellOfConfusion): string {
  const name = report.classes[truth].name;
  return predicted < 0 ? `${name} not mapped` : `${name} mapped as ${report.classes[predicted].name}`;
}

/// 1 for the counted pixels of a cell of the confusion matrix; predicted -1: not mapped.
export function cellMask(layers: Layers, cell: CellOfConfusion): Uint8Array | null {
  const truth = layers.get("truth");
  const prediction = layers.get("prediction");
  const split = layers.get("split");
  if (!truth || !prediction) return null;
  return truth.map((label, pixel) =>
    Number(label === cell.truth + 1 && prediction[pixel] === cell.predicted + 1 && isCounted(truth, split, pixel)),
  );
}

export function histogram(values: Uint8Array, size: number): number[] {
  const counts = new Array<number>(size).fill(0);
  for (const value of values) if (value < size) ++counts[value];
  return counts;
}

export const isClassLayer = (name: string) => name === "truth" || name === "prediction" || name.startsWith("map-");

/// The methods of a comparison that have a map.
export const methodsIn = (layers: Layers) =>
  [...layers.keys()].filter((name) => name.startsWith("map-")).map((name) => name.slice(4));

export interface LayerChoice {
  name: string;
  label: string;
}

export function layerChoices(report: Report, layers: Layers): LayerChoice[] {
  const { composite } = report.scene;
  const known: [string, string][] = [
    ["rgb", composite ? `Composite (${composite.kind})` : "Composite"],
    ["truth", "Truth"],
    ["prediction", "Prediction"],
    [ERRORS, "Errors"],
    ["confidence", "Confidence"],
    ["novelty", "Novelty"],
  ];
  const methods = methodsIn(layers);
  for (const method of methods) known.push([`map-${method}`, method]);
  for (const method of methods) known.push([`${ERRORS}-${method}`, `Errors of ${method}`]);
  const there = (name: string) => {
    const judged = judgedLayer(name);
    return judged ? layers.has("truth") && layers.has(judged) : layers.has(name);
  };
  return known.filter(([name]) => there(name)).map(([name, label]) => ({ name, label }));
}

/// RGBA of a layer; isolate leaves one class bright. Null when the layer is not there.
export function paintLayer(
  name: string,
  layers: Layers,
  classes: ClassInfo[],
  isolate: number | null,
): Uint8ClampedArray<ArrayBuffer> | null {
  if (name === "rgb") {
    const rgb = layers.get("rgb");
    return rgb ? paint(rgb.length / 3, (pixel) => [rgb[3 * pixel], rgb[3 * pixel + 1], rgb[3 * pixel + 2]]) : null;
  }
  const errors = errorsIn(name, layers);
  if (errors) {
    const colours = [null, ...ERROR_KEYS.map((key) => key.colour)];
    return paint(errors.length, (pixel) => colours[errors[pixel]], layers.get("truth"), isolate);
  }
  const values = layers.get(name);
  if (!values) return null;
  if (isClassLayer(name)) {
    const palette = classes.map((c) => parseColour(c.colour));
    return paint(values.length, (pixel) => palette[values[pixel] - 1] ?? null, values, isolate);
  }
  const palette = Array.from({ length: 255 }, (_, value) => ramp(value / 254));
  const shade = (pixel: number) => (values[pixel] === NONE ? null : palette[values[pixel]]);
  return paint(values.length, shade, layers.get("prediction"), isolate);
}

function paint(
  pixels: number,
  colour: (pixel: number) => Colour | null,
  labels?: Uint8Array,
  isolate: number | null = null,
): Uint8ClampedArray<ArrayBuffer> {
  const rgba = new Uint8ClampedArray(4 * pixels);
  for (let pixel = 0; pixel < pixels; ++pixel) {
    const found = colour(pixel);
    if (!found) continue;
    rgba[4 * pixel] = found[0];
    rgba[4 * pixel + 1] = found[1];
    rgba[4 * pixel + 2] = found[2];
    rgba[4 * pixel + 3] = isolate === null || !labels || labels[pixel] === isolate + 1 ? 255 : DIM;
  }
  return rgba;
}

/// Lit pixels in one bright colour, a dark veil over the rest.
export function paintMask(mask: Uint8Array): Uint8ClampedArray<ArrayBuffer> {
  const rgba = new Uint8ClampedArray(4 * mask.length);
  for (let pixel = 0; pixel < mask.length; ++pixel) rgba.set(mask[pixel] ? [...LIT, 255] : VEIL, 4 * pixel);
  return rgba;
}

/// The border of a set of pixels as segments (x0, y0, x1, y1) in pixel units.
export function borderSegments(inside: (pixel: number) => boolean, rows: number, cols: number): number[] {
  const segments: number[] = [];
  const has = (row: number, col: number) =>
    row >= 0 && col >= 0 && row < rows && col < cols && inside(row * cols + col);
  for (let row = 0; row < rows; ++row)
    for (let col = 0; col < cols; ++col) {
      if (!inside(row * cols + col)) continue;
      if (!has(row - 1, col)) segments.push(col, row, col + 1, row);
      if (!has(row + 1, col)) segments.push(col, row + 1, col + 1, row + 1);
      if (!has(row, col - 1)) segments.push(col, row, col, row + 1);
      if (!has(row, col + 1)) segments.push(col + 1, row, col + 1, row + 1);
    }
  return segments;
}
