// Numbers as text.

/// For what is not known, and for NaN, which JSON writes as null.
const UNKNOWN = "–";

export const count = (value: number | null) => value?.toLocaleString("en-US") ?? UNKNOWN;

export const percent = (share: number | null, digits = 2) => (share === null ? UNKNOWN : (100 * share).toFixed(digits));

export const decimals = (value: number | null, digits: number) => value?.toFixed(digits) ?? UNKNOWN;

export const plain = (value: number | null) => {
  if (value === null) return UNKNOWN;
  const size = Math.abs(value);
  if (value === 0) return "0";
  return size >= 1e5 || size < 1e-3 ? value.toExponential(2) : String(Number(value.toPrecision(4)));
};

export const plural = (n: number, noun: string) => `${count(n)} ${noun}${n === 1 ? "" : "s"}`;

export const shortHash = (hash: string) => (hash.length > 16 ? `${hash.slice(0, 12)}…` : hash);

/// An ISO date as "2026-11-18 02:40 UTC"; anything else as it is.
export function dateText(iso: string): string {
  const parts = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(iso);
  return parts ? `${parts[1]} ${parts[2]} UTC` : iso;
}

export interface BandAxis {
  values: number[];
  label: string;
  unit: string;
}

/// Micrometres are shown as nanometres where people of the field do so, up to the short-wave infrared.
export function bandAxis(bands: number, wavelengths: number[] | null): BandAxis {
  if (wavelengths?.length !== bands)
    return { values: Array.from({ length: bands }, (_, band) => band + 1), label: "band", unit: "" };
  if (Math.max(...wavelengths) > 3) return { values: wavelengths, label: "wavelength, µm", unit: "µm" };
  return { values: wavelengths.map((w) => w * 1000), label: "wavelength, nm", unit: "nm" };
}

/// Where a band is: its wavelength, or its number.
export function bandPlace(axis: BandAxis, band: number): string {
  return axis.unit ? `${plain(axis.values[band])} ${axis.unit}` : `band ${band + 1}`;
}

/// An axis of percentages: with some room around them, but none beyond 0 and 100.
export function percentRange(low: number, high: number): [number, number] {
  const room = Math.max(0.1 * (high - low), 1);
  return [Math.max(0, low - room), Math.min(100, high + room)];
}

/// Trainings take milliseconds or hours.
export function secondsText(seconds: number | null): string {
  if (seconds === null) return UNKNOWN;
  if (seconds < 0.001) return "< 0.001";
  return seconds < 1 ? String(Number(seconds.toPrecision(2))) : seconds.toFixed(1);
}

export interface AreaUnit {
  name: string;
  size: number;
  digits: number;
}

export function areaUnit(total: number): AreaUnit {
  if (total >= 1e8) return { name: "km²", size: 1e6, digits: 2 };
  return total >= 1e5 ? { name: "ha", size: 1e4, digits: 2 } : { name: "m²", size: 1, digits: 0 };
}
