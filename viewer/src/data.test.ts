import { deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import {
  type Accuracy,
  codeStarts,
  type Details,
  decodeBase64,
  entriesAt,
  inflate,
  type Layers,
  parseReport,
  placesOfLabelled,
  type Report,
  readDetails,
  readFloats,
  readLayers,
  readShorts,
  type Source,
  undoDifferences,
} from "./data";
import { describePixel, truthOfMapped } from "./pixel";

const floatBytes = (values: number[]) => {
  const view = new DataView(new ArrayBuffer(4 * values.length));
  values.forEach((value, i) => {
    view.setFloat32(4 * i, value, true);
  });
  return new Uint8Array(view.buffer);
};

/// 1 x 3 pixels, 2 bands, 2 classes, 2 atoms.
const report: Report = {
  version: 1,
  title: "t",
  made: { program: "p", date: "d", command: "c", seed: null },
  scene: {
    file: "f",
    rows: 1,
    cols: 3,
    bands: 2,
    wavelengths: null,
    crs: null,
    transform: null,
    composite: { kind: "false colour", bands: [0, 0, 1] },
  },
  classes: [
    { id: 1, name: "a", colour: "#ff0000" },
    { id: 2, name: "b", colour: "#00ff00" },
  ],
  layers: ["rgb", "truth", "prediction", "confidence", "split"],
  split: null,
  accuracy: null,
  areas: [],
  model: {
    file: "m",
    hash: "h",
    method: "sdl-l12-k",
    kernel: "linear",
    loss: "squared",
    lambda1: 0.1,
    lambda2: 0,
    window: 1,
    normalizer: "none",
    bands: 2,
    atoms: 2,
    atom_classes: [0, 1],
    usage: [1, 2],
    coherence: [0.5, 0.5],
    training: null,
    certificate: null,
  },
  spectra: { pixels: "labelled", bands: [0, 1], low: [0, 10], high: [1, 20] },
  codes: { weight: "i8", atom: "u16" },
  scores: { low: -1, high: 1 },
  offset: [0.5, 1],
  windows: 1,
  reduced: [],
  comparison: { table: [], maps: ["svm-l"] },
};

const blocks: Record<string, Uint8Array> = {
  rgb: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9),
  truth: Uint8Array.of(2, 0, 1),
  prediction: Uint8Array.of(2, 1, 0),
  confidence: Uint8Array.of(254, 127, 255),
  split: Uint8Array.of(1, 0, 2),
  "map-svm-l": Uint8Array.of(1, 1, 1),
  spectra: Uint8Array.of(255, 51, 1, 51),
  codes: Uint8Array.of(2, 0, 0, 127, 64, 1, 0, 0x81, 0xc0, 0, 1, 1, 0, 127, 127),
  scales: floatBytes([2, 1, 0, 0, 0.5, 4]),
  scores: Uint8Array.of(0, 255, 255, 0, 51, 102),
  atoms: floatBytes([1, 2, 3, 4]),
  means: floatBytes([Number.NaN, Number.NaN, 1, 2]),
  window: Uint8Array.of(0, 0, 0, 0, 0xff, 0xff, 1, 0),
};

const source =
  (from: Record<string, Uint8Array>): Source =>
  (name) =>
    name in from ? Promise.resolve(Uint8Array.from(from[name])) : null;

async function readAll(from = blocks, of = report): Promise<[Layers, Details]> {
  const layers = await readLayers(of, source(from));
  return [layers, await readDetails(of, layers, source(from))];
}

describe("streams", () => {
  it("decodes base64 of every byte", () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    expect(decodeBase64(`\n${Buffer.from(bytes).toString("base64")}\n`)).toEqual(bytes);
  });
  it("inflates zlib and refuses damage", async () => {
    const bytes = Uint8Array.from({ length: 5000 }, (_, i) => (i * i) & 255);
    const packed = Uint8Array.from(deflateSync(bytes));
    expect(await inflate(packed)).toEqual(bytes);
    packed[packed.length - 1] ^= 1;
    await expect(inflate(packed)).rejects.toThrow();
  });
  it("reads little-endian numbers at any place", () => {
    const shifted = Uint8Array.from([9, ...floatBytes([1.5, -0.25])]).subarray(1);
    expect([...readFloats(shifted)]).toEqual([1.5, -0.25]);
    expect([...readShorts(Uint8Array.of(0xfe, 0xff, 0, 1))]).toEqual([-2, 256]);
  });
  it("sums differences along the bands, modulo 256", () => {
    expect([...undoDifferences(Uint8Array.of(250, 1, 10, 2, 251, 3), 3)]).toEqual([250, 4, 255, 1, 3, 6]);
  });
  it("finds the places of labelled pixels", () => {
    expect([...placesOfLabelled(Uint8Array.of(0, 3, 0, 1))]).toEqual([-1, 0, -1, 1]);
  });
});

describe("codes", () => {
  it("reads narrow entries with signs", () => {
    const bytes = Uint8Array.of(0, 1, 7, 0x81, 127);
    const codes = {
      bytes,
      starts: codeStarts(bytes, 2, false),
      wide: false,
      scales: Float32Array.of(0, 0, 2, 4),
      offsets: null,
    };
    expect(entriesAt(codes, 0)).toEqual([]);
    expect(entriesAt(codes, 1)).toEqual([{ atom: 7, weight: -2, part: 4 }]);
  });
  it("refuses streams that are too short or too long", () => {
    expect(() => codeStarts(Uint8Array.of(1, 7, 1), 1, false)).toThrow("within pixel 0");
    expect(() => codeStarts(Uint8Array.of(0), 2, false)).toThrow("within pixel 1");
    expect(() => codeStarts(Uint8Array.of(0, 0), 1, false)).toThrow("1 bytes too many");
  });
});

describe("a whole report", () => {
  it("gives every layer", async () => {
    const [layers] = await readAll();
    expect([...layers.keys()]).toEqual(["rgb", "truth", "prediction", "confidence", "split", "map-svm-l"]);
  });
  it("gives everything of a pixel", async () => {
    const [layers, details] = await readAll();
    const pixel = describePixel(report, layers, details, 0, 0);
    expect(pixel).toMatchObject({ truth: 1, prediction: 1, role: "training", confidence: 1, novelty: null });
    expect([...(pixel.spectrum ?? [])]).toEqual([1, 10]);
    expect(pixel.entries?.map((entry) => entry.atom)).toEqual([0, 1]);
    expect(pixel.entries?.[1].weight).toBeCloseTo(-2, 12);
    const part = 64 / 127;
    expect(pixel.reconstruction?.[0]).toBeCloseTo(0.5 + part * 1 - part * 3, 12);
    expect(pixel.reconstruction?.[1]).toBeCloseTo(1 + part * 2 - part * 4, 12);
    expect(pixel.scores).toEqual([
      { index: 1, score: 1 },
      { index: 0, score: -1 },
    ]);
    expect(pixel.votes).toEqual([{ method: "svm-l", index: 0 }]);
  });
  it("takes the offset as often as a pixel's own factor says", async () => {
    const [layers, details] = await readAll({ ...blocks, offsets: floatBytes([10, 0, 0.5]) });
    const part = 64 / 127;
    expect(describePixel(report, layers, details, 0, 0).reconstruction?.[0]).toBeCloseTo(5 + part - 3 * part, 12);
    expect(describePixel(report, layers, details, 0, 2).reconstruction?.[1]).toBeCloseTo(0.5 + 4 * 4, 12);
  });
  it("knows what a pixel lacks", async () => {
    const [layers, details] = await readAll();
    const bare = describePixel(report, layers, details, 0, 1);
    expect(bare).toMatchObject({
      truth: null,
      prediction: 0,
      role: null,
      spectrum: null,
      reconstruction: null,
      entries: [],
    });
    const last = describePixel(report, layers, details, 0, 2);
    expect(last).toMatchObject({ truth: 0, prediction: null, role: "test", confidence: null });
    const root = [51 / 255, 102 / 255];
    expect(last.spectrum?.[0]).toBeCloseTo(root[0] ** 2, 12);
    expect(last.spectrum?.[1]).toBeCloseTo(10 + 10 * root[1] ** 2, 12);
    expect(last.entries).toEqual([{ atom: 1, weight: 0.5, part: 4 }]);
  });
  it("reads window, atoms and means", async () => {
    const [, details] = await readAll();
    expect([...(details.window ?? [])]).toEqual([0, 0, -1, 1]);
    expect([...(details.atoms ?? [])]).toEqual([1, 2, 3, 4]);
    expect([...(details.means ?? [])]).toEqual([Number.NaN, Number.NaN, 1, 2]);
  });
  it("is content with blocks that are not there", async () => {
    const bare: Report = {
      ...report,
      layers: ["prediction"],
      model: null,
      codes: null,
      scores: null,
      spectra: { pixels: "none", bands: [], low: [], high: [] },
      comparison: null,
    };
    const [layers, details] = await readAll({ prediction: blocks.prediction }, bare);
    expect([...layers.keys()]).toEqual(["prediction"]);
    expect(Object.values(details).every((value) => value === null)).toBe(true);
  });
  it("reads a map without a scene", async () => {
    const alone: Report = {
      ...report,
      scene: { ...report.scene, bands: 0, composite: null },
      layers: ["prediction", "truth", "split"],
      model: null,
      codes: null,
      scores: null,
      offset: null,
      spectra: { pixels: "none", bands: [], low: [], high: [] },
      windows: 0,
      comparison: null,
    };
    expect(parseReport(JSON.stringify(alone))).toEqual(alone);
    const { prediction, truth, split } = blocks;
    const [layers, details] = await readAll({ prediction, truth, split }, alone);
    expect(Object.values(details).every((value) => value === null)).toBe(true);
    expect(describePixel(alone, layers, details, 0, 0)).toMatchObject({
      truth: 1,
      prediction: 1,
      role: "training",
      spectrum: null,
      entries: null,
      scores: null,
      votes: [],
    });
  });
  it("says what pixels that are mapped as a class are in truth", () => {
    const confusion = [
      [3, 1],
      [5, 0],
    ];
    expect(truthOfMapped({ confusion } as Accuracy, 0)).toEqual([
      { index: 1, pixels: 5 },
      { index: 0, pixels: 3 },
    ]);
    expect(truthOfMapped({ confusion } as Accuracy, 1)).toEqual([{ index: 0, pixels: 1 }]);
  });
  it("reads spectra of all pixels", async () => {
    const all: Report = { ...report, spectra: { ...report.spectra, pixels: "all" } };
    const [layers, details] = await readAll({ ...blocks, spectra: Uint8Array.of(0, 255, 0, 0, 0, 255) }, all);
    expect([...(describePixel(all, layers, details, 0, 1).spectrum ?? [])]).toEqual([1, 20]);
  });
  it("reads spectra of some bands", async () => {
    const some: Report = { ...report, spectra: { ...report.spectra, bands: [1] } };
    const [layers, details] = await readAll({ ...blocks, spectra: Uint8Array.of(0, 255) }, some);
    expect(describePixel(some, layers, details, 0, 0).spectrum).toEqual([null, 10]);
    expect(describePixel(some, layers, details, 0, 1).spectrum).toBeNull();
    expect(describePixel(some, layers, details, 0, 2).spectrum).toEqual([null, 20]);
  });
  it("names a block of the wrong size", async () => {
    for (const name of ["truth", "rgb", "spectra", "scales", "scores", "atoms", "means"])
      await expect(readAll({ ...blocks, [name]: new Uint8Array(1) })).rejects.toThrow(`block ${name} has 1 bytes`);
  });
  it("refuses another version", () => {
    expect(() => parseReport('{"version":2}')).toThrow("version 1");
    expect(parseReport(JSON.stringify(report))).toEqual(report);
  });
  it("takes what is absent as null", () => {
    const { version, title, made, scene, classes, windows } = report;
    const bare = parseReport(JSON.stringify({ version, title, made, scene, classes, windows }));
    expect(bare).toMatchObject({ split: null, accuracy: null, model: null, areas: [], layers: [], comparison: null });
    expect(bare.spectra.pixels).toBe("none");
    const methods = { maps: [], table: [{ method: "svm-l", repeats: [] }] };
    expect(parseReport(JSON.stringify({ ...report, comparison: methods })).comparison?.table).toEqual([
      { method: "svm-l", repeats: [], paper: null, seconds: null, leakage: null, atoms: null, window: null },
    ]);
  });
});
