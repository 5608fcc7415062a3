import { describe, expect, it } from "vitest";
import type { Accuracy, Layers, Model, Report } from "./data";
import {
  areaUnit,
  bandAxis,
  bandPlace,
  count,
  dateText,
  percent,
  percentRange,
  plain,
  plural,
  secondsText,
  shortHash,
} from "./format";
import {
  borderSegments,
  cellMask,
  ERROR_KEYS,
  ERRORS,
  errorLayer,
  errorsIn,
  histogram,
  judgedLayer,
  LIT,
  layerChoices,
  paintLayer,
  paintMask,
  parseColour,
  ramp,
} from "./layers";
import { cut, legendOf, wrap } from "./legend";
import { firstLook, type Look } from "./look";
import { coordinatesText, crsName, isGeographic, mapCoordinates } from "./place";
import { occupied, shapeOf, shapesOfClass, sparkline } from "./shapes";
import { confusionLines, csv, deviation, fileName, mean, sortRows, spectrumRows } from "./table";
import { clamp, fitView, focusOf, pixelAt, reveal, viewOf, zoomAt } from "./view";

const truth = Uint8Array.of(1, 2, 0, 1, 2, 1);
const prediction = Uint8Array.of(1, 1, 1, 2, 2, 0);
const split = Uint8Array.of(2, 2, 0, 2, 1, 2);
const layers: Layers = new Map([
  ["truth", truth],
  ["prediction", prediction],
  ["split", split],
  ["confidence", Uint8Array.of(0, 127, 254, 255, 255, 255)],
]);
const classes = [
  { id: 1, name: "a", colour: "#ff0000" },
  { id: 2, name: "b", colour: "#00FF10" },
];

describe("layers", () => {
  it("tells right from wrong on test pixels alone", () => {
    // The last pixel is labelled, but the map leaves it out: accuracy counts it as wrong.
    expect([...errorLayer(truth, prediction, split)]).toEqual([1, 2, 0, 2, 3, 2]);
    expect([...errorLayer(truth, prediction, undefined)]).toEqual([1, 2, 0, 2, 1, 2]);
  });
  it("has errors of the prediction and of each method", () => {
    expect([ERRORS, "errors-svm-l", "map-svm-l", "truth"].map(judgedLayer)).toEqual([
      "prediction",
      "map-svm-l",
      null,
      null,
    ]);
    const compared: Layers = new Map([...layers, ["map-svm-l", truth]]);
    expect([...(errorsIn("errors-svm-l", compared) ?? [])]).toEqual([1, 1, 0, 1, 3, 1]);
    expect([...(errorsIn(ERRORS, compared) ?? [])]).toEqual([...errorLayer(truth, prediction, split)]);
    expect(errorsIn("errors-other", compared)).toBeNull();
    expect(errorsIn("truth", compared)).toBeNull();
    const painted = paintLayer("errors-svm-l", compared, classes, null);
    expect([...(painted ?? [])].slice(0, 4)).toEqual([...ERROR_KEYS[0].colour, 255]);
  });
  it("lights the pixels that the confusion matrix counts", () => {
    expect([...(cellMask(layers, { truth: 1, predicted: 0 }) ?? [])]).toEqual([0, 1, 0, 0, 0, 0]);
    expect([...(cellMask(layers, { truth: 1, predicted: 1 }) ?? [])]).toEqual([0, 0, 0, 0, 0, 0]);
    expect([...(cellMask(layers, { truth: 0, predicted: -1 }) ?? [])], "not mapped").toEqual([0, 0, 0, 0, 0, 1]);
    expect(cellMask(new Map(), { truth: 0, predicted: 0 })).toBeNull();
    expect([...paintMask(Uint8Array.of(1, 0))].slice(0, 4)).toEqual([...LIT, 255]);
  });
  it("paints classes, and dims all but one", () => {
    const all = paintLayer("truth", layers, classes, null);
    expect([...(all ?? [])].slice(0, 12)).toEqual([255, 0, 0, 255, 0, 255, 16, 255, 0, 0, 0, 0]);
    const alone = paintLayer("truth", layers, classes, 0);
    expect([alone?.[3], alone?.[7], alone?.[11], alone?.[15]]).toEqual([255, 26, 0, 255]);
    expect(paintLayer("nothing", layers, classes, null)).toBeNull();
  });
  it("leaves unknown classes and missing confidence clear", () => {
    const odd = paintLayer("truth", new Map([["truth", Uint8Array.of(9)]]), classes, null);
    expect([...(odd ?? [])]).toEqual([0, 0, 0, 0]);
    const confidence = paintLayer("confidence", layers, classes, null);
    expect([...(confidence ?? [])].slice(8, 16)).toEqual([...ramp(1), 255, 0, 0, 0, 0]);
  });
  it("has a ramp that only gets lighter", () => {
    const light = Array.from({ length: 101 }, (_, i) => ramp(i / 100)).map(
      ([r, g, b]) => 0.21 * r + 0.72 * g + 0.07 * b,
    );
    expect(light.every((value, i) => i === 0 || value >= light[i - 1])).toBe(true);
  });
  it("takes only six hexadecimal digits as a colour", () => {
    expect(parseColour("#0102ff")).toEqual([1, 2, 255]);
    expect(parseColour("red;background:url(x)")).toEqual([136, 136, 136]);
  });
  it("counts, and offers what there is", () => {
    expect(histogram(truth, 3)).toEqual([1, 3, 2]);
    const report = { scene: { composite: null } } as Report;
    expect(layerChoices(report, layers).map((c) => c.name)).toEqual(["truth", "prediction", ERRORS, "confidence"]);
    expect(layerChoices(report, new Map([["map-svm", truth]]))).toEqual([{ name: "map-svm", label: "svm" }]);
    const compared: Layers = new Map(["rgb", "truth", "map-a", "map-b"].map((name) => [name, truth]));
    const coloured = { scene: { composite: { kind: "true colour" } } } as Report;
    expect(layerChoices(coloured, compared)).toEqual([
      { name: "rgb", label: "Composite (true colour)" },
      { name: "truth", label: "Truth" },
      { name: "map-a", label: "a" },
      { name: "map-b", label: "b" },
      { name: "errors-a", label: "Errors of a" },
      { name: "errors-b", label: "Errors of b" },
    ]);
  });
  it("draws the border of a set once", () => {
    expect(borderSegments((pixel) => pixel === 0, 1, 2)).toHaveLength(16);
    expect(borderSegments(() => true, 1, 2)).toHaveLength(24);
    expect(borderSegments(() => false, 3, 3)).toHaveLength(0);
  });
  it("begins with the composite, else the truth, beside the map, on a labelled pixel", () => {
    const report = { scene: { rows: 2, cols: 3 } } as Report;
    const look = firstLook(report, new Map([...layers, ["rgb", new Uint8Array(18)]]));
    expect([look.a, look.b]).toEqual(["rgb", "prediction"]);
    expect(truth[look.cursor[0] * 3 + look.cursor[1]]).toBeGreaterThan(0);
    expect(firstLook(report, layers)).toMatchObject({ a: "truth", b: "prediction" });
    const compared: Layers = new Map(["rgb", "truth", "split", "map-a", "map-b"].map((name) => [name, truth]));
    expect(firstLook(report, compared)).toMatchObject({ a: "rgb", b: "map-b" });
    expect(firstLook(report, new Map([["truth", truth]]))).toMatchObject({ a: "truth", b: "truth" });
    expect(firstLook(report, new Map([["prediction", truth]]))).toMatchObject({ a: "prediction", b: "prediction" });
  });
});

describe("the legend of a saved map", () => {
  const report = {
    title: "Fields",
    made: { program: "hyperatom 0.1.0", date: "2026-11-18T02:40:11Z" },
    scene: { rows: 1, cols: 6, composite: { kind: "true colour" } },
    classes,
  } as Report;
  const full: Layers = new Map([...layers, ["rgb", new Uint8Array(18)]]);
  const look = firstLook(report, full);
  const labels = (of: Partial<Look>) => legendOf(report, full, { ...look, ...of }).keys.map((key) => key.label);
  it("names the layers and where they are", () => {
    const lines = (of: Partial<Look>) => legendOf(report, full, { ...look, ...of }).layers;
    expect(lines({})).toEqual(["Left: Composite (true colour)", "Right: Prediction"]);
    expect(lines({ opacity: 0.6 })[1]).toBe("Right: Prediction, 60 % over Composite (true colour)");
    expect(lines({ swipe: 0 })).toEqual(["Prediction"]);
    expect(lines({ swipe: 1 })).toEqual(["Composite (true colour)"]);
    expect(lines({ a: "truth", b: "truth" })).toEqual(["Truth"]);
    expect(legendOf(report, full, look)).toMatchObject({
      title: "Fields",
      made: "hyperatom 0.1.0, 2026-11-18 02:40 UTC",
    });
  });
  it("has the classes that can be seen, and no others", () => {
    // Prediction 1 1 1 2 2 0: its second class begins in the right half.
    expect(labels({})).toEqual(["b"]);
    expect(labels({ swipe: 0 })).toEqual(["a", "b"]);
    expect(labels({ swipe: 1 })).toEqual([]);
    expect(labels({ opacity: 0 })).toEqual([]);
    expect(labels({ swipe: 0, isolate: 1 })).toEqual(["b"]);
    // The truth shows through where the map is clear: its last pixel is of the first class.
    expect(labels({ a: "truth", swipe: 0.4 })).toEqual(["a", "b"]);
    expect(labels({ a: "truth", b: "rgb", swipe: 0 })).toEqual([]);
    expect(legendOf(report, full, { ...look, swipe: 0 }).keys[1]).toEqual({
      label: "b",
      colour: [0, 255, 16],
      outline: false,
    });
  });
  it("has keys of errors, of what is lit and of outlines, and ramps", () => {
    expect(labels({ b: ERRORS })).toEqual(["right", "wrong", "training, not counted"]);
    expect(labels({ swipe: 1, cell: { truth: 1, predicted: 0 } })).toEqual(["lit: b mapped as a"]);
    expect(labels({ swipe: 1, training: true, test: true, window: true })).toEqual(["training pixels", "test pixels"]);
    expect(legendOf(report, full, { ...look, b: "confidence" }).ramps).toEqual(["Confidence"]);
  });
  it("cuts and wraps what is too long", () => {
    const measure = (text: string) => Array.from(text).length;
    expect(cut("short", 5, measure)).toBe("short");
    expect(cut("much too long", 6, measure)).toBe("much…");
    expect(cut("🌾🌾🌾🌾", 3, measure)).toBe("🌾🌾…");
    expect(cut("", 0, measure)).toBe("");
    expect(wrap("one two three four", 8, 2, measure)).toEqual(["one two", "three f…"]);
    expect(wrap("one two", 80, 2, measure)).toEqual(["one two"]);
    expect(wrap("unbreakable name", 8, 2, measure)).toEqual(["unbreak…", "name"]);
  });
});

describe("view", () => {
  const size = { width: 200, height: 100 };
  it("fits the whole scene in the middle", () => {
    expect(fitView(10, 10, size)).toEqual({ scale: 10, x: 50, y: 0 });
  });
  it("keeps what is under the pointer", () => {
    const view = zoomAt(fitView(10, 10, size), 3, 77, 31);
    expect(pixelAt(view, 77, 31, 10, 10)).toEqual(pixelAt(fitView(10, 10, size), 77, 31, 10, 10));
  });
  it("zooms out no further than the whole and leaves no empty margin", () => {
    expect(clamp({ scale: 1, x: 0, y: 0 }, 10, 10, size)).toEqual({ scale: 10, x: 50, y: 0 });
    expect(clamp({ scale: 40, x: 90, y: -1000 }, 10, 10, size)).toEqual({ scale: 40, x: 0, y: -300 });
    expect(clamp({ scale: 1e9, x: 0, y: 0 }, 10, 10, size).scale).toBe(48);
  });
  it("finds pixels, and none outside", () => {
    const view = fitView(10, 10, size);
    expect(pixelAt(view, 50, 0, 10, 10)).toEqual([0, 0]);
    expect(pixelAt(view, 149.9, 99.9, 10, 10)).toEqual([9, 9]);
    expect(pixelAt(view, 49, 50, 10, 10)).toBeNull();
  });
  it("shows one place on canvases of other sizes", () => {
    const view = clamp(zoomAt(fitView(10, 10, size), 4, 120, 60), 10, 10, size);
    const focus = focusOf(view, 10, 10, size);
    expect(focus?.zoom).toBeCloseTo(4, 12);
    const same = viewOf(focus, 10, 10, size);
    expect([same.scale, same.x, same.y].map((v) => Number(v.toFixed(9)))).toEqual([view.scale, view.x, view.y]);
    const small = viewOf(focus, 10, 10, { width: 20, height: 10 });
    expect(small.scale).toBeCloseTo(view.scale / 10, 12);
    expect(pixelAt(small, 10, 5, 10, 10)).toEqual(pixelAt(view, 100, 50, 10, 10));
    expect(focusOf(fitView(10, 10, size), 10, 10, size), "the whole scene").toBeNull();
    expect(viewOf(null, 10, 10, size)).toEqual(fitView(10, 10, size));
  });
  it("brings a pixel into view", () => {
    const view = reveal({ scale: 20, x: 0, y: 0 }, 9, 9, size);
    expect(view.y + 10 * 20).toBeLessThanOrEqual(100);
    expect(reveal({ scale: 20, x: 0, y: 0 }, 2, 4, size)).toEqual({ scale: 20, x: 0, y: 0 });
  });
});

describe("place", () => {
  const utm = 'PROJCS["WGS 84 / UTM zone 16N",GEOGCS["WGS 84"]]';
  it("names a coordinate system by its first quoted string", () => {
    expect(crsName(utm)).toBe("WGS 84 / UTM zone 16N");
    expect(crsName('GEOGCRS["a ""b"" c",X["y"]]')).toBe('a "b" c');
    expect(crsName("EPSG:4326")).toBe("EPSG:4326");
    expect(isGeographic(utm)).toBe(false);
    expect(isGeographic('GEOGCRS["WGS 84"]')).toBe(true);
  });
  it("gives the centre of a pixel, rotation included", () => {
    expect(mapCoordinates([100, 2, 0, 50, 0, -2], 0, 0)).toEqual([101, 49]);
    expect(mapCoordinates([0, 1, 10, 0, 100, 1000], 1, 2)).toEqual([17.5, 1750]);
    expect(coordinatesText([500000, 20, 0, 4480000, 0, -20], utm, 1, 2)).toBe("500050.0, 4479970.0");
    expect(coordinatesText([10, 0.001, 0, 50, 0, -0.001], 'GEOGCS["WGS 84"]', 0, 0)).toBe("10.000500, 49.999500");
  });
});

describe("tables", () => {
  it("sorts numbers and names, missing values last, and leaves the given rows alone", () => {
    const rows = [{ v: 2 }, { v: null }, { v: 10 }, { v: 1 }];
    expect(sortRows(rows, (r) => r.v, false).map((r) => r.v)).toEqual([1, 2, 10, null]);
    expect(sortRows(rows, (r) => r.v, true).map((r) => r.v)).toEqual([10, 2, 1, null]);
    expect(rows[0].v).toBe(2);
    expect(sortRows(["b10", "b9", "a"], (r) => r, false)).toEqual(["a", "b9", "b10"]);
  });
  it("writes the spectrum of a pixel, with wavelengths where they are known", () => {
    const spectrum = [0.1 + 0.2, 1234.5678];
    expect(spectrumRows(bandAxis(2, [0.4, 0.5004]), spectrum, Float64Array.of(1, 2))).toEqual([
      ["band", "wavelength_nm", "value", "reconstruction"],
      [1, 400, 0.3, 1],
      [2, 500.4, 1234.57, 2],
    ]);
    expect(spectrumRows(bandAxis(2, null), spectrum, null)).toEqual([
      ["band", "value", "reconstruction"],
      [1, 0.3, null],
      [2, 1234.57, null],
    ]);
  });
  it("adds a column of pixels that are not mapped where there are any", () => {
    const accuracy = (supports: number[]) =>
      ({
        confusion: [
          [5, 1],
          [0, 2],
        ],
        per_class: supports.map((support) => ({ support })),
      }) as Accuracy;
    expect(confusionLines(accuracy([6, 2]))).toEqual([
      [5, 1],
      [0, 2],
    ]);
    expect(confusionLines(accuracy([6, 5]))).toEqual([
      [5, 1, 0],
      [0, 2, 3],
    ]);
  });
  it("escapes CSV, and what a spreadsheet would run", () => {
    expect(csv([["a", 'say "x"', "1,2", "l\nm", null, -1.5]])).toBe('a,"say ""x""","1,2","l\nm",,-1.5\r\n');
    for (const start of ["=", "+", "-", "@", "\t", "\r"])
      expect(
        csv([[`${start}cmd`]])
          .replace(/^"/, "")
          .startsWith(`'${start}cmd`),
      ).toBe(true);
    expect(csv([['=HYPERLINK("x","y")']])).toBe('"\'=HYPERLINK(""x"",""y"")"\r\n');
  });
  it("makes file names harmless", () => {
    expect(fileName("Indian Pines, 25", "map", "png")).toBe("Indian-Pines-25-map.png");
    expect(fileName("../../etc/passwd", "map", "png")).toBe("etc-passwd-map.png");
    expect(fileName("<img src=x onerror=1>", "a", "csv")).toBe("img-src-x-onerror-1-a.csv");
    expect(fileName("...", "a", "csv")).toBe("report-a.csv");
    expect(fileName("x".repeat(500), "a", "csv")).toHaveLength(66);
  });
  it("has mean and deviation of a sample", () => {
    expect(mean([1, 2, 6])).toBe(3);
    expect(deviation([1, 3])).toBeCloseTo(Math.SQRT2, 12);
    expect(deviation([1])).toBeNull();
  });
});

describe("format", () => {
  it("writes numbers", () => {
    expect([count(9671), percent(0.96189), percent(null), plural(1, "pixel"), plural(1200, "pixel")]).toEqual([
      "9,671",
      "96.19",
      "–",
      "1 pixel",
      "1,200 pixels",
    ]);
    expect([plain(0), plain(0.12345), plain(1e-6), plain(1234567), plain(-2)]).toEqual([
      "0",
      "0.1235",
      "1.00e-6",
      "1.23e+6",
      "-2",
    ]);
    expect(shortHash("0123456789abcdef0123")).toBe("0123456789ab…");
    expect([dateText("2026-11-18T02:40:11Z"), dateText("yesterday")]).toEqual(["2026-11-18 02:40 UTC", "yesterday"]);
  });
  it("chooses nanometres, micrometres or band numbers", () => {
    expect(bandAxis(2, [0.4, 2.5])).toMatchObject({ values: [400, 2500], unit: "nm" });
    expect(bandAxis(2, [8, 12])).toMatchObject({ values: [8, 12], unit: "µm" });
    expect(bandAxis(2, null)).toMatchObject({ values: [1, 2], label: "band", unit: "" });
    expect(bandAxis(3, [1, 2])).toMatchObject({ values: [1, 2, 3], unit: "" });
  });
  it("chooses a unit of area", () => {
    expect([areaUnit(1e3).name, areaUnit(1e6).name, areaUnit(1e9).name]).toEqual(["m²", "ha", "km²"]);
  });
});

describe("what is drawn of numbers", () => {
  it("says where a band is", () => {
    expect(bandPlace(bandAxis(2, [0.4, 0.66]), 1)).toBe("660 nm");
    expect(bandPlace(bandAxis(2, [0.4, 8.5]), 1)).toBe("8.5 µm");
    expect(bandPlace(bandAxis(2, null), 1)).toBe("band 2");
  });
  it("has axes of per cent that end at 0 and 100", () => {
    expect(percentRange(100, 100)).toEqual([99, 100]);
    expect(percentRange(0, 0)).toEqual([0, 1]);
    expect(percentRange(40, 90)).toEqual([35, 95]);
  });
  it("shows short times as well as long ones", () => {
    expect([2e-5, 0.00312, 0.04, 2, 125.04, null].map(secondsText)).toEqual([
      "< 0.001",
      "0.0031",
      "0.04",
      "2.0",
      "125.0",
      "–",
    ]);
  });
  it("leaves out the empty ends of a histogram, but not its limit", () => {
    const edges = [-4, -3, -2, -1, 0];
    const of = (counts: number[], tolerance: number) => occupied({ edges, counts, tolerance, unconverged: 0 });
    expect(of([0, 5, 0, 0], 0.02)).toEqual({ edges: [-3, -2, -1], counts: [5, 0] });
    expect(of([0, 5, 0, 2], 1e-8)).toEqual({ edges: [-3, -2, -1, 0], counts: [5, 0, 2] });
    expect(of([0, 0, 0, 0], 1e-8)).toEqual({ edges: [-4], counts: [] });
  });
});

describe("shapes", () => {
  it("scales to unit length, with the offset", () => {
    expect([...(shapeOf([2, 3], [1, 1]) ?? [])]).toEqual([0.6, 0.8]);
    expect(shapeOf([Number.NaN, 1], null)).toBeNull();
    expect(shapeOf([-1, -1], [1, 1])).toBeNull();
  });
  it("gives a class its atoms, most used first", () => {
    const report = { scene: { bands: 2 }, offset: null } as Report;
    const model = { atom_classes: [0, 1, 0], usage: [1, 9, 5] } as Model;
    const details = {
      spectra: null,
      codes: null,
      scores: null,
      window: null,
      atoms: Float32Array.of(1, 0, 0, 1, 3, 4),
      means: null,
    };
    const { mean: none, atoms } = shapesOfClass(report, model, details, 0);
    expect(none).toBeNull();
    expect(atoms.map(({ atom }) => atom)).toEqual([2, 0]);
  });
  it("draws inside its box", () => {
    expect(sparkline(Float64Array.of(0, 1), null)).toBe("M0.0 38.0L100.0 2.0");
    expect(sparkline(Float64Array.of(0, 1), Float64Array.of(0, 2))).toBe("M0.0 38.0L100.0 20.0");
  });
});
