// The map as a picture to save: the whole scene at a whole number of points a pixel, and its legend beside or below.

import { drawMap, type MapParts } from "./draw";
import { cssColour, ramp } from "./layers";
import { type Key, type Legend, wrap } from "./legend";

const INK = "#16191c";
const QUIET = "#595f64";
const EDGE = "#878d91";

interface Line {
  text: string;
  weight: "bold" | "normal";
  colour: string;
}

/// A key with its name, or without one the name of a layer above its ramp.
interface Entry {
  key: Key | null;
  lines: string[];
  height: number;
}

export function drawSheet(
  scene: { rows: number; cols: number },
  parts: MapParts,
  legend: Legend,
): HTMLCanvasElement | null {
  const scale = Math.max(1, Math.round(1200 / Math.max(scene.rows, scene.cols)));
  const map = { width: scene.cols * scale, height: scene.rows * scale };
  // Letters grow with the map, so that they can be read when the whole picture is on a screen or a page.
  const size = Math.round(Math.max(map.width, map.height) / 66);
  const row = 2 * Math.round(0.75 * size);
  const column = 17 * size;
  const pad = size;
  const font = (weight: Line["weight"]) => `${weight} ${size}px system-ui, "DejaVu Sans", sans-serif`;

  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d");
  if (!context) return null;
  const measured = (weight: Line["weight"]) => {
    context.font = font(weight);
    return (text: string) => context.measureText(text).width;
  };

  const beside = map.width <= 1.5 * map.height;
  const head: Line[] = [
    ...wrap(legend.title, beside ? column : map.width, 3, measured("bold")).map(
      (text): Line => ({ text, weight: "bold", colour: INK }),
    ),
    ...[...legend.layers, legend.made].flatMap((line, i): Line[] =>
      wrap(line, beside ? column : map.width, 2, measured("normal")).map((text) => ({
        text,
        weight: "normal",
        colour: i < legend.layers.length ? INK : QUIET,
      })),
    ),
  ];
  const indent = Math.round(1.7 * size);
  const entries: Entry[] = [
    ...legend.keys.map((key) => {
      const lines = wrap(key.label, column - indent, 2, measured("normal"));
      return { key, lines, height: lines.length * row };
    }),
    ...legend.ramps.map((name) => ({ key: null, lines: [name], height: 2.5 * row })),
  ];

  // Entries go down the columns: as many as fit beside the map, or as few rows as its width allows.
  const total = entries.reduce((sum, entry) => sum + entry.height, 0);
  const headHeight = Math.round((head.length + 0.6) * row);
  const tallest = Math.max(0, ...entries.map((entry) => entry.height));
  const across = Math.max(1, Math.floor((map.width + pad) / (column + pad)));
  const room = beside ? Math.max(map.height - headHeight, 8 * row) : Math.ceil(total / across) + tallest;
  const places: { x: number; y: number }[] = [];
  let [x, y, lowest] = [0, 0, 0];
  for (const entry of entries) {
    if (y > 0 && y + entry.height > room) [x, y] = [x + column + pad, 0];
    places.push({ x, y });
    y += entry.height;
    lowest = Math.max(lowest, y);
  }
  const side = { width: x + column, height: headHeight + lowest };
  const left = beside ? map.width + 2 * pad : pad;
  const top = beside ? pad : map.height + 2 * pad;
  canvas.width = beside ? map.width + side.width + 3 * pad : Math.max(map.width, side.width) + 2 * pad;
  canvas.height = beside ? Math.max(map.height, side.height) + 2 * pad : map.height + side.height + 3 * pad;

  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  const picture = document.createElement("canvas");
  // The window belongs to the cursor, which is not drawn.
  const outlines = parts.outlines.filter(({ of }) => of !== "window");
  drawMap(picture, 1, map, { scale, x: 0, y: 0 }, { ...parts, outlines, cursor: null });
  context.drawImage(picture, pad, pad);
  context.strokeStyle = EDGE;
  context.strokeRect(pad - 0.5, pad - 0.5, map.width + 1, map.height + 1);

  context.textBaseline = "middle";
  const write = ({ text, weight, colour }: Line, at: number, line: number) => {
    context.font = font(weight);
    context.fillStyle = colour;
    context.fillText(text, at, line + row / 2);
  };
  head.forEach((line, i) => {
    write(line, left, top + i * row);
  });
  entries.forEach((entry, i) => {
    // A ramp keeps half a row from what is above it.
    const at = { x: left + places[i].x, y: top + headHeight + places[i].y + (entry.key ? 0 : row / 2) };
    const gap = Math.round((row - size) / 2);
    const say = (text: string, dx: number, line: number) =>
      write({ text, weight: "normal", colour: INK }, at.x + dx, at.y + line * row);
    entry.lines.forEach((text, line) => {
      say(text, entry.key ? indent : 0, line);
    });
    if (entry.key) swatch(context, entry.key, at.x, at.y + gap, size);
    else {
      say("0", 0, 1);
      bar(context, at.x + indent, at.y + row + gap, column - 2 * indent, size);
      say("1", column - size, 1);
    }
  });
  return canvas;
}

function swatch(context: CanvasRenderingContext2D, key: Key, x: number, y: number, size: number): void {
  context.fillStyle = key.outline ? "#444" : cssColour(key.colour);
  context.fillRect(x, y, size, size);
  if (key.outline) {
    context.strokeStyle = cssColour(key.colour);
    context.lineWidth = Math.max(2, size / 6);
    context.strokeRect(x + size / 6, y + size / 6, (2 * size) / 3, (2 * size) / 3);
    context.lineWidth = 1;
  }
  context.strokeStyle = EDGE;
  context.strokeRect(x + 0.5, y + 0.5, size - 1, size - 1);
}

function bar(context: CanvasRenderingContext2D, x: number, y: number, width: number, height: number): void {
  for (let i = 0; i < width; ++i) {
    context.fillStyle = cssColour(ramp(i / (width - 1)));
    context.fillRect(x + i, y, 1, height);
  }
  context.strokeStyle = EDGE;
  context.strokeRect(x - 0.5, y - 0.5, width + 1, height + 1);
}
