// What the tests of both pages share: a page that remembers what it must not do, and the pixels of its map.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { PATIENCE, ready } from "./launch.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * A page without motion: a click while it still glides to its place would meet another one.
 * @param {import("playwright-core").Browser} browser
 * @param {import("playwright-core").BrowserContextOptions} options
 */
export async function blank(browser, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce", ...options });
  page.setDefaultTimeout(PATIENCE);
  return page;
}

/**
 * @param {import("playwright-core").Browser} browser
 * @param {string} url
 * @param {import("playwright-core").BrowserContextOptions} options
 */
export async function open(browser, url, options = {}) {
  const page = await blank(browser, options);
  /** @type {string[]} */
  const faults = [];
  page.on("request", (request) => {
    if (request.url() !== url && !/^(data|blob):/.test(request.url())) faults.push(`request of ${request.url()}`);
  });
  page.on("websocket", (socket) => faults.push(`socket to ${socket.url()}`));
  page.on("console", (message) => {
    // The tests read the canvas often, which Chromium remarks on.
    if (["error", "warning"].includes(message.type()) && !message.text().includes("willReadFrequently"))
      faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(url);
  await ready(page);
  // Said at once, not when the first thing that is missing has been waited for.
  assert.deepEqual(faults, []);
  return { page, faults };
}

/** The colour in the middle of each pixel of the scene, on grey where the map is clear. @param {import("playwright-core").Page} page @param {number} rows @param {number} cols */
export async function mapColours(page, rows, cols) {
  return page.evaluate(
    ([rows, cols]) => {
      const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector(".stage canvas"));
      const scale = Math.min(canvas.width / cols, canvas.height / rows);
      const left = (canvas.width - cols * scale) / 2;
      const top = (canvas.height - rows * scale) / 2;
      const data = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")).getImageData(
        0,
        0,
        canvas.width,
        canvas.height,
      ).data;
      /** @type {number[][]} */
      const colours = [];
      for (let row = 0; row < rows; ++row)
        for (let col = 0; col < cols; ++col) {
          const at =
            4 * (Math.floor(top + (row + 0.5) * scale) * canvas.width + Math.floor(left + (col + 0.5) * scale));
          const alpha = data[at + 3] / 255;
          colours.push([...data.slice(at, at + 3)].map((value) => Math.round(value * alpha + 128 * (1 - alpha))));
        }
      return colours;
    },
    /** @type {[number, number]} */ ([rows, cols]),
  );
}

/** Clicks a pixel of the whole scene. @param {import("playwright-core").Page} page @param {{ rows: number, cols: number }} scene @param {number} row @param {number} col */
export async function clickPixel(page, scene, row, col) {
  const box = await page.locator(".stage canvas").boundingBox();
  assert(box);
  const scale = Math.min(box.width / scene.cols, box.height / scene.rows);
  const x = (box.width - scene.cols * scale) / 2 + (col + 0.5) * scale;
  const y = (box.height - scene.rows * scale) / 2 + (row + 0.5) * scale;
  await page.locator(".stage canvas").click({ position: { x, y } });
}

/** Presses a button and reads the file that it saves. @param {import("playwright-core").Page} page @param {string} name */
export async function saved(page, name) {
  const button = page.getByRole("button", { name, exact: true });
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  return { file: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

/** The spectrum of the pixel as it is saved; NaN for what has no value. @param {import("playwright-core").Page} page */
export async function pixelCsv(page) {
  const { file, bytes } = await saved(page, "Pixel CSV");
  const [head, ...rows] = bytes
    .toString("utf8")
    .trimEnd()
    .split("\r\n")
    .map((line) => line.split(","));
  const column = (/** @type {string[]} */ row, /** @type {string} */ name) =>
    Number(row[head.findIndex((each) => each.startsWith(name))] || Number.NaN);
  const lines = rows.map((row) => ({
    band: column(row, "band"),
    wavelength: column(row, "wavelength"),
    value: column(row, "value"),
    reconstruction: column(row, "reconstruction"),
  }));
  return { file, head, lines };
}

/** Serious and critical findings of axe. @param {import("playwright-core").Page} page */
export async function seriousFindings(page) {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    // @ts-expect-error axe has just been put into the page
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
    return violations
      .filter((/** @type {any} */ v) => v.impact === "serious" || v.impact === "critical")
      .map(
        (/** @type {any} */ v) =>
          `${v.id}: ${v.nodes
            .slice(0, 3)
            .map((/** @type {any} */ n) => n.html.slice(0, 160))
            .join(" | ")}`,
      );
  });
}

/** What holds for a page with nothing opened in it. @param {() => import("playwright-core").Browser} browser @param {string} url */
export function testsOfAnyPage(browser, url) {
  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    test(`axe finds nothing serious, ${colorScheme}`, async () => {
      const other = await open(browser(), url, { colorScheme });
      assert.deepEqual(await seriousFindings(other.page), []);
      assert.deepEqual(other.faults, []);
      await other.page.close();
    });
  }

  test("a phone has no sideways scrolling", async () => {
    const phone = await open(browser(), url, { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true });
    assert.equal(await phone.page.evaluate(() => document.documentElement.scrollWidth), 360);
    await phone.page.close();
  });
}
