// Files that the reader saves.

import { type Cell, csv, fileName } from "./table";

function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The browser reads the address when it begins to save, which may be after this returns.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function saveCsv(title: string, what: string, rows: Cell[][]): void {
  save(new Blob([csv(rows)], { type: "text/csv;charset=utf-8" }), fileName(title, what, "csv"));
}

export function saveJson(title: string, what: string, value: unknown): void {
  save(new Blob([`${JSON.stringify(value, null, 2)}\n`], { type: "application/json" }), fileName(title, what, "json"));
}

export function savePng(title: string, what: string, canvas: HTMLCanvasElement): void {
  canvas.toBlob((blob) => {
    if (blob) save(blob, fileName(title, what, "png"));
  }, "image/png");
}
