// What stands beside a map that is saved: which layers it shows, and what its colours mean.

import type { Layers, Report } from "./data";
import { dateText } from "./format";
import {
  type Colour,
  cellName,
  ERROR_KEYS,
  errorsIn,
  isClassLayer,
  LIT,
  layerChoices,
  OUTLINES,
  paintLayer,
  parseColour,
} from "./layers";
import type { Look } from "./look";

export interface Key {
  label: string;
  colour: Colour;
  outline: boolean;
}

export interface Legend {
  title: string;
  /// The layers, where they are.
  layers: string[];
  keys: Key[];
  /// The continuous layers that a ramp from 0 to 1 is for.
  ramps: string[];
  made: string;
}

/// The classes that can be seen: those of A left of the swipe and where B is clear, those of B right of it.
function classesSeen(report: Report, layers: Layers, look: Look): number[] {
  const { cols } = report.scene;
  const a = isClassLayer(look.a) ? layers.get(look.a) : undefined;
  const b = isClassLayer(look.b) ? layers.get(look.b) : undefined;
  const over = paintLayer(look.b, layers, report.classes, null);
  const seen = new Set<number>();
  for (let pixel = 0; pixel < report.scene.rows * cols; ++pixel) {
    const right = ((pixel % cols) + 0.5) / cols > look.swipe;
    const covered = right && look.opacity === 1 && over !== null && over[4 * pixel + 3] > 0;
    if (a && !covered) seen.add(a[pixel] - 1);
    if (b && right && look.opacity > 0) seen.add(b[pixel] - 1);
  }
  const shown = report.classes.map((_, index) => index).filter((index) => seen.has(index));
  return look.isolate === null ? shown : shown.filter((index) => index === look.isolate);
}

function layerLines(look: Look, label: (name: string) => string): string[] {
  const [a, b] = [label(look.a), label(look.b)];
  if (look.a === look.b || look.opacity === 0 || look.swipe >= 1) return [a];
  const upper = look.opacity < 1 ? `${b}, ${Math.round(100 * look.opacity)} % over ${a}` : b;
  return look.swipe <= 0 ? [upper] : [`Left: ${a}`, `Right: ${upper}`];
}

export function legendOf(report: Report, layers: Layers, look: Look): Legend {
  const shown = [...new Set([look.a, look.b])];
  const choices = layerChoices(report, layers);
  const label = (name: string) => choices.find((choice) => choice.name === name)?.label ?? name;
  const keys: Key[] = classesSeen(report, layers, look).map((index) => ({
    label: report.classes[index].name,
    colour: parseColour(report.classes[index].colour),
    outline: false,
  }));
  const errors = shown.map((name) => errorsIn(name, layers)).filter((layer) => layer !== null);
  for (const { code, label: meaning, colour } of ERROR_KEYS)
    if (errors.some((layer) => layer.includes(code))) keys.push({ label: meaning, colour, outline: false });
  if (look.cell) keys.push({ label: `lit: ${cellName(report, look.cell)}`, colour: LIT, outline: false });
  if (layers.has("split"))
    for (const role of ["training", "test"] as const)
      if (look[role]) keys.push({ label: `${role} pixels`, colour: parseColour(OUTLINES[role]), outline: true });
  return {
    title: report.title,
    layers: layerLines(look, label),
    keys,
    ramps: shown.filter((name) => name === "confidence" || name === "novelty").map(label),
    made: `${report.made.program}, ${dateText(report.made.date)}`,
  };
}

export type Measure = (text: string) => number;

/// As much of a text as fits, with an ellipsis where it is cut. Characters are not divided.
export function cut(text: string, width: number, measure: Measure): string {
  if (measure(text) <= width) return text;
  const characters = Array.from(text);
  let [fits, fails] = [0, characters.length];
  while (fails - fits > 1) {
    const middle = (fits + fails) >> 1;
    if (measure(`${characters.slice(0, middle).join("")}…`) <= width) fits = middle;
    else fails = middle;
  }
  return `${characters.slice(0, fits).join("").trimEnd()}…`;
}

/// A text in lines that fit, broken between words; the last of at most `most` lines is cut.
export function wrap(text: string, width: number, most: number, measure: Measure): string[] {
  const lines: string[] = [];
  let rest = text.trim().split(/\s+/);
  while (rest.length > 0 && lines.length < most) {
    let words = 1;
    while (words < rest.length && measure(rest.slice(0, words + 1).join(" ")) <= width) ++words;
    const line = lines.length === most - 1 ? rest.join(" ") : rest.slice(0, words).join(" ");
    lines.push(cut(line, width, measure));
    rest = rest.slice(words);
  }
  return lines;
}
