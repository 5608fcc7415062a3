// Text in a report is untrusted, and blocks may be missing or damaged.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { embed } from "../fixture/embed.mjs";
import { makeComparison, makeEvaluation, makeScene } from "../fixture/scene.mjs";
import { fixtureUrl, launch } from "./launch.mjs";
import { blank, open, seriousFindings } from "./pages.mjs";

/** @type {string[]} */
const PAYLOADS = JSON.parse(readFileSync(new URL("../fixture/payloads.json", import.meta.url), "utf8"));

const built = readFileSync(new URL("../dist/index.html", import.meta.url), "utf8");
const folder = mkdtempSync(join(tmpdir(), "hyperatom-viewer-"));
const TINY = { ROWS: 8, COLS: 10, BANDS: 6 };
const small = makeScene(TINY);
const compared = makeComparison(TINY);
const evaluated = makeEvaluation(TINY);

/** @type {import("playwright-core").Browser} */
let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

/** @param {string} name @param {string} page */
function write(name, page) {
  const path = join(folder, `${name}.html`);
  writeFileSync(path, page);
  return pathToFileURL(path).href;
}

/** What every kind of page has, replaced. @param {typeof small.report | typeof compared.report | typeof evaluated.report} report @param {string} text */
const common = (report, text) => ({
  ...report,
  title: text,
  made: { ...report.made, program: text, date: text, command: text },
  scene: {
    ...report.scene,
    file: text,
    crs: `PROJCS["${text.replaceAll('"', '""')}"]`,
    composite: report.scene.composite && { ...report.scene.composite, kind: text },
  },
  classes: report.classes.map((info, i) => ({ ...info, name: text, colour: i === 0 ? text : info.colour })),
  split: { ...report.split, rule: text, hash: text, leakage: { adjacent: 0.1, text } },
  accuracy: report.accuracy && { ...report.accuracy, on: text },
  reduced: [text],
});

/** @param {string} text */
function hostileScene(text) {
  const { report, blocks } = small;
  const model = { ...report.model, file: text, hash: text, method: text, kernel: text, loss: text, normalizer: text };
  return embed(built, { ...common(report, text), model }, blocks);
}

/** @param {string} text */
function hostileComparison(text) {
  const { report, blocks } = compared;
  const [first, last] = [report.comparison.table[0], report.comparison.table[9]];
  const table = [first, { ...last, method: text }];
  const map = /** @type {Uint8Array} */ (blocks.get(`map-${last.method}`));
  const comparison = { table, maps: [first.method, text] };
  return embed(built, { ...common(report, text), comparison }, new Map([...blocks, [`map-${text}`, map]]));
}

/** @param {string} text */
const hostileEvaluation = (text) => embed(built, common(evaluated.report, text), evaluated.blocks);

test("there are 50 different payloads", () => assert.equal(new Set(PAYLOADS).size, 50));

/** @param {import("playwright-core").Page} page */
const looked = (page) =>
  page.evaluate(() => {
    const text = (/** @type {string} */ selector) => document.querySelector(selector)?.textContent;
    return {
      pwned: "__pwned" in window,
      legend: text(".legend .name"),
      crs: text(".crs summary"),
      heading: text("h1"),
      file: text(".fact dd"),
      foreign: document.querySelectorAll(
        "#app :is(script, iframe, img, object, embed, video, audio, form, style, link, base, meta)",
      ).length,
    };
  });

/** Opens a page with a payload everywhere, does something with it, and finds it to be text. @param {string} name @param {string} html @param {string} payload @param {(page: import("playwright-core").Page) => Promise<void>} use */
async function isOnlyText(name, html, payload, use) {
  const { page, faults } = await open(browser, write(name, html));
  await page.locator(".legend button").first().click();
  await page.locator(".crs summary").click();
  await use(page);
  const shown = await looked(page);
  const want = { pwned: false, legend: payload, crs: payload, heading: payload, file: shown.file, foreign: 0 };
  assert.deepEqual(shown, want);
  assert(shown.file?.startsWith(payload));
  assert.deepEqual(faults, []);
  await page.close();
}

PAYLOADS.forEach((payload, i) => {
  test(`payload ${i + 1} is only text: ${JSON.stringify(payload)}`, async () => {
    await Promise.all([
      isOnlyText(`scene-${i}`, hostileScene(payload), payload, (page) => page.locator('[data-cell="0,0"]').click()),
      isOnlyText(`evaluation-${i}`, hostileEvaluation(payload), payload, async (page) => {
        await page.locator('[data-cell="0,0"]').click();
        await page.getByRole("button", { name: "Save PNG" }).click();
      }),
      isOnlyText(`comparison-${i}`, hostileComparison(payload), payload, async (page) => {
        await page.locator("#maps .push").click();
        await page.locator(".maps button").last().click();
        assert.equal(await page.getByLabel("Layer B", { exact: true }).inputValue(), `errors-${payload}`);
        for (const selector of ["#comparison tbody th", ".dot-row .method", ".votes .method"])
          assert.equal(await page.locator(selector).nth(1).textContent(), payload, selector);
        assert.equal(await page.locator(".maps .method").last().textContent(), `Errors of ${payload}`);
      }),
    ]);
  });
});

test("file names of exports are harmless", async () => {
  const { page } = await open(browser, write("export", hostileScene("../<b>\u202e.exe")), {
    acceptDownloads: true,
  });
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Confusion CSV" }).click(),
  ]);
  assert.equal(download.suggestedFilename(), "b-exe-confusion.csv");
  await page.close();
});

test("long names do not leave a saved map, whose legend is below when the map is wide", async () => {
  const wide = makeScene({ ROWS: 6, COLS: 40, BANDS: 6 });
  const name = `${"Word ".repeat(30)}${"x".repeat(300)}`;
  const { page, faults } = await open(browser, write("wide", embed(built, common(wide.report, name), wide.blocks)));
  await page.locator(".swipe").fill("0");
  await page.evaluate(() => {
    /** @type {[string, number, number, number][]} */
    const drawn = [];
    const { prototype } = CanvasRenderingContext2D;
    const fill = prototype.fillText;
    prototype.fillText = function (text, x, y) {
      drawn.push([text, x + this.measureText(text).width - this.canvas.width, y, this.canvas.height]);
      fill.call(this, text, x, y);
    };
    Object.assign(window, { __drawn: drawn });
  });
  await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save PNG" }).click()]);
  /** @type {[string, number, number, number][]} */
  // @ts-expect-error put there above
  const drawn = await page.evaluate(() => window.__drawn);
  assert(drawn.some(([text]) => text.endsWith("…")));
  for (const [text, beyond, y, height] of drawn) {
    assert(beyond <= 0, `${text} leaves the picture`);
    // 40 columns are 1200 points, 6 rows 180.
    assert(y > 180 && y < height, `${text} is below the map`);
  }
  assert.deepEqual(faults, []);
  await page.close();
});

test("the policy allows the page's own script alone", async () => {
  const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(built)?.[1] ?? "";
  assert.match(
    policy,
    /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; img-src data: blob:;/,
  );
  const page = await blank(browser);
  await page.goto(write("policy", built.replace("</body>", "<script>window.__pwned=1</script></body>")));
  await page.locator(".notice").waitFor();
  assert.equal(await page.evaluate(() => "__pwned" in window), false);
  const reached = await page.evaluate(() =>
    fetch("https://example.invalid/").then(
      () => "reached",
      () => "refused",
    ),
  );
  assert.equal(reached, "refused");
  await page.close();
});

test("the built page has one marker and says that it holds no report", async () => {
  assert.equal(built.split("<!--hyperatom:data-->").length, 2);
  const page = await blank(browser);
  await page.goto(fixtureUrl("index"));
  assert.match(await page.locator(".notice").innerText(), /holds no report/);
  await page.close();
});

test("a map without labels has no accuracy, split or truth", async () => {
  const { report, blocks } = small;
  const bare = {
    ...report,
    layers: ["rgb", "prediction"],
    split: null,
    accuracy: null,
    model: { ...report.model, training: null, certificate: null },
    scene: { ...report.scene, wavelengths: null, crs: null, transform: null },
    codes: null,
    scores: null,
    spectra: { pixels: "none", bands: [], low: [], high: [] },
    offset: null,
  };
  const kept = new Map([...blocks].filter(([name]) => ["rgb", "prediction"].includes(name)));
  const { page, faults } = await open(browser, write("bare", embed(built, bare, kept)));
  assert.deepEqual(await page.locator(".top nav a").allInnerTexts(), ["Map", "Pixel", "Area"]);
  assert.equal(await page.locator("#tables h2").innerText(), "Area");
  for (const selector of [
    ".figures",
    ".confusion",
    ".chart",
    "#model",
    '[data-fact="truth"]',
    '[data-fact="coordinates"]',
  ])
    assert.equal(await page.locator(selector).count(), 0, selector);
  assert.deepEqual(await seriousFindings(page), []);
  assert.deepEqual(faults, []);
  await page.close();
});

test("a damaged block is named, the rest is shown", async () => {
  const blocks = new Map([...small.blocks, ["spectra", new Uint8Array(3)]]);
  const page = await blank(browser);
  await page.goto(write("damaged", embed(built, small.report, blocks)));
  await page.locator('[role="alert"]').waitFor();
  assert.match(await page.locator('[role="alert"]').innerText(), /block spectra has 3 bytes, 480 expected/);
  assert(await page.locator(".stage canvas").isVisible());
  await page.close();
});
