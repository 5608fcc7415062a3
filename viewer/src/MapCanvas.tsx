import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Details, Layers, Report } from "./data";
import { drawMap, type MapParts, type Outline, toPath, toPicture } from "./draw";
import { usePicture, useSize } from "./hooks";
import { borderSegments, cellMask, paintMask } from "./layers";
import type { Change, Look } from "./look";
import { clamp, type Focus, focusOf, pixelAt, reveal, type View, viewOf, zoomAt } from "./view";

/// Everything that is drawn, ready for any canvas and zoom.
export function useMapParts(report: Report, layers: Layers, details: Details | null, look: Look): MapParts {
  const { rows, cols } = report.scene;
  const a = usePicture(look.a, report, layers, look.isolate);
  const b = usePicture(look.b, report, layers, look.isolate);
  const mask = useMemo(() => {
    const pixels = look.cell && cellMask(layers, look.cell);
    return pixels && toPicture(paintMask(pixels), rows, cols);
  }, [look.cell, layers, rows, cols]);

  const split = layers.get("split");
  const border = (role: number, on: boolean) =>
    on && split ? toPath(borderSegments((pixel) => split[pixel] === role, rows, cols)) : null;
  const training = useMemo(() => border(1, look.training), [split, look.training]);
  const test = useMemo(() => border(2, look.test), [split, look.test]);
  const [row, col] = look.cursor;
  const window = useMemo(() => {
    const offsets = details?.window;
    if (!look.window || !offsets || offsets.length <= 2) return null;
    const members = new Set<number>();
    for (let i = 0; i < offsets.length; i += 2) {
      const r = row + offsets[i];
      const c = col + offsets[i + 1];
      if (r >= 0 && c >= 0 && r < rows && c < cols) members.add(r * cols + c);
    }
    return toPath(borderSegments((pixel) => members.has(pixel), rows, cols));
  }, [details?.window, look.window, row, col, rows, cols]);

  const outlines: Outline[] = [];
  if (test) outlines.push({ of: "test", path: test });
  if (training) outlines.push({ of: "training", path: training });
  if (window) outlines.push({ of: "window", path: window });
  return { a, b, swipe: look.swipe, opacity: look.opacity, mask, outlines, cursor: look.cursor };
}

const KEY_STEPS: Record<string, [number, number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

export function MapCanvas({
  report,
  parts,
  look,
  change,
}: {
  report: Report;
  parts: MapParts;
  look: Look;
  change: Change;
}) {
  const { rows, cols } = report.scene;
  const [box, size] = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const view = viewOf(look.focus, rows, cols, size);
  const zoomed = look.focus !== null;
  const latest = useRef({ view, zoomed });
  latest.current = { view, zoomed };

  useLayoutEffect(() => {
    if (canvas.current && size.width > 0) drawMap(canvas.current, devicePixelRatio, size, view, parts);
  });

  const move = (next: View) => {
    const held = clamp(next, rows, cols, size);
    const focus = focusOf(held, rows, cols, size);
    latest.current = { view: held, zoomed: focus !== null };
    change({ focus });
  };
  const zoom = (factor: number, x = size.width / 2, y = size.height / 2) =>
    move(zoomAt(latest.current.view, factor, x, y));

  // By hand, since a wheel listener that stops the page from scrolling must not be passive.
  useEffect(() => {
    const node = canvas.current;
    if (!node) return;
    const wheel = (event: WheelEvent) => {
      // Zooming out of the whole scene goes on as scrolling of the page: the map is no trap.
      if (event.deltaY > 0 && !latest.current.zoomed) return;
      event.preventDefault();
      zoom(2 ** (-event.deltaY / 240), event.offsetX, event.offsetY);
    };
    node.addEventListener("wheel", wheel, { passive: false });
    return () => node.removeEventListener("wheel", wheel);
  });

  const pointers = useRef(new Map<number, { x: number; y: number }>());
  const travelled = useRef(0);
  const press = (event: PointerEvent) => {
    if (event.button !== 0) return;
    canvas.current?.setPointerCapture(event.pointerId);
    if (pointers.current.size === 0) travelled.current = 0;
    pointers.current.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
  };
  const drag = (event: PointerEvent) => {
    const before = pointers.current.get(event.pointerId);
    if (!before) return;
    const now = { x: event.offsetX, y: event.offsetY };
    travelled.current += Math.hypot(now.x - before.x, now.y - before.y);
    const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
    pointers.current.set(event.pointerId, now);
    if (other) {
      const span = (p: { x: number; y: number }) => Math.max(1, Math.hypot(p.x - other.x, p.y - other.y));
      zoom(span(now) / span(before), (now.x + other.x) / 2, (now.y + other.y) / 2);
    } else if (travelled.current > 4 && latest.current.zoomed) {
      const { view: from } = latest.current;
      move({ ...from, x: from.x + now.x - before.x, y: from.y + now.y - before.y });
    }
  };
  const release = (event: PointerEvent) => {
    if (!pointers.current.delete(event.pointerId) || event.type === "pointercancel") return;
    const pixel = pixelAt(latest.current.view, event.offsetX, event.offsetY, rows, cols);
    if (travelled.current <= 4 && pixel) change({ cursor: pixel });
  };

  const key = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = KEY_STEPS[event.key];
    if (step) {
      const stride = event.shiftKey ? 10 : 1;
      const within = (value: number, end: number) => Math.min(Math.max(value, 0), end - 1);
      const row = within(look.cursor[0] + stride * step[0], rows);
      const col = within(look.cursor[1] + stride * step[1], cols);
      change({ cursor: [row, col] });
      if (zoomed) move(reveal(view, row, col, size));
    } else if (event.key === "+" || event.key === "=") zoomOnCursor(1.5);
    else if (event.key === "-" || event.key === "_") zoomOnCursor(1 / 1.5);
    else if (event.key === "0") change({ focus: null });
    else if (event.key === "Escape") change({ isolate: null, cell: null });
    else return;
    event.preventDefault();
  };
  const zoomOnCursor = (factor: number) =>
    zoom(factor, view.x + (look.cursor[1] + 0.5) * view.scale, view.y + (look.cursor[0] + 0.5) * view.scale);

  return (
    <div class={rows > 1.25 * cols ? "stage tall" : "stage"} ref={box} style={{ aspectRatio: `${cols} / ${rows}` }}>
      {/* biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: the arrow keys are the map's own */}
      <canvas
        ref={canvas}
        class={zoomed ? "zoomed" : ""}
        tabIndex={0}
        role="application"
        aria-label="Map. Arrow keys move the pixel, with Shift by ten; plus and minus zoom; 0 shows the whole scene."
        aria-describedby="readout"
        onPointerDown={press}
        onPointerMove={drag}
        onPointerUp={release}
        onPointerCancel={release}
        onKeyDown={key}
      />
      {look.a !== look.b && (
        <>
          <div class="swipe-line" style={{ left: `${100 * look.swipe}%` }} />
          <input
            class="swipe"
            type="range"
            min="0"
            max="1"
            step="0.005"
            value={look.swipe}
            aria-label="Swipe between layer A on the left and layer B on the right"
            onInput={(event) => change({ swipe: Number(event.currentTarget.value) })}
          />
        </>
      )}
      <div class="zoom">
        <button type="button" aria-label="Zoom in" onClick={() => zoom(1.5)}>
          +
        </button>
        <button type="button" aria-label="Zoom out" onClick={() => zoom(1 / 1.5)}>
          −
        </button>
        <button type="button" aria-label="Show the whole scene" onClick={() => change({ focus: null })}>
          ⤢
        </button>
      </div>
    </div>
  );
}

/// A small map without controls.
export function MapThumb({ report, parts, focus }: { report: Report; parts: MapParts; focus: Focus | null }) {
  const { rows, cols } = report.scene;
  const [box, size] = useSize<HTMLSpanElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    if (canvas.current && size.width > 0)
      drawMap(canvas.current, devicePixelRatio, size, viewOf(focus, rows, cols, size), parts);
  });
  return (
    <span class="thumb" aria-hidden="true" ref={box} style={{ aspectRatio: `${cols} / ${rows}` }}>
      <canvas ref={canvas} />
    </span>
  );
}
