// Reports that hyperatom wrote, when HYPERATOM_REPORTS names them. Beside NAME.html there may be NAME.explain.json: an array of what
// `hyperatom explain --json` printed for pixels of that scene, which the page must show.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { launch } from "./launch.mjs";
import { clickPixel, open, seriousFindings } from "./pages.mjs";

const files = (process.env.HYPERATOM_REPORTS ?? "").split(":").filter(Boolean);

/** @type {import("playwright-core").Browser} */
let browser;
before(async () => {
  if (files.length > 0) browser = await launch();
});
after(() => browser?.close());

for (const file of files) {
  const url = pathToFileURL(resolve(file)).href;

  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    test(`${basename(file)} opens without faults, ${colorScheme}`, async (context) => {
      const { page, faults } = await open(browser, url, { colorScheme });
      const marks = await page.evaluate(() =>
        performance.getEntriesByType("mark").map((mark) => `${mark.name} after ${Math.round(mark.startTime)} ms`),
      );
      context.diagnostic(marks.join(", "));
      for (const link of await page.locator(".top nav a").all())
        assert.equal(await page.locator(String(await link.getAttribute("href"))).count(), 1);
      assert.equal(await page.locator('[role="alert"]').count(), 0);
      assert.deepEqual(await seriousFindings(page), []);
      assert.deepEqual(faults, []);
      await page.close();
    });
  }

  const explained = file.replace(/\.html$/, ".explain.json");
  if (!existsSync(explained)) continue;
  for (const pixel of JSON.parse(readFileSync(explained, "utf8"))) {
    test(`${basename(file)} shows row ${pixel.row}, column ${pixel.col} as explain does`, async () => {
      const { page, faults } = await open(browser, url);
      const scene = await page.evaluate(() => {
        const report = JSON.parse(String(document.getElementById("report")?.textContent));
        return { ...report.scene, scores: report.scores };
      });
      await clickPixel(page, scene, pixel.row, pixel.col);
      assert((await page.locator('[data-fact="prediction"]').innerText()).startsWith(pixel.name));

      const bars = (/** @type {string} */ block) =>
        page.locator(`${block} li`).evaluateAll((items) =>
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
      const step = (scene.scores.high - scene.scores.low) / 255;
      const scores = (await bars(".scores")).map((s) => s.value);
      const want = pixel.scores.map((/** @type {{ score: number }} */ s) => s.score);
      want.sort((/** @type {number} */ a, /** @type {number} */ b) => b - a);
      assert.equal(scores.length, want.length);
      scores.forEach((score, i) => {
        assert(Math.abs(score - want[i]) <= step / 2 + 6e-4, `score ${i}`);
      });
      assert.deepEqual(faults, []);
      await page.close();
    });
  }
}
