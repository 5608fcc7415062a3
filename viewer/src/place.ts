// Where a pixel is: the name of a coordinate system, and coordinates in it.

/// The first quoted string of WKT ("" inside stands for one "), or the text itself when it has none.
export function crsName(wkt: string): string {
  const quoted = /"((?:[^"]|"")*)"/.exec(wkt);
  return quoted ? quoted[1].replaceAll('""', '"') : wkt;
}

export function isGeographic(wkt: string): boolean {
  return /^\s*(GEOGCS|GEOGCRS|GEODCRS|GEODETICCRS|GEOGRAPHICCRS)\b/i.test(wkt);
}

/// The centre of a pixel.
export function mapCoordinates(transform: number[], row: number, col: number): [number, number] {
  const [x0, xCol, xRow, y0, yCol, yRow] = transform;
  return [x0 + xCol * (col + 0.5) + xRow * (row + 0.5), y0 + yCol * (col + 0.5) + yRow * (row + 0.5)];
}

export function coordinatesText(transform: number[], crs: string | null, row: number, col: number): string {
  const [x, y] = mapCoordinates(transform, row, col);
  const digits = crs !== null && isGeographic(crs) ? 6 : 1;
  return `${x.toFixed(digits)}, ${y.toFixed(digits)}`;
}
