// What a report page holds, and how its blocks are read.
// The C++ side (hyperatom/report) writes the same: change both together.

/// Kappa of a map of one class alone has no value.
export interface Interval {
  value: number | null;
  low: number | null;
  high: number | null;
}

export interface ClassInfo {
  id: number;
  name: string;
  colour: string;
}

export interface Accuracy {
  on: string;
  pixels: number;
  correct: number;
  oa: Interval;
  aa: Interval | null;
  kappa: Interval;
  confusion: number[][];
  per_class: {
    producers: number | null;
    users: number | null;
    f1: number | null;
    support: number;
    predicted: number;
  }[];
}

export interface Split {
  rule: string;
  train: number;
  test: number;
  hash: string;
  leakage: { adjacent: number; text: string } | null;
}

export interface Epoch {
  epoch: number;
  loss: number | null;
  accuracy: number | null;
  validation_loss?: number | null;
  validation_accuracy?: number | null;
}

export interface Certificate {
  edges: number[];
  counts: number[];
  tolerance: number;
  unconverged: number;
}

export interface Model {
  file: string;
  hash: string;
  method: string;
  kernel: string;
  loss: string;
  lambda1: number;
  lambda2: number;
  window: number;
  normalizer: string;
  bands: number;
  atoms: number;
  atom_classes: number[];
  usage: number[];
  coherence: number[];
  training: Epoch[] | null;
  certificate: Certificate | null;
}

export interface Figures {
  oa: number;
  aa: number;
  kappa: number | null;
}

export interface MethodResult {
  method: string;
  repeats: Figures[];
  paper: Figures | null;
  /// Of one training, the mean of the repeats; likewise the share of test pixels with a training pixel in their window.
  seconds: number | null;
  leakage: number | null;
  atoms: number | null;
  window: number | null;
}

/// Three kinds of page: of a model's map of a scene; of a map alone (no bands, composite, model); of a comparison of methods, whose
/// maps are blocks "map-METHOD" and, as the layer split, those of the first repeat.
export interface Report {
  version: 1;
  title: string;
  made: { program: string; date: string; command: string; seed: number | null };
  scene: {
    file: string;
    rows: number;
    cols: number;
    bands: number;
    wavelengths: number[] | null;
    crs: string | null;
    transform: number[] | null;
    composite: { kind: string; bands: [number, number, number] } | null;
  };
  classes: ClassInfo[];
  layers: string[];
  split: Split | null;
  accuracy: Accuracy | null;
  areas: { pixels: number; share: number; square_metres: number | null }[];
  model: Model | null;
  /// Of the pixels and bands that have values in the page; low and high are those of every band of the scene.
  spectra: { pixels: "all" | "labelled" | "none"; bands: number[]; low: number[]; high: number[] };
  codes: { weight: "i8"; atom: "u8" | "u16" } | null;
  scores: { low: number; high: number } | null;
  offset: number[] | null;
  /// Pixels in a window; 0: not known. With a model there is a block "window", which says where they are.
  windows: number;
  reduced: string[];
  comparison: { table: MethodResult[]; maps: string[] } | null;
}

/// Block name to its bytes: what the map can show, and "split".
export type Layers = ReadonlyMap<string, Uint8Array>;

export interface Spectra {
  quantised: Uint8Array;
  /// The place of each pixel's spectrum, -1 where it has none; null when every pixel has one.
  places: Int32Array | null;
}

export interface Codes {
  bytes: Uint8Array;
  starts: Uint32Array;
  wide: boolean;
  scales: Float32Array;
  /// What each pixel's reconstruction takes the offset times; null: once.
  offsets: Float32Array | null;
}

/// What the pixel and the model panels need; read after the map is on the screen.
export interface Details {
  spectra: Spectra | null;
  codes: Codes | null;
  scores: Uint8Array | null;
  atoms: Float32Array | null;
  means: Float32Array | null;
  window: Int16Array | null;
}

export const NONE = 255;

/// What is absent is as good as null.
export function parseReport(text: string): Report {
  const given = JSON.parse(text) as Report;
  if (given.version !== 1)
    throw new Error(`this page reads version 1 of the report data, the file has ${String(given.version)}`);
  const { split, accuracy, model, comparison } = given;
  const interval = (of: Interval): Interval => ({
    value: of.value ?? null,
    low: of.low ?? null,
    high: of.high ?? null,
  });
  return {
    ...given,
    made: { ...given.made, seed: given.made.seed ?? null },
    scene: {
      ...given.scene,
      wavelengths: given.scene.wavelengths ?? null,
      crs: given.scene.crs || null,
      transform: given.scene.transform ?? null,
      composite: given.scene.composite ?? null,
    },
    layers: given.layers ?? [],
    split: split ? { ...split, leakage: split.leakage ?? null } : null,
    accuracy: accuracy
      ? {
          ...accuracy,
          oa: interval(accuracy.oa),
          aa: accuracy.aa ? interval(accuracy.aa) : null,
          kappa: interval(accuracy.kappa),
        }
      : null,
    areas: given.areas ?? [],
    model: model ? { ...model, training: model.training ?? null, certificate: model.certificate ?? null } : null,
    spectra: given.spectra ?? { pixels: "none", bands: [], low: [], high: [] },
    codes: given.codes ?? null,
    scores: given.scores ?? null,
    offset: given.offset ?? null,
    reduced: given.reduced ?? [],
    comparison: comparison
      ? {
          ...comparison,
          table: comparison.table.map((row) => ({
            ...row,
            paper: row.paper ?? null,
            seconds: row.seconds ?? null,
            leakage: row.leakage ?? null,
            atoms: row.atoms ?? null,
            window: row.window ?? null,
          })),
        }
      : null,
  };
}

export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const characters = atob(text.trim());
  const bytes = new Uint8Array(characters.length);
  // A plain loop: Uint8Array.from with a function took thirty times as long on 14 MB.
  for (let i = 0; i < bytes.length; ++i) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

export async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export function expectLength(name: string, bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length !== length) throw new Error(`block ${name} has ${bytes.length} bytes, ${length} expected`);
  return bytes;
}

export function readFloats(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const values = new Float32Array(bytes.length >> 2);
  for (let i = 0; i < values.length; ++i) values[i] = view.getFloat32(4 * i, true);
  return values;
}

export function readShorts(bytes: Uint8Array): Int16Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const values = new Int16Array(bytes.length >> 1);
  for (let i = 0; i < values.length; ++i) values[i] = view.getInt16(2 * i, true);
  return values;
}

/// From differences to the band before, band by band, to values, pixel by pixel.
export function undoDifferences(bytes: Uint8Array, bands: number): Uint8Array {
  const pixels = bytes.length / bands;
  const values = new Uint8Array(bytes.length);
  for (let pixel = 0; pixel < pixels; ++pixel)
    for (let band = 0, value = 0; band < bands; ++band) {
      value += bytes[band * pixels + pixel];
      values[pixel * bands + band] = value;
    }
  return values;
}

export function placesOfLabelled(truth: Uint8Array): Int32Array {
  let next = 0;
  return Int32Array.from(truth, (label) => (label > 0 ? next++ : -1));
}

/// Where each pixel's entries begin; the last element is the end of the stream.
export function codeStarts(bytes: Uint8Array, pixels: number, wide: boolean): Uint32Array {
  const entry = wide ? 4 : 3;
  const starts = new Uint32Array(pixels + 1);
  let at = 0;
  for (let pixel = 0; pixel < pixels; ++pixel) {
    starts[pixel] = at;
    at += 1 + bytes[at] * entry;
    if (!(at <= bytes.length)) throw new Error(`block codes ends within pixel ${pixel}`);
  }
  if (at !== bytes.length) throw new Error(`block codes has ${bytes.length - at} bytes too many`);
  starts[pixels] = at;
  return starts;
}

export interface Entry {
  atom: number;
  weight: number;
  part: number;
}

export function entriesAt(codes: Codes, pixel: number): Entry[] {
  const { bytes, wide, scales } = codes;
  const entries: Entry[] = [];
  const signed = (byte: number) => (byte << 24) >> 24;
  for (let at = codes.starts[pixel] + 1; at < codes.starts[pixel + 1]; at += wide ? 4 : 3) {
    const atom = wide ? bytes[at] | (bytes[at + 1] << 8) : bytes[at];
    const rest = at + (wide ? 2 : 1);
    entries.push({
      atom,
      weight: (scales[2 * pixel] * signed(bytes[rest])) / 127,
      part: (scales[2 * pixel + 1] * signed(bytes[rest + 1])) / 127,
    });
  }
  return entries;
}

/// Finds the bytes of a block: in the page its script element, in a test an array.
export type Source = (name: string) => Promise<Uint8Array> | null;

export function pageSource(page: Document): Source {
  return (name) => {
    const element = page.getElementById(`block-${name}`);
    return element ? inflate(decodeBase64(element.textContent ?? "")) : null;
  };
}

export async function readLayers(report: Report, source: Source): Promise<Layers> {
  const pixels = report.scene.rows * report.scene.cols;
  const names = new Set([...report.layers, ...(report.comparison?.maps ?? []).map((method) => `map-${method}`)]);
  const read = [...names].map(async (name): Promise<[string, Uint8Array] | null> => {
    const bytes = await source(name);
    return bytes && [name, expectLength(name, bytes, name === "rgb" ? 3 * pixels : pixels)];
  });
  return new Map((await Promise.all(read)).filter((pair) => pair !== null));
}

export async function readDetails(report: Report, layers: Layers, source: Source): Promise<Details> {
  const { rows, cols, bands } = report.scene;
  const pixels = rows * cols;
  const get = async (name: string, length: number) => {
    const bytes = await source(name);
    return bytes && expectLength(name, bytes, length);
  };
  const atoms = report.model?.atoms ?? 0;
  const truth = layers.get("truth");

  const spectra = async (): Promise<Spectra | null> => {
    if (report.spectra.pixels === "none") return null;
    const places = report.spectra.pixels === "labelled" && truth ? placesOfLabelled(truth) : null;
    const count = places ? places.reduce((most, place) => Math.max(most, place), -1) + 1 : pixels;
    const kept = report.spectra.bands.length;
    const bytes = await get("spectra", count * kept);
    return bytes && { quantised: undoDifferences(bytes, kept), places };
  };
  const codes = async (): Promise<Codes | null> => {
    if (!report.codes) return null;
    const wide = report.codes.atom === "u16";
    const [bytes, scales, offsets] = await Promise.all([
      source("codes"),
      get("scales", 8 * pixels),
      get("offsets", 4 * pixels),
    ]);
    if (!bytes || !scales) return null;
    const starts = codeStarts(bytes, pixels, wide);
    return { bytes, starts, wide, scales: readFloats(scales), offsets: offsets && readFloats(offsets) };
  };
  const [codeBlock, atomBytes, meanBytes, windowBytes, scores, spectraBlock] = await Promise.all([
    codes(),
    get("atoms", 4 * atoms * bands),
    get("means", 4 * report.classes.length * bands),
    source("window"),
    report.scores ? get("scores", report.classes.length * pixels) : null,
    spectra(),
  ]);
  return {
    spectra: spectraBlock,
    codes: codeBlock,
    scores,
    atoms: atomBytes && readFloats(atomBytes),
    means: meanBytes && readFloats(meanBytes),
    window: windowBytes && readShorts(windowBytes),
  };
}
