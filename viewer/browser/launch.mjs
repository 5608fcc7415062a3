// Debian's Chromium, with nothing that would reach for the network by itself.

import { chromium } from "playwright-core";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

/** However busy the machine is: what takes long is no failure, what never comes is one. */
export const PATIENCE = 120_000;

export function launch() {
  const executablePath = process.env.HYPERATOM_CHROMIUM ?? "/usr/bin/chromium";
  return chromium.launch({ executablePath, args: FLAGS, timeout: PATIENCE });
}

/** @param {string} name a page that fixture/make.mjs wrote */
export const fixtureUrl = (name) => new URL(`../dist/${name}.html`, import.meta.url).href;

/** Waits until every block is read. @param {import("playwright-core").Page} page */
export const ready = (page) =>
  page.waitForFunction(() => performance.getEntriesByName("hyperatom:ready").length > 0, null, { timeout: PATIENCE });
