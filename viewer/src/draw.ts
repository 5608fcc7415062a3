// Drawing of the map. Layers are small canvases, one point a pixel, scaled by the browser without smoothing.

import { OUTLINES } from "./layers";
import type { Size, View } from "./view";

export type Picture = HTMLCanvasElement;

export function toPicture(rgba: Uint8ClampedArray<ArrayBuffer>, rows: number, cols: number): Picture {
  const picture = document.createElement("canvas");
  picture.width = cols;
  picture.height = rows;
  picture.getContext("2d")?.putImageData(new ImageData(rgba, cols, rows), 0, 0);
  return picture;
}

export function toPath(segments: number[]): Path2D {
  const path = new Path2D();
  for (let i = 0; i < segments.length; i += 4) {
    path.moveTo(segments[i], segments[i + 1]);
    path.lineTo(segments[i + 2], segments[i + 3]);
  }
  return path;
}

export interface Outline {
  of: keyof typeof OUTLINES;
  path: Path2D;
}

export interface MapParts {
  a: Picture | null;
  b: Picture | null;
  swipe: number;
  opacity: number;
  mask: Picture | null;
  outlines: Outline[];
  cursor: [number, number] | null;
}

export function drawMap(canvas: HTMLCanvasElement, ratio: number, size: Size, view: View, parts: MapParts): void {
  canvas.width = Math.round(size.width * ratio);
  canvas.height = Math.round(size.height * ratio);
  const context = canvas.getContext("2d");
  if (!context) return;
  context.imageSmoothingEnabled = false;
  const inPixels = () =>
    context.setTransform(ratio * view.scale, 0, 0, ratio * view.scale, ratio * view.x, ratio * view.y);
  const onScreen = () => context.setTransform(ratio, 0, 0, ratio, 0, 0);

  inPixels();
  if (parts.a) context.drawImage(parts.a, 0, 0);
  if (parts.b) {
    context.save();
    onScreen();
    context.beginPath();
    context.rect(parts.swipe * size.width, 0, size.width, size.height);
    context.clip();
    inPixels();
    context.globalAlpha = parts.opacity;
    context.drawImage(parts.b, 0, 0);
    context.restore();
  }
  if (parts.mask) context.drawImage(parts.mask, 0, 0);

  const stroke = (path: Path2D, colour: string, width: number, dashed: boolean) => {
    context.strokeStyle = colour;
    context.lineWidth = width / view.scale;
    context.setLineDash(dashed ? [3 / view.scale, 2 / view.scale] : []);
    context.stroke(path);
  };
  if (parts.cursor) {
    const [row, col] = parts.cursor;
    const box = new Path2D();
    const margin = Math.max(0, 4 / view.scale - 0.5);
    box.rect(col - margin, row - margin, 1 + 2 * margin, 1 + 2 * margin);
    stroke(box, "#000", 4, false);
    stroke(box, "#fff", 2, false);
  }
  for (const { of, path } of parts.outlines) {
    // Dark below light: seen on any colour. A small window is hardly larger than the cursor, and lies over it.
    const width = of === "window" ? 2 : 1.4;
    stroke(path, "rgb(0 0 0 / 0.75)", width + 1.6, false);
    stroke(path, OUTLINES[of], width, of === "test");
  }
  onScreen();
}
