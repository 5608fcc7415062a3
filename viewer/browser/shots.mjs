// Screenshots to look at: node browser/shots.mjs [folder] [page ...]; pages are files, by default those of the fixture.

import { mkdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { fixtureUrl, launch, ready } from "./launch.mjs";

const folder = process.argv[2] ?? "dist/shots";
const files = process.argv.slice(3).map((file) => pathToFileURL(resolve(file)).href);
const pages = files.length > 0 ? files : ["scene", "comparison", "evaluation"].map(fixtureUrl);
mkdirSync(folder, { recursive: true });
const browser = await launch();
for (const url of pages) {
  /** @type {["light" | "dark", number, number, string][]} */
  const kinds = [
    ["light", 1440, 900, "light"],
    ["dark", 1440, 900, "dark"],
    ["light", 390, 844, "phone"],
  ];
  for (const [colorScheme, width, height, name] of kinds) {
    const phone = name === "phone";
    const page = await browser.newPage({
      colorScheme,
      viewport: { width, height },
      deviceScaleFactor: phone ? 2 : 1,
      isMobile: phone,
      hasTouch: phone,
    });
    page.on("console", (message) => console.log(`${basename(url)} ${name}: ${message.text()}`));
    page.on("pageerror", (error) => console.log(`${basename(url)} ${name}: ${error.message}`));
    await page.goto(url);
    await ready(page);
    const stem = join(folder, `${basename(url, ".html")}-${name}`);
    await page.screenshot({ path: `${stem}.png` });
    await page.screenshot({ path: `${stem}-full.png`, fullPage: true });
    const marks = await page.evaluate(() =>
      performance.getEntriesByType("mark").map((m) => `${m.name} ${Math.round(m.startTime)} ms`),
    );
    console.log(`${stem}.png  ${marks.join(", ")}`);
    await page.close();
  }
}
await browser.close();
