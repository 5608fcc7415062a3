// The report of a comparison of methods.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { makeComparison } from "../fixture/scene.mjs";
import { fixtureUrl, launch } from "./launch.mjs";
import { clickPixel, mapColours, open, seriousFindings } from "./pages.mjs";

const { report, blocks } = makeComparison();
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

test("panels without content are not shown", async () => {
  assert.deepEqual(await page.locator(".top nav a").allInnerTexts(), ["Map", "Pixel", "Comparison"]);
  for (const id of ["tables", "model"]) assert.equal(await page.locator(`#${id}`).count(), 0);
  assert.equal(await page.locator(".figures").count(), 0);
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
  await page.locator("#comparison select").selectOption("kappa");
  assert((await page.locator(".dot-row svg").first().getAttribute("aria-label"))?.includes("0.9"));
});

test("maps are side by side and can be shown as a layer", async () => {
  assert.equal(await page.locator(".maps li").count(), 11);
  await page.locator(".maps button", { hasText: /^svm-l$/ }).click();
  assert.equal(await page.getByLabel("Layer B", { exact: true }).inputValue(), "map-svm-l");
  const map = /** @type {Uint8Array} */ (blocks.get("map-svm-l"));
  const seen = await mapColours(page, rows, cols);
  for (let p = 0; p < seen.length; p += 11) {
    if (p % cols < 55 || Math.floor(p / cols) < 60) continue;
    const colour = report.classes[map[p] - 1].colour;
    assert.deepEqual(
      seen[p],
      [1, 3, 5].map((i) => Number.parseInt(colour.slice(i, i + 2), 16)),
    );
  }
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
});

test("the comparison is saved", async () => {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Comparison CSV" }).click(),
  ]);
  const lines = readFileSync(await download.path(), "utf8").split("\r\n");
  assert.equal(lines.length, 1 + 50 + 9 + 1);
  const { oa, aa, kappa } = table[0].repeats[0];
  assert.equal(lines[1], `svm-l,1,${oa},${aa},${kappa}`);
});

for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
  test(`axe finds nothing serious, ${colorScheme}`, async () => {
    const other = await open(browser, url, { colorScheme });
    assert.deepEqual(await seriousFindings(other.page), []);
    assert.deepEqual(other.faults, []);
    await other.page.close();
  });
}

test("a phone has no sideways scrolling", async () => {
  const phone = await open(browser, url, { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true });
  assert.equal(await phone.page.evaluate(() => document.documentElement.scrollWidth), 360);
  await phone.page.close();
});

test("nothing was asked of the network, no error was logged", () => assert.deepEqual(faults, []));
