// The report of a map against labels: no scene, no model.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { makeEvaluation } from "../fixture/scene.mjs";
import { fixtureUrl, launch } from "./launch.mjs";
import { clickPixel, mapColours, open, saved, testsOfAnyPage } from "./pages.mjs";

const { report, blocks } = makeEvaluation();
const { rows, cols } = report.scene;
const url = fixtureUrl("evaluation");
const block = (/** @type {string} */ name) => /** @type {Uint8Array} */ (blocks.get(name));
const [truth, prediction, split] = ["truth", "prediction", "split"].map(block);
const hex = (/** @type {number} */ c) =>
  [1, 3, 5].map((i) => Number.parseInt(report.classes[c].colour.slice(i, i + 2), 16));

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

test("there is nothing of a scene or a model", async () => {
  assert.deepEqual(await page.locator(".top nav a").allInnerTexts(), ["Map", "Pixel", "Accuracy"]);
  for (const selector of ["#model", "#comparison", "#maps", ".spectrum", ".atoms", ".scores", ".chart"])
    assert.equal(await page.locator(selector).count(), 0, selector);
  const words = await page.locator("body").innerText();
  assert(!/\bbands?\b|composite/i.test(words), words);
  assert.equal(await page.getByLabel("window", { exact: true }).count(), 0, "the places of its pixels are not known");
  assert((await page.locator("#summary").innerText()).includes("map.tif 80 × 100"));
  const options = await page.getByLabel("Layer A", { exact: true }).locator("option").allInnerTexts();
  assert.deepEqual(options, ["Truth", "Prediction", "Errors"]);
});

test("the first look is the truth beside the map", async () => {
  const seen = await mapColours(page, rows, cols);
  for (let p = 0; p < seen.length; ++p) {
    if (Math.floor(p / cols) < 60 || Math.abs((p % cols) - cols / 2) < 5) continue;
    const label = p % cols < cols / 2 ? truth[p] : prediction[p];
    if (label) assert.deepEqual(seen[p], hex(label - 1), `pixel ${p}`);
  }
});

test("a pixel has its truth, its class, and what such pixels are in truth", async () => {
  const p =
    [...truth.keys()].find((i) => truth[i] && prediction[i] && truth[i] !== prediction[i] && split[i] === 2) ?? 0;
  await clickPixel(page, report.scene, Math.floor(p / cols), p % cols);
  assert.equal((await page.locator('[data-fact="truth"]').innerText()).trim(), report.classes[truth[p] - 1].name);
  const said = await page.locator('[data-fact="prediction"]').innerText();
  assert(said.startsWith(report.classes[prediction[p] - 1].name) && said.includes("wrong"), said);
  assert.equal(await page.locator('[data-fact="coordinates"]').count(), 1);
  const column = report.accuracy.confusion.map((line) => line[prediction[p] - 1]);
  const total = column.reduce((a, b) => a + b, 0);
  const want = column.filter(Boolean).sort((a, b) => b - a);
  assert.deepEqual(
    await page.locator(".trust .number").allInnerTexts(),
    want.map((n) => ((100 * n) / total).toFixed(1)),
  );
});

test("test pixels that the map leaves out are wrong, and a column of the confusion", async () => {
  const missed = [...truth.keys()].filter((p) => split[p] === 2 && prediction[p] === 0);
  assert(missed.length > 0);
  const lines = await page
    .locator(".confusion tbody tr")
    .evaluateAll((trs) => trs.map((tr) => [...tr.querySelectorAll("td")].map((td) => td.textContent)));
  const number = (/** @type {string | null} */ text) => (text === "·" ? 0 : Number(String(text).replace(",", "")));
  const left = lines.map((line) => number(line[16]));
  assert.deepEqual(
    left,
    report.classes.map((_, c) => missed.filter((p) => truth[p] === c + 1).length),
  );
  assert.deepEqual(
    lines.map((line) => number(line[17])),
    report.accuracy.per_class.map((each) => each.support),
  );
  const c = left.indexOf(Math.max(...left));
  await page.locator(`[data-cell="${c},16"]`).click();
  const want = missed.filter((p) => truth[p] === c + 1);
  assert.equal(
    (await page.locator(".lit").innerText())
      .split("\n")[0]
      .replace(/Clear$/, "")
      .trim(),
    `${want.length} pixels lit: ${report.classes[c].name} not mapped`,
  );
  const lit = (await mapColours(page, rows, cols)).flatMap((colour, p) => (colour.join() === "255,214,0" ? [p] : []));
  assert.deepEqual(lit, want);
  await page.locator(".lit button").click();
  await page.getByLabel("Layer B", { exact: true }).selectOption("errors");
  const counts = (await page.locator(".key .number").allInnerTexts()).map(number);
  assert.equal(counts[0], report.accuracy.correct);
  assert.equal(counts[0] + counts[1], report.accuracy.pixels);
  const csv = (await saved(page, "Confusion CSV")).bytes.toString("utf8").split("\r\n");
  assert(csv[0].endsWith(",not mapped"));
  assert(csv[c + 1].endsWith(`,${left[c]}`));
  await page.getByLabel("Layer B", { exact: true }).selectOption("prediction");
});

testsOfAnyPage(() => browser, url);

test("nothing was asked of the network, no error was logged", () => assert.deepEqual(faults, []));
