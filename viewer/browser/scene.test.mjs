// The report of one model: every panel, against the values that the fixture was made from.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { makeScene } from "../fixture/scene.mjs";
import { fixtureUrl, launch, PATIENCE, ready } from "./launch.mjs";
import { clickPixel, mapColours, open, pixelCsv, saved, seriousFindings } from "./pages.mjs";

const { report, blocks, cube, atoms, active, times } = makeScene();
const { rows, cols, bands } = report.scene;
const url = fixtureUrl("scene");
const block = (/** @type {string} */ name) => /** @type {Uint8Array} */ (blocks.get(name));
const truth = block("truth");
const prediction = block("prediction");
const rgb = block("rgb");
const split = block("split");
const LIT = [255, 214, 0];

/** @type {import("playwright-core").Browser} */
let browser;
/** @type {import("playwright-core").Page} */
let page;
/** @type {string[]} */
let faults;

before(async () => {
  browser = await launch();
  ({ page, faults } = await open(browser, url, { acceptDownloads: true }));
});
after(() => browser.close());

const hex = (/** @type {number} */ c) =>
  [1, 3, 5].map((i) => Number.parseInt(report.classes[c].colour.slice(i, i + 2), 16));
const classAt = (/** @type {Uint8Array} */ layer, /** @type {number} */ pixel) => hex(layer[pixel] - 1);
const near = (/** @type {number[]} */ a, /** @type {number[]} */ b, slack = 2) =>
  a.every((v, i) => Math.abs(v - b[i]) <= slack);
const text = (/** @type {string} */ selector) => page.locator(selector).innerText();
const setRange = (/** @type {string} */ selector, /** @type {number} */ value) =>
  page.locator(selector).evaluate((node, v) => {
    const input = /** @type {HTMLInputElement} */ (node);
    input.value = String(v);
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }, value);
const colours = () => mapColours(page, rows, cols);
/** Pixels away from the cursor and its window, whose outlines cover colours. @param {(pixel: number) => boolean} want */
const somePixels = (want) =>
  Array.from(truth.keys()).filter((p) => p % 7 === 0 && Math.floor(p / cols) > 60 && want(p));
const readout = () => text("#readout");

test("the headline has the figures, the split, the model and the command", async () => {
  const words = await text("#summary");
  const { accuracy, split: rule, model, made } = report;
  for (const part of [
    (100 * accuracy.oa.value).toFixed(2),
    (100 * accuracy.aa.value).toFixed(2),
    accuracy.kappa.value.toFixed(4),
    `${(100 * accuracy.oa.low).toFixed(2)} to ${(100 * accuracy.oa.high).toFixed(2)}`,
    `${accuracy.correct.toLocaleString("en-US")} of ${accuracy.pixels.toLocaleString("en-US")} right`,
    rule.rule,
    rule.leakage.text,
    "seed 0",
    model.method,
    model.hash.slice(0, 12),
    made.command,
    "2026-11-18 02:30 UTC",
    report.reduced[0],
  ])
    assert(words.includes(part), `${part} is not in the headline`);
  assert.equal(await page.title(), report.title);
});

test("every panel has its content", async () => {
  assert.deepEqual(await page.locator(".top nav a").allInnerTexts(), ["Map", "Pixel", "Accuracy", "Model"]);
  assert.equal(await page.locator(".legend li").count(), 16);
  assert.equal(await page.locator(".confusion tbody tr").count(), 16);
  assert.equal(await page.locator("#tables .data tbody tr").count(), 16);
  assert.equal(await page.locator(".class-atoms").count(), 16);
  assert.equal(await page.locator(".spark .atom").count(), 80);
  assert.equal(await page.locator("#comparison").count(), 0);
  const charts = await page.locator(".chart canvas").evaluateAll((nodes) =>
    nodes.map((node) => {
      const canvas = /** @type {HTMLCanvasElement} */ (node);
      const { data } = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")).getImageData(
        0,
        0,
        canvas.width,
        canvas.height,
      );
      return data.some((value) => value > 0);
    }),
  );
  assert.deepEqual(charts, [true, true, true, true], "spectrum, loss, accuracy, certificate");
});

test("the map begins with the composite left and the prediction right of the swipe", async () => {
  const seen = await colours();
  for (const p of somePixels((p) => prediction[p] > 0)) {
    if (p % cols < 45) assert(near(seen[p], [...rgb.subarray(3 * p, 3 * p + 3)]), `composite at ${p}`);
    if (p % cols > 55) assert(near(seen[p], classAt(prediction, p)), `prediction at ${p}`);
  }
});

for (const [row, col] of [
  [12, 70],
  [44, 15],
]) {
  test(`a click on row ${row}, column ${col} shows its class, spectrum, atoms and scores`, async () => {
    const p = row * cols + col;
    await clickPixel(page, report.scene, row, col);
    assert.equal(await text("#pixel-title"), `Pixel row ${row}, column ${col}`);
    const name = (/** @type {number} */ label) => (label ? report.classes[label - 1].name : "none");
    assert.equal((await text('[data-fact="truth"]')).trim(), name(truth[p]));
    assert((await text('[data-fact="prediction"]')).startsWith(name(prediction[p])));
    const [x, y] = [500000 + 20 * (col + 0.5), 4480000 - 20 * (row + 0.5)];
    assert((await text('[data-fact="coordinates"]')).startsWith(`${x.toFixed(1)}, ${y.toFixed(1)}`));
    assert((await text('[data-fact="coordinates"]')).includes("WGS 84 / UTM zone 16N"));

    if (!(await page.locator(".spectrum details").evaluate((node) => /** @type {HTMLDetailsElement} */ (node).open)))
      await page.locator(".spectrum summary").click();
    await page.locator(".values tbody tr").first().waitFor(); // the browser tells of the opening later
    const values = await page
      .locator(".values tbody tr")
      .evaluateAll((trs) => trs.map((tr) => [...tr.children].map((c) => Number(c.textContent))));
    assert.equal(values.length, bands);
    values.forEach(([nanometres, measured, rebuilt], b) => {
      const wavelength = 1000 * report.scene.wavelengths[b];
      assert(Math.abs(nanometres - wavelength) <= 5e-4 * wavelength);
      const span = report.spectra.high[b] - report.spectra.low[b];
      assert(Math.abs(measured - cube[p * bands + b]) <= span / 255 + 1e-4, `spectrum of band ${b}`);
      const sum = active[p].reduce(
        (s, { atom, part }) => s + part * atoms[atom * bands + b],
        times[p] * report.offset[b],
      );
      const largest = Math.max(...active[p].map(({ part }) => Math.abs(part)));
      assert(Math.abs(rebuilt - sum) <= (largest / 254) * active[p].length * 0.3 + 1e-4, `reconstruction of band ${b}`);
    });

    const shown = await page.locator(".atoms li").evaluateAll((items) =>
      items.map((item) => ({
        atom: Number(item.getAttribute("data-atom")),
        name: item.querySelector(".text")?.textContent,
        weight: Number(item.querySelector(".number")?.textContent),
      })),
    );
    assert.deepEqual(shown.map((s) => s.atom).sort(), active[p].map((e) => e.atom).sort());
    const largest = Math.max(...active[p].map((e) => Math.abs(e.weight)));
    for (const { atom, name: owner, weight } of shown) {
      const entry = active[p].find((e) => e.atom === atom);
      assert(entry && Math.abs(entry.weight - weight) <= largest / 254 + 5e-4, `weight of atom ${atom}`);
      assert.equal(owner, report.classes[report.model.atom_classes[atom]].name);
    }

    const scores = [...block("scores").subarray(16 * p, 16 * (p + 1))];
    const best = scores.indexOf(Math.max(...scores));
    assert.equal(await page.locator(".scores li .text").first().innerText(), report.classes[best].name);
    assert.equal(
      await page.locator(".scores li .number").first().innerText(),
      (-0.2 + (1.3 * scores[best]) / 255).toFixed(3),
    );
  });
}

test("arrow keys move the pixel and the readout says where", async () => {
  await clickPixel(page, report.scene, 20, 30);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  assert((await readout()).startsWith("Row 21, column 31"));
  await page.keyboard.press("Shift+ArrowLeft");
  assert((await readout()).startsWith("Row 21, column 21"));
  for (let i = 0; i < 5; ++i) await page.keyboard.press("Shift+ArrowUp");
  assert((await readout()).startsWith("Row 0, column 21"));
  assert.equal(await page.locator("#readout").getAttribute("aria-live"), "polite");
});

test("keys, wheel, buttons and dragging zoom and pan", async () => {
  const picture = () =>
    page.locator(".stage canvas").evaluate((node) => /** @type {HTMLCanvasElement} */ (node).toDataURL());
  await clickPixel(page, report.scene, 20, 30);
  const whole = await picture();
  await page.keyboard.press("+");
  const closer = await picture();
  assert.notEqual(closer, whole);
  await page.keyboard.press("-");
  assert.equal(await picture(), whole);
  await page.getByRole("button", { name: "Zoom in" }).click();
  const zoomed = await picture();
  assert.notEqual(zoomed, whole);
  const box = await page.locator(".stage canvas").boundingBox();
  assert(box);
  await page.mouse.move(box.x + 300, box.y + 200);
  await page.mouse.down();
  await page.mouse.move(box.x + 240, box.y + 170, { steps: 4 });
  await page.mouse.up();
  assert.notEqual(await picture(), zoomed);
  assert((await readout()).startsWith("Row 20, column 30"), "dragging selects nothing");
  await page.getByRole("button", { name: "Show the whole scene" }).click();
  assert.equal(await picture(), whole);
  await page.mouse.move(box.x + 300, box.y + 200);
  await page.mouse.wheel(0, -240);
  await page.waitForFunction(
    (before) => /** @type {HTMLCanvasElement} */ (document.querySelector(".stage canvas")).toDataURL() !== before,
    whole,
  );
  await page.locator(".stage canvas").focus();
  await page.keyboard.press("0");
  assert.equal(await picture(), whole);
});

test("two fingers zoom", async () => {
  const before = await page
    .locator(".stage canvas")
    .evaluate((node) => /** @type {HTMLCanvasElement} */ (node).toDataURL());
  await page.locator(".stage canvas").evaluate((node) => {
    const box = node.getBoundingClientRect();
    const send = (/** @type {string} */ type, /** @type {number} */ id, /** @type {number} */ x) =>
      node.dispatchEvent(
        new PointerEvent(type, {
          pointerId: id,
          clientX: box.x + x,
          clientY: box.y + 200,
          bubbles: true,
          pointerType: "touch",
        }),
      );
    // Capture knows only real pointers.
    node.setPointerCapture = () => {};
    send("pointerdown", 11, 200);
    send("pointerdown", 12, 300);
    send("pointermove", 12, 420);
    send("pointerup", 12, 420);
    send("pointerup", 11, 200);
  });
  await page.waitForFunction(
    (was) => /** @type {HTMLCanvasElement} */ (document.querySelector(".stage canvas")).toDataURL() !== was,
    before,
  );
  await page.getByRole("button", { name: "Show the whole scene" }).click();
});

test("the swipe uncovers layer B, its opacity mixes the layers", async () => {
  await clickPixel(page, report.scene, 5, 5);
  await setRange(".swipe", 0);
  let seen = await colours();
  for (const p of somePixels((p) => prediction[p] > 0)) assert(near(seen[p], classAt(prediction, p)));
  await setRange('.toolbar input[type="range"]', 0.5);
  seen = await colours();
  for (const p of somePixels((p) => prediction[p] > 0)) {
    const mixed = classAt(prediction, p).map((v, i) => (v + rgb[3 * p + i]) / 2);
    assert(near(seen[p], mixed, 3), `mixed at ${p}`);
  }
  await setRange('.toolbar input[type="range"]', 1);
  await setRange(".swipe", 1);
  seen = await colours();
  for (const p of somePixels(() => true).filter((p) => p % cols < 98))
    assert(near(seen[p], [...rgb.subarray(3 * p, 3 * p + 3)]));
  await page.locator(".swipe").focus();
  await page.keyboard.press("Home");
  seen = await colours();
  for (const p of somePixels((p) => prediction[p] > 0)) assert(near(seen[p], classAt(prediction, p)));
});

test("errors are right, wrong, or training", async () => {
  await page.getByLabel("Layer B", { exact: true }).selectOption("errors");
  const seen = await colours();
  for (const p of somePixels((p) => truth[p] > 0 && prediction[p] > 0)) {
    const want = split[p] === 1 ? [120, 124, 128] : truth[p] === prediction[p] ? [58, 110, 150] : [255, 176, 46];
    assert(near(seen[p], want), `error at ${p}`);
  }
  const wrong = report.accuracy.pixels - report.accuracy.correct;
  assert.match(await text(".key"), new RegExp(`wrong\\s*${wrong.toLocaleString("en-US")}`));
});

test("the page says which bands the composite shows, while it does", async () => {
  const said = report.scene.composite.bands.map(
    (band) => `${Number((1000 * report.scene.wavelengths[band]).toPrecision(4))} nm`,
  );
  assert.equal(await text(".composite"), `Composite: ${said[0]} as red, ${said[1]} as green, ${said[2]} as blue`);
  await page.getByLabel("Layer A", { exact: true }).selectOption("truth");
  assert.equal(await page.locator(".composite").count(), 0);
  await page.getByLabel("Layer A", { exact: true }).selectOption("rgb");
});

test("confidence, novelty and truth can be shown", async () => {
  for (const name of ["confidence", "novelty"]) {
    await page.getByLabel("Layer B", { exact: true }).selectOption(name);
    const seen = await colours();
    const [p, q] = somePixels(() => true)
      .sort((a, b) => block(name)[a] - block(name)[b])
      .filter((_, i, all) => i === 0 || i === all.length - 1);
    const light = (/** @type {number[]} */ c) => c[0] + c[1] + c[2];
    assert(light(seen[q]) > light(seen[p]), `${name} is lighter where it is higher`);
    assert((await text(".key")).startsWith(name));
  }
  await page.getByLabel("Layer B", { exact: true }).selectOption("truth");
  const seen = await colours();
  for (const p of somePixels(() => true))
    assert(near(seen[p], truth[p] ? classAt(truth, p) : [...rgb.subarray(3 * p, 3 * p + 3)]));
  await page.getByLabel("Layer B", { exact: true }).selectOption("prediction");
});

test("the legend counts and isolates a class", async () => {
  const area = report.areas.map((a) => a.pixels.toLocaleString("en-US"));
  assert.deepEqual(await page.locator(".legend .number").allInnerTexts(), area);
  const before = await colours();
  const chosen = prediction[somePixels((p) => prediction[p] > 0)[0]] - 1;
  const button = page.locator(".legend button").nth(chosen);
  await button.click();
  assert.equal(await button.getAttribute("aria-pressed"), "true");
  const seen = await colours();
  for (const p of somePixels((p) => prediction[p] > 0))
    if (prediction[p] === chosen + 1) assert(near(seen[p], before[p]));
    else assert(!near(seen[p], before[p], 8), `dimmed at ${p}`);
  await button.click();
  assert.deepEqual(await colours(), before);
});

test("a cell of the confusion matrix lights up its pixels, all of them and no others", async () => {
  const before = await colours();
  const counts = report.accuracy.confusion;
  let [t, q] = [0, 1];
  for (let i = 0; i < 16; ++i) for (let j = 0; j < 16; ++j) if (i !== j && counts[i][j] > counts[t][q]) [t, q] = [i, j];
  await page.locator(`[data-cell="${t},${q}"]`).click();
  assert((await text(".lit")).startsWith(`${counts[t][q]} pixels lit`));
  const seen = await colours();
  const lit = seen.flatMap((c, p) => (near(c, LIT) ? [p] : []));
  const want = [...truth.keys()].filter((p) => truth[p] === t + 1 && prediction[p] === q + 1 && split[p] === 2);
  assert.deepEqual(lit, want);
  assert.equal(lit.length, counts[t][q]);
  await page.locator(`[data-cell="${t},${q}"]`).focus();
  await page.keyboard.press(t > 0 ? "ArrowUp" : "ArrowDown");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator(`[data-cell="${t > 0 ? t - 1 : t + 1},${q}"]`).getAttribute("aria-pressed"), "true");
  await page.locator(".stage canvas").focus();
  await page.keyboard.press("Escape");
  assert.deepEqual(await colours(), before);
});

test("what is lit is seen in a small map when the large one is out of sight", async () => {
  await page.locator('[data-cell="0,0"]').click();
  await page.locator("#model").scrollIntoViewIfNeeded();
  await page.evaluate(() => window.scrollTo({ top: document.body.scrollHeight, behavior: "instant" }));
  await page.locator(".inset").waitFor();
  await page.locator(".inset a").click();
  await page.locator(".inset").waitFor({ state: "detached" });
  await page.locator(".lit button").click();
});

test("confusion shows row per cent on demand", async () => {
  await page.getByRole("button", { name: "Row %" }).click();
  const line = report.accuracy.confusion[1];
  const total = line.reduce((a, b) => a + b, 0);
  assert.equal(await text('[data-cell="1,1"]'), ((100 * line[1]) / total).toFixed(1));
  await page.getByRole("button", { name: "Row %" }).click();
  assert.equal(await text('[data-cell="1,1"]'), String(line[1]));
});

test("training, test and window outlines are drawn on demand", async () => {
  const picture = () =>
    page.locator(".stage canvas").evaluate((node) => /** @type {HTMLCanvasElement} */ (node).toDataURL());
  for (const name of ["training", "test", "window"]) {
    const before = await picture();
    await page.getByLabel(name, { exact: true }).click();
    assert.notEqual(await picture(), before, name);
    await page.getByLabel(name, { exact: true }).click();
    assert.equal(await picture(), before, name);
  }
});

test("the class table sorts both ways", async () => {
  const heads = page.locator("#tables .data thead th");
  const column = await heads.allInnerTexts();
  const f1 = column.indexOf("F1 %");
  await heads.nth(f1).getByRole("button").click();
  assert.equal(await heads.nth(f1).getAttribute("aria-sort"), "descending");
  const values = () => page.locator(`#tables .data tbody tr td:nth-child(${f1 + 1})`).allInnerTexts();
  const down = (await values()).map(Number);
  assert.deepEqual(
    down,
    [...down].sort((a, b) => b - a),
  );
  await heads.nth(f1).getByRole("button").click();
  assert.deepEqual((await values()).map(Number), [...down].reverse());
});

test("tables are saved as CSV and JSON", async () => {
  const names = report.classes.map((c) => c.name);
  const confusion = await saved(page, "Confusion CSV");
  assert.equal(confusion.file, "Synthetic-fields-confusion.csv");
  const want = [["truth \\ map", ...names], ...report.accuracy.confusion.map((line, t) => [names[t], ...line])];
  assert.equal(confusion.bytes.toString("utf8"), want.map((line) => `${line.join(",")}\r\n`).join(""));
  const classes = (await saved(page, "Classes CSV")).bytes.toString("utf8").split("\r\n");
  assert.equal(classes.length, 18);
  const first = report.accuracy.per_class[0];
  assert(classes[1].startsWith(`${names[0]},${first.support},${first.predicted},${first.producers},${first.users}`));
  const { file, bytes } = await saved(page, "JSON");
  assert.equal(file, "Synthetic-fields-tables.json");
  assert.deepEqual(JSON.parse(bytes.toString("utf8")), {
    classes: report.classes,
    split: report.split,
    accuracy: report.accuracy,
    areas: report.areas,
  });
});

test("the spectrum of a pixel is saved", async () => {
  await clickPixel(page, report.scene, 44, 15);
  const p = 44 * cols + 15;
  const { file, head, lines } = await pixelCsv(page);
  assert.equal(file, "Synthetic-fields-pixel-r44-c15.csv");
  assert.deepEqual(head, ["band", "wavelength_nm", "value", "reconstruction"]);
  assert.equal(lines.length, bands);
  const largest = Math.max(...active[p].map(({ part }) => Math.abs(part)));
  lines.forEach(({ band, wavelength, value, reconstruction }, b) => {
    assert.equal(band, b + 1);
    assert(Math.abs(wavelength - 1000 * report.scene.wavelengths[b]) < 0.01);
    const span = report.spectra.high[b] - report.spectra.low[b];
    assert(Math.abs(value - cube[p * bands + b]) <= span / 255 + 1e-5, `value of band ${b}`);
    const sum = active[p].reduce(
      (s, { atom, part }) => s + part * atoms[atom * bands + b],
      times[p] * report.offset[b],
    );
    assert(Math.abs(reconstruction - sum) <= (largest / 254) * active[p].length * 0.3 + 1e-5, `atoms of band ${b}`);
  });
});

/** The texts that are drawn on a canvas while the map is saved, and the picture. @param {import("playwright-core").Page} page */
async function savedSheet(page) {
  await page.evaluate(() => {
    /** @type {{ text: string, right: number, width: number }[]} */
    const texts = [];
    const { prototype } = CanvasRenderingContext2D;
    const fill = prototype.fillText;
    prototype.fillText = function (text, x, y) {
      texts.push({ text, right: x + this.measureText(text).width, width: this.canvas.width });
      fill.call(this, text, x, y);
    };
    Object.assign(window, { __texts: texts });
  });
  const { file, bytes } = await saved(page, "Save PNG");
  /** @type {{ text: string, right: number, width: number }[]} */
  // @ts-expect-error put there above
  const texts = await page.evaluate(() => window.__texts);
  for (const { text, right, width } of texts) assert(right <= width, `${text} is cut off by the edge`);
  const picture = await page.evaluate(async (base64) => {
    const raw = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const image = await createImageBitmap(new Blob([raw], { type: "image/png" }));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.drawImage(image, 0, 0);
    const data = context.getImageData(0, 0, image.width, image.height).data;
    let text = "";
    for (let i = 0; i < data.length; i += 8192) text += String.fromCharCode(...data.subarray(i, i + 8192));
    return { width: image.width, height: image.height, data: btoa(text) };
  }, bytes.toString("base64"));
  const data = Buffer.from(picture.data, "base64");
  const at = (/** @type {number} */ x, /** @type {number} */ y) => [
    ...data.subarray(4 * (y * picture.width + x), 4 * (y * picture.width + x) + 3),
  ];
  return { file, texts: texts.map(({ text }) => text), width: picture.width, height: picture.height, at };
}

/** The frame of the map: the first points that are not white. @param {Awaited<ReturnType<typeof savedSheet>>} sheet */
function mapCorner({ at }) {
  const far = (/** @type {(i: number) => number[]} */ point) => {
    let i = 0;
    while (point(i).every((v) => v === 255)) ++i;
    return i + 1;
  };
  return [far((i) => at(i, 200)), far((i) => at(200, i))];
}

/** Colours in the part of the sheet right of x or below y. @param {Awaited<ReturnType<typeof savedSheet>>} sheet @param {number} left @param {number} top */
function coloursBeside({ at, width, height }, left, top) {
  const found = new Set();
  for (let y = 0; y < height; ++y)
    for (let x = 0; x < width; ++x) if (x >= left || y >= top) found.add(at(x, y).join());
  return found;
}

test("the map is saved as PNG, pixel by pixel, with a legend", async () => {
  const sheet = await savedSheet(page);
  assert.equal(sheet.file, "Synthetic-fields-map.png");
  const scale = 12;
  const [x0, y0] = mapCorner(sheet);
  for (let p = 0; p < rows * cols; ++p) {
    const [x, y] = [x0 + (p % cols) * scale, y0 + Math.floor(p / cols) * scale];
    if (!prediction[p]) continue;
    // All of its points, no cursor and no window.
    for (const [dx, dy] of [
      [0, 0],
      [scale - 1, scale - 1],
      [5, 6],
    ])
      assert(near(sheet.at(x + dx, y + dy), classAt(prediction, p)), `PNG at ${p}`);
  }
  const shown = new Set(prediction);
  const names = report.classes.filter((info) => shown.has(info.id)).map((info) => info.name);
  assert.equal(
    sheet.texts.join(" "),
    ["Synthetic fields", "Prediction", "hyperatom 0.1.0, 2026-11-18 02:30 UTC", ...names].join(" "),
  );
  const found = coloursBeside(sheet, x0 + cols * scale + 2, sheet.height);
  for (let c = 0; c < 16; ++c) assert.equal(found.has(hex(c).join()), shown.has(c + 1), report.classes[c].name);
});

test("the saved legend has what is shown: an isolated class, errors, a ramp", async () => {
  const [x0] = mapCorner(await savedSheet(page));
  const beside = x0 + cols * 12 + 2;
  await page.locator(".legend button").nth(3).click();
  assert((await savedSheet(page)).texts.join(" ").endsWith(`UTC ${report.classes[3].name}`));
  await page.locator(".legend button").nth(3).click();

  await page.getByLabel("Layer B", { exact: true }).selectOption("errors");
  await setRange(".swipe", 0.5);
  const errors = await savedSheet(page);
  assert.equal(
    errors.texts.join(" "),
    "Synthetic fields Left: Composite (true colour) Right: Errors hyperatom 0.1.0, 2026-11-18 02:30 UTC " +
      "right wrong training, not counted",
  );
  const found = coloursBeside(errors, beside, errors.height);
  for (const colour of ["58,110,150", "255,176,46", "120,124,128"]) assert(found.has(colour), colour);

  await page.getByLabel("Layer B", { exact: true }).selectOption("novelty");
  const ramp = await savedSheet(page);
  assert.deepEqual(ramp.texts.slice(-3), ["Novelty", "0", "1"]);
  for (const colour of ["14,22,66", "250,236,150"])
    assert(coloursBeside(ramp, beside, ramp.height).has(colour), colour);
  await page.getByLabel("Layer B", { exact: true }).selectOption("prediction");
  await setRange(".swipe", 0);
});

test("every control can be reached by Tab and shows its focus", async () => {
  await page.evaluate(() => window.scrollTo({ top: 0, behavior: "instant" }));
  await page.locator("h1").click();
  /** @type {Set<string>} */
  const reached = new Set();
  let unseen = "";
  for (let i = 0; i < 90; ++i) {
    await page.keyboard.press("Tab");
    const focus = await page.evaluate(() => {
      const node = document.activeElement;
      if (!node || node === document.body) return null;
      const style = getComputedStyle(node);
      const visible = style.outlineStyle !== "none" || node.classList.contains("swipe");
      return { what: `${node.tagName}.${node.className}`, visible };
    });
    if (!focus) break;
    reached.add(focus.what);
    if (!focus.visible) unseen = focus.what;
  }
  for (const what of ["CANVAS.", "INPUT.swipe", "SELECT.", "A.", "BUTTON.sort", "BUTTON."])
    assert(reached.has(what), `${what} of ${[...reached]}`);
  assert.equal(unseen, "");
});

test("the theme follows the system and can be turned", async () => {
  const paper = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await paper();
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
  const dark = await paper();
  assert.notEqual(dark, light);
  await page.getByRole("button", { name: "Dark" }).click();
  assert.equal(await paper(), light);
  await page.emulateMedia({ colorScheme: "light" });
});

test("a theme that was chosen is remembered, where storage is allowed", async () => {
  const context = await browser.newContext({ colorScheme: "light" });
  context.setDefaultTimeout(PATIENCE);
  const theme = async () => {
    const page = await context.newPage();
    await page.goto(url);
    await ready(page);
    return { page, theme: await page.evaluate(() => document.documentElement.dataset.theme) };
  };
  const first = await theme();
  assert.equal(first.theme, "light");
  await first.page.getByRole("button", { name: "Dark" }).click();
  const second = await theme();
  assert.equal(second.theme, "dark");
  await second.page.evaluate(() => localStorage.setItem("hyperatom:theme", "<script>"));
  assert.equal((await theme()).theme, "light", "what is no theme is not taken");
  await context.close();
});

test("without storage the page works, and follows the system", async () => {
  const context = await browser.newContext({ colorScheme: "dark" });
  context.setDefaultTimeout(PATIENCE);
  await context.addInitScript(() => {
    Object.defineProperty(window, "localStorage", {
      get() {
        throw new DOMException("refused", "SecurityError");
      },
    });
  });
  const other = await context.newPage();
  /** @type {string[]} */
  const errors = [];
  other.on("pageerror", (error) => errors.push(error.message));
  other.on("console", (message) => errors.push(message.text()));
  await other.goto(url);
  await ready(other);
  const theme = () => other.evaluate(() => document.documentElement.dataset.theme);
  assert.equal(await theme(), "dark");
  await other.getByRole("button", { name: "Dark" }).click();
  assert.equal(await theme(), "light");
  assert.deepEqual(errors, []);
  await context.close();
});

test("paper is light, and a PDF can be made in the dark theme", async () => {
  const other = await open(browser, url, { colorScheme: "dark" });
  const themes = await other.page.evaluate(async () => {
    const theme = async (/** @type {string} */ event) => {
      dispatchEvent(new Event(event));
      await Promise.resolve();
      return document.documentElement.dataset.theme;
    };
    return [await theme("beforeprint"), await theme("afterprint")];
  });
  assert.deepEqual(themes, ["light", "dark"]);
  const pdf = await other.page.pdf({ format: "A4" });
  assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
  assert.deepEqual(other.faults, []);
  await other.page.close();
});

test("motion is reduced when asked for, and print leaves out the controls", async () => {
  const scrolling = () => page.evaluate(() => getComputedStyle(document.documentElement).scrollBehavior);
  await page.emulateMedia({ reducedMotion: "no-preference" });
  assert.equal(await scrolling(), "smooth");
  await page.emulateMedia({ reducedMotion: "reduce" });
  assert.equal(await scrolling(), "auto");
  await page.emulateMedia({ media: "print" });
  for (const selector of [".toolbar", ".tools", ".zoom", ".swipe"])
    assert.equal(await page.locator(selector).first().isVisible(), false, selector);
  assert(await page.locator(".confusion").isVisible());
  await page.emulateMedia({ media: "screen" });
});

for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
  test(`axe finds nothing serious, ${colorScheme}`, async () => {
    const other = await open(browser, url, { colorScheme });
    await other.page.locator(".spectrum summary").click();
    await other.page.locator('[data-cell="0,0"]').click();
    assert.deepEqual(await seriousFindings(other.page), []);
    assert.deepEqual(other.faults, []);
    await other.page.close();
  });
}

test("a phone has the figures, the map, then the facts", async () => {
  const phone = await open(browser, url, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
  const order = await phone.page.evaluate(() =>
    [".figures", ".workspace", ".facts", "#tables", "#model"].map(
      (selector) => document.querySelector(selector)?.getBoundingClientRect().y,
    ),
  );
  assert.deepEqual(
    [...order].sort((a, b) => Number(a) - Number(b)),
    order,
  );
  const box = await phone.page.locator(".stage canvas").boundingBox();
  assert(box && box.y + box.height / 2 < 844, "the map is on the first screen");
  await phone.page.close();
});

test("a phone has no sideways scrolling, and a tap selects a pixel", async () => {
  const phone = await open(browser, url, { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true });
  const width = await phone.page.evaluate(() => document.documentElement.scrollWidth);
  assert.equal(width, 360);
  const box = await phone.page.locator(".stage canvas").boundingBox();
  assert(box);
  await phone.page.locator(".stage canvas").tap({ position: { x: box.width / 2 + 60, y: box.height / 2 } });
  assert((await phone.page.locator("#readout").innerText()).startsWith("Row 40, column"));
  assert.deepEqual(phone.faults, []);
  await phone.page.close();
});

test("the map is there soon", async (context) => {
  const fresh = await open(browser, url);
  const marks = await fresh.page.evaluate(() =>
    performance.getEntriesByType("mark").map((mark) => [mark.name, mark.startTime]),
  );
  context.diagnostic(marks.map(([name, time]) => `${name} after ${Math.round(Number(time))} ms`).join(", "));
  assert.equal(marks.length, 2);
  await fresh.page.close();
});

test("nothing was asked of the network, no error was logged", () => assert.deepEqual(faults, []));
