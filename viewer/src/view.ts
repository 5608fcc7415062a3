// Zoom and pan: where pixels fall on the screen. A pixel (row, col) covers [x + col scale, x + (col + 1) scale), likewise in y.

export interface View {
  scale: number;
  x: number;
  y: number;
}

export interface Size {
  width: number;
  height: number;
}

export const LARGEST_SCALE = 48;

/// The whole scene, centred.
export function fitView(rows: number, cols: number, size: Size): View {
  const scale = Math.min(size.width / cols, size.height / rows);
  return { scale, x: (size.width - cols * scale) / 2, y: (size.height - rows * scale) / 2 };
}

/// No further out than the whole scene, and no empty margin that panning alone made.
export function clamp(view: View, rows: number, cols: number, size: Size): View {
  const whole = fitView(rows, cols, size);
  const scale = Math.min(Math.max(view.scale, whole.scale), Math.max(LARGEST_SCALE, whole.scale));
  const hold = (offset: number, extent: number, available: number) =>
    extent <= available ? (available - extent) / 2 : Math.min(0, Math.max(available - extent, offset));
  return { scale, x: hold(view.x, cols * scale, size.width), y: hold(view.y, rows * scale, size.height) };
}

/// What a view shows, for canvases of any size: how much larger than the whole scene, and which place is in the middle.
export interface Focus {
  zoom: number;
  row: number;
  col: number;
}

/// Null: the whole scene.
export function focusOf(view: View, rows: number, cols: number, size: Size): Focus | null {
  const zoom = view.scale / fitView(rows, cols, size).scale;
  if (zoom < 1.001) return null;
  const place = (offset: number, available: number) => (available / 2 - offset) / view.scale;
  return { zoom, row: place(view.y, size.height), col: place(view.x, size.width) };
}

export function viewOf(focus: Focus | null, rows: number, cols: number, size: Size): View {
  const whole = fitView(rows, cols, size);
  if (!focus) return whole;
  const scale = whole.scale * focus.zoom;
  return clamp(
    { scale, x: size.width / 2 - focus.col * scale, y: size.height / 2 - focus.row * scale },
    rows,
    cols,
    size,
  );
}

/// What is under (px, py) stays there.
export function zoomAt(view: View, factor: number, px: number, py: number): View {
  return { scale: view.scale * factor, x: px - (px - view.x) * factor, y: py - (py - view.y) * factor };
}

export function pixelAt(view: View, px: number, py: number, rows: number, cols: number): [number, number] | null {
  const row = Math.floor((py - view.y) / view.scale);
  const col = Math.floor((px - view.x) / view.scale);
  return row >= 0 && col >= 0 && row < rows && col < cols ? [row, col] : null;
}

/// Pans as little as needed to have a pixel on the screen with some room around it.
export function reveal(view: View, row: number, col: number, size: Size): View {
  const room = Math.min(2 * view.scale, size.width / 4, size.height / 4);
  const shift = (start: number, available: number) =>
    start < room ? room - start : Math.min(0, available - room - (start + view.scale));
  return {
    scale: view.scale,
    x: view.x + shift(view.x + col * view.scale, size.width),
    y: view.y + shift(view.y + row * view.scale, size.height),
  };
}
