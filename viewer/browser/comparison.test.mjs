// The report of a comparison of methods.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { makeComparison } from "../fixture/scene.mjs";
import { fixtureUrl, launch } from "./launch.mjs";
import { clickPixel, mapColours, open, pixelCsv, testsOfAnyPage } from "./pages.mjs";

const { report, blocks, cube } = makeComparison();
const { table } = report.comparison;
const { rows, cols } = report.scene;
const url = fixtureUrl("comparison");

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

const average = (/** @type {typeof table[number]} */ row) =>
  row.repeats.reduce((s, r) => s + r.oa, 0) / row.repeats.length;

const block = (/** @type {string} */ name) => /** @type {Uint8Array} */ (blocks.get(name));
const hex = (/** @type {number} */ c) =>
  [1, 3, 5].map((i) => Number.parseInt(report.classes[c].colour.slice(i, i + 2), 16));
/** Away from the cursor's mark. @param {number} p */
const unmarked = (p) => Math.floor(p / cols) >= 60;

test("panels without content are not shown", async () => {
  const links = ["Comparison", "Map", "Pixel", "All maps"];
  assert.deepEqual(await page.locator(".top nav a").allInnerTexts(), links);
  for (const id of ["tables", "model"]) assert.equal(await page.locator(`#${id}`).count(), 0);
  assert.equal(await page.locator(".figures").count(), 0);
  assert.equal(await page.getByLabel("window", { exact: true }).count(), 0);
});

test("the page says what is compared, and that the maps are those of the first repeat", async () => {
  const words = await page.locator("#summary").innerText();
  assert(words.includes("10 methods, 5 repeats"), words);
  assert(words.includes("the maps and the split are those of the first"), words);
  assert((await page.locator("#maps .note").innerText()).startsWith("Of the first repeat."));
});

test("the first look is the composite beside the map of the last method", async () => {
  assert.equal(await page.getByLabel("Layer A", { exact: true }).inputValue(), "rgb");
  assert.equal(await page.getByLabel("Layer B", { exact: true }).inputValue(), "map-sdl-l12-k");
  const seen = await mapColours(page, rows, cols);
  const [rgb, map] = [block("rgb"), block("map-sdl-l12-k")];
  for (let p = 0; p < seen.length; p += 7)
    if (unmarked(p) && Math.abs((p % cols) - cols / 2) > 5)
      assert.deepEqual(seen[p], p % cols < cols / 2 ? [...rgb.subarray(3 * p, 3 * p + 3)] : hex(map[p] - 1));
});

test("the table has means, deviations and the paper's figures, and sorts with the plot", async () => {
  const lines = await page.locator("#comparison tbody tr").allInnerTexts();
  assert.equal(lines.length, 10);
  table.forEach((row, i) => {
    const centre = average(row);
    const spread = Math.sqrt(row.repeats.reduce((s, r) => s + (r.oa - centre) ** 2, 0) / 4);
    assert(lines[i].startsWith(row.method));
    assert(lines[i].includes(`${(100 * centre).toFixed(2)} ± ${(100 * spread).toFixed(2)}`), lines[i]);
    if (row.paper) assert(lines[i].includes((100 * row.paper.oa).toFixed(2)));
  });
  const heads = await page.locator("#comparison thead th").allInnerTexts();
  // The paper has no kappa, so there is no column for it.
  assert.deepEqual(
    heads.map((head) => head.trim()),
    [
      "Method",
      "OA %",
      "AA %",
      "Kappa",
      "Paper OA %",
      "Paper AA %",
      "Leakage %",
      "Window",
      "Atoms",
      "Seconds",
      "Repeats",
    ],
  );
  const cells = await page
    .locator("#comparison tbody tr")
    .evaluateAll((trs) => trs.map((tr) => [...tr.children].slice(6).map((cell) => cell.textContent)));
  assert.deepEqual(cells[0], ["0.0", "1", "331", "2.0", "5"]);
  assert.deepEqual(cells[5], ["60.2", "25", String(report.split.train), "0.04", "5"]);
  for (const [i, head] of heads.entries()) {
    const button = page.locator("#comparison thead button").nth(i);
    await button.click();
    const first = await page.locator("#comparison tbody th").allInnerTexts();
    await button.click();
    const second = await page.locator("#comparison tbody th").allInnerTexts();
    assert.deepEqual([...first].sort(), table.map((row) => row.method).sort());
    if (!["Repeats", "Method"].includes(head.trim())) assert.notDeepEqual(second, first, head);
  }
  await page.locator("#comparison thead").getByRole("button", { name: "OA %", exact: true }).click();
  const sorted = [...table].sort((a, b) => average(b) - average(a)).map((row) => row.method);
  assert.deepEqual(await page.locator("#comparison tbody th").allInnerTexts(), sorted);
  assert.deepEqual(await page.locator(".dot-row .method").allInnerTexts(), sorted);
});

test("the dot plot marks repeats, means, deviations and the paper", async () => {
  assert.equal(await page.locator(".dots .repeat").count(), 50);
  assert.equal(await page.locator(".dots circle.mean").count(), 10);
  assert.equal(await page.locator(".dots .spread").count(), 10);
  assert.equal(await page.locator(".dots .paper").count(), 9);
  const [best, worst] = await page
    .locator(".dots circle.mean")
    .evaluateAll((all) => [all[0], all[all.length - 1]].map((node) => node.getBoundingClientRect().x));
  assert(best > worst);
  // Neither the paper nor the first repeat of the first method has a kappa.
  await page.locator("#comparison select").selectOption("kappa");
  assert.equal(await page.locator(".dots .paper").count(), 0);
  assert.equal(await page.locator(".diamond").count(), 0);
  assert.equal(await page.locator(".dots .repeat").count(), 49);
  assert.equal(await page.locator(".dots circle.mean").count(), 10);
  const said = await page.locator(".dot-row svg").first().getAttribute("aria-label");
  assert.match(String(said), /^sdl-l12-k: 0\.9\d{3} plus or minus 0\.\d{4}$/);
  for (const name of ["x1", "x2", "cx"])
    for (const at of await page
      .locator(`.dots [${name}]`)
      .evaluateAll((all, n) => all.map((e) => e.getAttribute(n)), name))
      assert.match(String(at), /^\d+(\.\d+)?(e-\d+)?%$/);
  await page.locator("#comparison select").selectOption("oa");
});

test("maps are side by side and can be shown as a layer", async () => {
  assert.equal(await page.locator(".maps li").count(), 11);
  await page.locator(".maps button", { hasText: /^svm-l$/ }).click();
  assert.equal(await page.getByLabel("Layer B", { exact: true }).inputValue(), "map-svm-l");
  assert.equal(await page.locator('.maps [aria-pressed="true"]').innerText(), "svm-l");
  const map = block("map-svm-l");
  const seen = await mapColours(page, rows, cols);
  for (let p = 0; p < seen.length; p += 11)
    if (p % cols > 55 && unmarked(p)) assert.deepEqual(seen[p], hex(map[p] - 1));
});

test("errors of every method are layers, and small maps", async () => {
  const options = await page.getByLabel("Layer B", { exact: true }).locator("option").allInnerTexts();
  const methods = table.map((row) => row.method);
  assert.deepEqual(options, [
    "Composite (true colour)",
    "Truth",
    ...methods,
    ...methods.map((method) => `Errors of ${method}`),
  ]);
  await page.getByRole("button", { name: "Errors", exact: true }).click();
  await page.locator(".maps button", { hasText: /^Errors of src-l1-l$/ }).click();
  assert.equal(await page.getByLabel("Layer B", { exact: true }).inputValue(), "errors-src-l1-l");
  const [truth, split, map] = [block("truth"), block("split"), block("map-src-l1-l")];
  const seen = await mapColours(page, rows, cols);
  const counts = [0, 0, 0];
  for (let p = 0; p < seen.length; ++p) {
    if (!truth[p]) continue;
    const kind = split[p] === 1 ? 2 : map[p] === truth[p] ? 0 : 1;
    ++counts[kind];
    if (p % cols > 55 && unmarked(p))
      assert.deepEqual(
        seen[p],
        [
          [58, 110, 150],
          [255, 176, 46],
          [120, 124, 128],
        ][kind],
      );
  }
  const said = (await page.locator(".key .number").allInnerTexts()).map((text) => Number(text.replace(",", "")));
  assert.deepEqual(said, counts);
  await page.getByRole("button", { name: "Errors", exact: true }).click();
  await page.locator(".maps button", { hasText: /^svm-l$/ }).click();
});

test("the small maps mark the pixel and follow the zoom of the large one", async () => {
  const pictures = () =>
    page
      .locator(".maps canvas")
      .evaluateAll((all) => all.map((node) => /** @type {HTMLCanvasElement} */ (node).toDataURL()));
  const before = await pictures();
  assert.equal(new Set(before).size, 11);
  await clickPixel(page, report.scene, 70, 20);
  const marked = await pictures();
  for (const [i, picture] of marked.entries()) assert.notEqual(picture, before[i], `mark in map ${i}`);
  await page.keyboard.press("+");
  await page.keyboard.press("+");
  const zoomed = await pictures();
  for (const [i, picture] of zoomed.entries()) assert.notEqual(picture, marked[i], `zoom of map ${i}`);
  await page.keyboard.press("0");
  assert.deepEqual(await pictures(), marked);
});

test("a pixel says what each method found", async () => {
  await clickPixel(page, report.scene, 50, 80);
  const votes = await page.locator(".votes li .class-name").allInnerTexts();
  const want = report.comparison.maps.map((method) => {
    const map = /** @type {Uint8Array} */ (blocks.get(`map-${method}`));
    return report.classes[map[50 * cols + 80] - 1].name;
  });
  assert.deepEqual(
    votes.map((v) => v.trim()),
    want,
  );
  const truth = block("truth")[50 * cols + 80];
  assert.equal(
    (await page.locator('[data-fact="truth"]').innerText()).trim(),
    truth ? report.classes[truth - 1].name : "none",
  );
  const said = report.classes[block("map-svm-l")[50 * cols + 80] - 1].name;
  assert((await page.locator("#readout").innerText()).includes(`svm-l ${said}`), "the readout has the method shown");
});

test("a pixel has its spectrum, and none from atoms", async () => {
  await clickPixel(page, report.scene, 50, 80);
  assert.equal(await page.locator(".chart canvas").count(), 1);
  assert.equal(await page.locator(".spectrum .dashed").count(), 0);
  const { file, lines } = await pixelCsv(page);
  assert.equal(file, "Ten-methods-on-synthetic-fields-pixel-r50-c80.csv");
  assert.equal(lines.length, report.scene.bands);
  lines.forEach((line, b) => {
    const span = report.spectra.high[b] - report.spectra.low[b];
    assert(Math.abs(line.value - cube[(50 * cols + 80) * report.scene.bands + b]) <= span / 255 + 1e-5, `band ${b}`);
    assert(Number.isNaN(line.reconstruction));
  });
});

test("the comparison is saved", async () => {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Comparison CSV" }).click(),
  ]);
  const lines = readFileSync(await download.path(), "utf8").split("\r\n");
  assert.equal(lines.length, 1 + 50 + 9 + 1);
  const [first, second] = table[0].repeats;
  assert.equal(lines[1], `svm-l,1,${first.oa},${first.aa},`, "without a kappa");
  assert.equal(lines[2], `svm-l,2,${second.oa},${second.aa},${second.kappa}`);
});

testsOfAnyPage(() => browser, url);

test("paper holds the whole table", async () => {
  // A4 within the margins that browsers leave.
  const paper = await open(browser, url, { viewport: { width: 718, height: 1000 } });
  await paper.page.emulateMedia({ media: "print" });
  const right = await paper.page
    .locator("#comparison .data")
    .evaluate((table) => table.getBoundingClientRect().right - document.documentElement.clientWidth);
  assert(right <= 0, `${right} pixels beyond the edge`);
  await paper.page.close();
});

test("nothing was asked of the network, no error was logged", () => assert.deepEqual(faults, []));
