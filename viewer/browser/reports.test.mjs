// Reports that hyperatom wrote, when HYPERATOM_REPORTS names them: of a model, of a map against labels, of a comparison. What a page
// shows is held against the data in it, and pixels against NAME.explain.json beside NAME.html, an array of what
// `hyperatom explain --json` printed. Two that scripts/make_reports.sh makes are known by name: demo-reduced has not all bands,
// hostile has attacks as names.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { inflateSync } from "node:zlib";
import { launch } from "./launch.mjs";
import { clickPixel, mapColours, open, pixelCsv, seriousFindings } from "./pages.mjs";

/** @type {string[]} */
const PAYLOADS = JSON.parse(readFileSync(new URL("../fixture/payloads.json", import.meta.url), "utf8"));
const files = (process.env.HYPERATOM_REPORTS ?? "").split(":").filter(Boolean);

/** @type {import("playwright-core").Browser} */
let browser;
before(async () => {
  if (files.length > 0) browser = await launch();
});
after(() => browser?.close());

/** The document and the blocks of a page. @param {string} file */
function contents(file) {
  const text = readFileSync(file, "utf8");
  const element = (/** @type {string} */ id) => new RegExp(`<script id="${id}"[^>]*>([^<]*)<`).exec(text)?.[1];
  /** @type {import("../src/data").Report} */
  const report = JSON.parse(String(element("report")));
  const block = (/** @type {string} */ name) => {
    const found = element(`block-${name}`);
    return found ? new Uint8Array(inflateSync(Buffer.from(found, "base64"))) : new Uint8Array();
  };
  const kind = report.comparison ? "comparison" : report.model ? "model" : "evaluation";
  return { report, block, kind };
}

const number = (/** @type {string | null | undefined} */ text) =>
  text === "·" ? 0 : Number(String(text).replaceAll(",", ""));
const percent = (/** @type {number | null} */ share) => (100 * Number(share)).toFixed(2);
const near = (/** @type {number[]} */ a, /** @type {number[]} */ b) => a.every((v, i) => Math.abs(v - b[i]) <= 2);

for (const file of files) {
  const url = pathToFileURL(resolve(file)).href;
  const name = basename(file);
  const { report, block, kind } = contents(file);
  const { rows, cols, bands } = report.scene;
  const { accuracy, comparison, model, classes } = report;
  const methods = comparison?.maps ?? [];
  const [truth, split] = [block("truth"), block("split")];
  /** The layers of the first look. */
  const [left, right] =
    kind === "evaluation" ? ["truth", "prediction"] : ["rgb", model ? "prediction" : `map-${methods.at(-1)}`];

  /** What a pixel of a layer looks like; null where it is clear. @param {string} layer */
  function paint(layer) {
    const bytes = block(layer);
    assert.equal(bytes.length, rows * cols * (layer === "rgb" ? 3 : 1), `block ${layer}`);
    return (/** @type {number} */ p) => {
      if (layer === "rgb") return [...bytes.subarray(3 * p, 3 * p + 3)];
      const info = classes[bytes[p] - 1];
      return info ? [1, 3, 5].map((i) => Number.parseInt(info.colour.slice(i, i + 2), 16)) : null;
    };
  }

  /** Pixels that no mark covers: of the cursor, of its window, of the swipe. @param {import("playwright-core").Page} page */
  async function clear(page) {
    const said = /^Row (\d+), column (\d+)/.exec(await page.locator("#readout").innerText());
    assert(said);
    const reach = Math.ceil(Math.sqrt(report.windows)) + 4;
    return (/** @type {number} */ p) =>
      Math.abs(Math.floor(p / cols) - Number(said[1])) > reach || Math.abs((p % cols) - Number(said[2])) > reach;
  }

  /** How many pixels there are, and how many of them are as they should be. @param {number[][]} seen @param {(p: number) => number[] | null} want @param {(p: number) => boolean} which */
  function agreement(seen, want, which) {
    let [all, right] = [0, 0];
    seen.forEach((colour, p) => {
      const expected = which(p) ? want(p) : null;
      if (!expected) return;
      ++all;
      if (near(colour, expected)) ++right;
    });
    assert(all > 50, `only ${all} pixels to look at`);
    return right / all;
  }

  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    test(`${name} opens without faults, ${colorScheme}`, async (context) => {
      const { page, faults } = await open(browser, url, { colorScheme });
      const marks = await page.evaluate(() =>
        performance.getEntriesByType("mark").map((mark) => `${mark.name} after ${Math.round(mark.startTime)} ms`),
      );
      context.diagnostic(marks.join(", "));
      assert.equal(await page.locator('[role="alert"]').count(), 0);
      assert.equal(await page.evaluate(() => "__pwned" in window), false);
      assert.deepEqual(await seriousFindings(page), []);
      assert.deepEqual(faults, []);
      await page.close();
    });
  }

  test(`${name} (${kind}): every panel has its content`, async () => {
    const { page, faults } = await open(browser, url);
    const panels = {
      model: ["Map", "Pixel", accuracy ? "Accuracy" : "Area", "Model"],
      evaluation: ["Map", "Pixel", "Accuracy"],
      comparison: ["Comparison", "Map", "Pixel", "All maps"],
    }[kind];
    assert.deepEqual(await page.locator(".top nav a").allInnerTexts(), panels);
    for (const link of await page.locator(".top nav a").all())
      assert.equal(await page.locator(String(await link.getAttribute("href"))).count(), 1);

    const words = await page.locator("body").innerText();
    assert(!/\b(NaN|undefined|null|Infinity)\b/.test(words), words);
    assert.match(words, /Made\s+20\d\d-\d\d-\d\d \d\d:\d\d UTC/);
    assert.equal(words.includes(`${bands} bands`), bands > 0);
    for (const sentence of report.reduced) assert(words.includes(sentence), sentence);
    assert.deepEqual(
      await page.locator(".legend .name").allTextContents(),
      classes.map((info) => info.name),
    );
    assert.equal(await page.locator("h1").textContent(), report.title);
    if (report.scene.crs)
      assert.equal(await page.locator(".crs summary").textContent(), /"(.*?)"/.exec(report.scene.crs)?.[1]);
    if (name === "demo-reduced.html") assert(report.spectra.bands.length < bands && report.reduced.length > 1);
    if (name === "hostile.html") {
      assert.deepEqual(
        classes.map((info) => info.name),
        PAYLOADS,
      );
      for (const text of [report.scene.file, String(report.scene.crs)]) assert(text.includes("window.__pwned=1"), text);
    }

    const charts = await page.locator(".chart canvas").evaluateAll((nodes) =>
      nodes.map((node) => {
        const canvas = /** @type {HTMLCanvasElement} */ (node);
        const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
        return context.getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value > 0);
      }),
    );
    const spectrum = report.spectra.pixels === "none" ? 0 : 1;
    assert.deepEqual(charts, Array(spectrum + (model?.training ? 2 : 0) + (model?.certificate ? 1 : 0)).fill(true));

    if (accuracy) {
      const figures = await page.locator(".figures .big").allInnerTexts();
      assert.deepEqual(figures, [
        percent(accuracy.oa.value),
        percent(accuracy.aa?.value ?? null),
        Number(accuracy.kappa.value).toFixed(4),
      ]);
      const cells = await page
        .locator(".confusion tbody tr")
        .evaluateAll((trs) => trs.map((tr) => [...tr.querySelectorAll("button")].map((cell) => cell.textContent)));
      assert.deepEqual(
        cells.map((line) => line.slice(0, classes.length).map(number)),
        accuracy.confusion,
      );
      assert.equal(await page.locator("#tables .data tbody tr").count(), classes.length);
    } else assert.equal(await page.locator(".figures").count(), 0);
    if (model && report.codes) {
      assert(await page.locator(".class-atoms").count());
      assert((await page.locator(".spark .atom").count()) > 0);
      assert((await page.locator(".atoms li").count()) > 0);
    }
    if (comparison) {
      const lines = await page.locator("#comparison tbody tr").allInnerTexts();
      comparison.table.forEach((row, i) => {
        const mean = row.repeats.reduce((sum, repeat) => sum + repeat.oa, 0) / row.repeats.length;
        for (const part of [row.method, percent(mean), (100 * Number(row.leakage)).toFixed(1), String(row.window)])
          assert(lines[i].includes(part), `${part} in ${lines[i]}`);
      });
      assert.equal(await page.locator(".dots circle.mean").count(), comparison.table.length);
      assert.equal(await page.locator(".maps li").count(), methods.length + 1);
      assert.equal(
        words.includes("the maps and the split are those of the first"),
        comparison.table[0].repeats.length > 1,
      );
    }
    if (kind === "evaluation") assert((await page.locator(".trust li").count()) > 0);
    assert.deepEqual(faults, []);
    await page.close();
  });

  test(`${name}: the swipe divides the layers, and a class can be isolated`, async () => {
    const { page, faults } = await open(browser, url);
    assert.equal(await page.getByLabel("Layer A", { exact: true }).inputValue(), left);
    assert.equal(await page.getByLabel("Layer B", { exact: true }).inputValue(), right);
    const uncovered = await clear(page);
    const [a, b] = [paint(left), paint(right)];
    const over = (/** @type {number} */ p) => b(p) ?? a(p);
    const first = await mapColours(page, rows, cols);
    assert.equal(
      agreement(first, a, (p) => uncovered(p) && p % cols < cols / 2 - 3),
      1,
      "A left of the swipe",
    );
    assert.equal(
      agreement(first, over, (p) => uncovered(p) && p % cols > cols / 2 + 3),
      1,
      "B right of the swipe",
    );
    await page.locator(".swipe").fill("1");
    assert.equal(agreement(await mapColours(page, rows, cols), a, uncovered), 1, "A alone");
    await page.locator(".swipe").fill("0");
    assert.equal(agreement(await mapColours(page, rows, cols), over, uncovered), 1, "B alone");

    const picture = () =>
      page.locator(".stage canvas").evaluate((node) => /** @type {HTMLCanvasElement} */ (node).toDataURL());
    for (const outline of await page.locator(".toolbar input[type=checkbox]").all()) {
      const before = await picture();
      await outline.click();
      assert.notEqual(await picture(), before, "an outline is drawn or goes");
      await outline.click();
      assert.equal(await picture(), before);
    }

    const counts = (await page.locator(".legend .number").allInnerTexts()).map(number);
    const mapped = block(right);
    assert.deepEqual(
      counts,
      classes.map((_, c) => mapped.filter((label) => label === c + 1).length),
    );
    const chosen = counts.indexOf(Math.max(...counts));
    await page.locator(".legend button").nth(chosen).click();
    const alone = await mapColours(page, rows, cols);
    assert.equal(
      agreement(alone, b, (p) => uncovered(p) && mapped[p] === chosen + 1),
      1,
      "the class is as before",
    );
    const others = agreement(alone, b, (p) => uncovered(p) && mapped[p] > 0 && mapped[p] !== chosen + 1);
    assert(others < 0.02, `${others} of the other classes are as before`);
    assert.deepEqual(faults, []);
    await page.close();
  });

  if (accuracy)
    test(`${name}: cells of the confusion matrix light up their pixels`, async () => {
      const { page, faults } = await open(browser, url);
      const prediction = block("prediction");
      const off = accuracy.confusion.flatMap((line, t) => line.map((n, p) => ({ n: t === p ? 0 : n, t, p })));
      const on = accuracy.confusion.map((line, t) => ({ n: line[t], t, p: t }));
      for (const cells of [off, on]) {
        const { n, t, p } = cells.reduce((most, cell) => (cell.n > most.n ? cell : most));
        await page.locator(`[data-cell="${t},${p}"]`).click();
        assert((await page.locator(".lit").innerText()).startsWith(`${n.toLocaleString("en-US")} pixel`));
        const lit = (await mapColours(page, rows, cols)).flatMap((colour, at) =>
          near(colour, [255, 214, 0]) ? [at] : [],
        );
        const want = [...truth.keys()].filter(
          (i) => truth[i] === t + 1 && prediction[i] === p + 1 && (!report.split || split[i] === 2),
        );
        assert.equal(want.length, n);
        const uncovered = await clear(page);
        assert.deepEqual(lit.filter(uncovered), want.filter(uncovered));
      }
      assert.deepEqual(faults, []);
      await page.close();
    });

  if (comparison)
    test(`${name}: methods can be looked at one by one`, async () => {
      const { page, faults } = await open(browser, url, { acceptDownloads: true });
      await page.getByRole("button", { name: "Errors", exact: true }).click();
      for (const method of methods) {
        const map = block(`map-${method}`);
        await page.locator(".maps button", { hasText: `Errors of ${method}` }).click();
        const judged = [...truth.keys()].filter((p) => truth[p] && split[p] === 2);
        const right = judged.filter((p) => map[p] === truth[p]).length;
        const said = (await page.locator(".key .number").allInnerTexts()).map(number);
        assert.deepEqual(said.slice(0, 2), [right, judged.length - right], method);
        // The maps are of the first repeat.
        const first = comparison.table.find((row) => row.method === method)?.repeats[0].oa;
        assert(Math.abs(Number(first) - right / judged.length) < 1e-9, `${method}: ${first}`);
      }
      const [row, col] = [Math.floor(rows / 3), Math.floor(cols / 3)];
      await clickPixel(page, report.scene, row, col);
      const votes = await page
        .locator(".votes li")
        .evaluateAll((items) => items.map((item) => [...item.children].slice(0, 2).map((part) => part.textContent)));
      assert.deepEqual(
        votes,
        methods.map((method) => [method, classes[block(`map-${method}`)[row * cols + col] - 1]?.name ?? "none"]),
      );
      const { lines } = await pixelCsv(page);
      assert.equal(lines.length, bands);
      lines.forEach(({ value }, b) => {
        if (report.spectra.bands.includes(b))
          assert(value >= report.spectra.low[b] - 1e-4 && value <= report.spectra.high[b] * 1.0001 + 1e-4);
      });
      assert.deepEqual(faults, []);
      await page.close();
    });

  const explained = file.replace(/\.html$/, ".explain.json");
  if (!existsSync(explained)) continue;
  for (const pixel of JSON.parse(readFileSync(explained, "utf8"))) {
    test(`${name} shows row ${pixel.row}, column ${pixel.col} as explain does`, async () => {
      const { page, faults } = await open(browser, url, { acceptDownloads: true });
      await clickPixel(page, report.scene, pixel.row, pixel.col);
      assert((await page.locator('[data-fact="prediction"]').innerText()).startsWith(pixel.name));

      const bars = (/** @type {string} */ kind) =>
        page.locator(`${kind} li`).evaluateAll((items) =>
          items.map((item) => ({
            atom: Number(item.getAttribute("data-atom")),
            name: item.querySelector(".text")?.textContent,
            value: Number(item.querySelector(".number")?.textContent),
          })),
        );
      const atoms = await bars(".atoms");
      assert.equal(atoms.length, pixel.atoms.length);
      const largest = Math.max(...pixel.atoms.map((/** @type {{ weight: number }} */ a) => Math.abs(a.weight)));
      for (const { atom, name, weight } of pixel.atoms) {
        const shown = atoms.find((a) => a.atom === atom);
        assert.equal(shown?.name, name);
        // Half a step of 8 bits, and three digits.
        assert(Math.abs(Number(shown?.value) - weight) <= largest / 254 + 6e-4, `weight of atom ${atom}`);
      }

      if ((await page.locator(".scores .more").count()) > 0) await page.locator(".scores .more").click();
      assert(report.scores);
      const step = (report.scores.high - report.scores.low) / 255;
      const scores = (await bars(".scores")).map((s) => s.value);
      const want = pixel.scores.map((/** @type {{ score: number }} */ s) => s.score);
      want.sort((/** @type {number} */ a, /** @type {number} */ b) => b - a);
      assert.equal(scores.length, want.length);
      scores.forEach((score, i) => {
        assert(Math.abs(score - want[i]) <= step / 2 + 6e-4, `score ${i}`);
      });

      const { lines } = await pixelCsv(page);
      /** @type {number[]} */
      const spectrum = pixel.spectrum;
      assert.equal(spectrum.length, bands);
      assert.equal(lines.length, bands);
      const span = Math.max(...spectrum) - Math.min(...spectrum);
      lines.forEach(({ band, wavelength, value, reconstruction }, b) => {
        assert.equal(band, b + 1);
        if (report.scene.wavelengths)
          assert(
            Math.abs(wavelength - 1000 * report.scene.wavelengths[b]) <= 1e-5 * wavelength,
            `wavelength of ${band}`,
          );
        // Half a step of 8 bits of the square root, and six digits.
        const [low, high] = [report.spectra.low[b], report.spectra.high[b]];
        const root = Math.sqrt(Math.max(0, (spectrum[b] - low) / (high - low)));
        const slack = (high - low) * ((root + 0.5 / 255) ** 2 - root ** 2) + 1e-5 * Math.abs(spectrum[b]) + 1e-9;
        if (report.spectra.bands.includes(b))
          assert(Math.abs(value - spectrum[b]) <= slack, `band ${band}: ${value}, not ${spectrum[b]} within ${slack}`);
        else assert(Number.isNaN(value), `band ${band} is not in the page`);
        if (pixel.reconstruction === null) assert(Number.isNaN(reconstruction));
        else
          assert(
            Math.abs(reconstruction - pixel.reconstruction[b]) <= 0.01 * span,
            `reconstruction of band ${band}: ${reconstruction}, not ${pixel.reconstruction[b]}`,
          );
      });
      assert.deepEqual(faults, []);
      await page.close();
    });
  }
}
