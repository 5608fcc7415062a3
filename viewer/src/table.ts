// Sorting and export of tables.

import type { Accuracy } from "./data";
import type { BandAxis } from "./format";

export type Cell = string | number | null;

/// A copy in order; what has no value comes last either way.
export function sortRows<Row>(rows: readonly Row[], value: (row: Row) => Cell, descending: boolean): Row[] {
  const sign = descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const x = value(a);
    const y = value(b);
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    if (typeof x === "number" && typeof y === "number") return sign * (x - y);
    return sign * String(x).localeCompare(String(y), "en", { numeric: true });
  });
}

/// Spreadsheets run text that begins like a formula: an apostrophe makes it text again. Numbers stay numbers.
function csvCell(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n;]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const csv = (rows: Cell[][]) => rows.map((row) => `${row.map(csvCell).join(",")}\r\n`).join("");

/// A name that no system reads as a path, a hidden file or a device.
export function fileName(title: string, what: string, extension: string): string {
  const stem = title
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9_-]+/g, "-")
    .replace(/^[-_]+|[-_]+$/g, "")
    .slice(0, 60);
  return `${stem || "report"}-${what}.${extension}`;
}

/// A pixel's spectrum, six digits of each value; more are not known.
export function spectrumRows(
  bands: BandAxis,
  spectrum: (number | null)[] | null,
  reconstruction: Float64Array | null,
): Cell[][] {
  const digits = (value: number | null | undefined) => (value == null ? null : Number(value.toPrecision(6)));
  return [
    ["band", ...(bands.unit ? [`wavelength_${bands.unit}`] : []), "value", "reconstruction"],
    ...bands.values.map((place, band) => [
      band + 1,
      ...(bands.unit ? [digits(place)] : []),
      digits(spectrum?.[band]),
      digits(reconstruction?.[band]),
    ]),
  ];
}

/// Truth by map, with a last column of pixels that the map leaves out where there are any.
export function confusionLines({ confusion, per_class }: Accuracy): number[][] {
  const missed = confusion.map((line, t) => per_class[t].support - line.reduce((sum, n) => sum + n, 0));
  return missed.some((n) => n > 0) ? confusion.map((line, t) => [...line, missed[t]]) : confusion;
}

export const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/// The standard deviation of a sample; null for fewer than two values.
export function deviation(values: number[]): number | null {
  if (values.length < 2) return null;
  const centre = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1));
}
