// Small pieces that several panels use.

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { ClassInfo } from "./data";
import { cssColour, parseColour } from "./layers";
import { type Cell, sortRows } from "./table";

export function Swatch({ colour }: { colour: string }) {
  return <span class="swatch" style={{ backgroundColor: cssColour(parseColour(colour)) }} aria-hidden="true" />;
}

export function ClassName({ of }: { of: ClassInfo }) {
  return (
    <span class="class-name">
      <Swatch colour={of.colour} />
      <span>{of.name}</span>
    </span>
  );
}

export function Section({
  id,
  title,
  tools,
  children,
}: {
  id: string;
  title: string;
  tools?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section id={id} class="section" aria-labelledby={`${id}-title`}>
      <div class="section-head">
        <h2 id={`${id}-title`}>{title}</h2>
        {tools && <div class="tools">{tools}</div>}
      </div>
      {children}
    </section>
  );
}

/// Wide content scrolls in its own box, which the keyboard can reach.
export function Scroll({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <section class="scroll" tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}

export interface Column<Row> {
  label: string;
  value: (row: Row) => Cell;
  show?: (row: Row) => ComponentChildren;
  title?: string;
}

/// The first column names the row. A click on a heading sorts, a second one turns the order round.
export function SortTable<Row>({
  caption,
  columns,
  rows,
  onSort,
}: {
  caption: string;
  columns: Column<Row>[];
  rows: Row[];
  onSort?: (rows: Row[]) => void;
}) {
  const [by, setBy] = useState<{ column: number; descending: boolean } | null>(null);
  const sorted = useMemo(
    () => (by ? sortRows(rows, columns[by.column].value, by.descending) : rows),
    [rows, columns, by],
  );
  const sort = (column: number) => {
    const numbers = rows.some((row) => typeof columns[column].value(row) === "number");
    const descending = by?.column === column ? !by.descending : numbers;
    setBy({ column, descending });
    onSort?.(sortRows(rows, columns[column].value, descending));
  };
  const state = (column: number) =>
    by?.column !== column ? undefined : by.descending ? ("descending" as const) : ("ascending" as const);
  return (
    <Scroll label={caption}>
      <table class="data">
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column, i) => (
              <th key={column.label} scope="col" aria-sort={state(i)}>
                <button type="button" class="sort" title={column.title} onClick={() => sort(i)}>
                  {column.label}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.map((row) => (
            <tr key={String(rows.indexOf(row))}>
              {columns.map((column, i) => {
                const text = column.show ? column.show(row) : (column.value(row) ?? "–");
                return i === 0 ? (
                  <th key={column.label} scope="row">
                    {text}
                  </th>
                ) : (
                  <td key={column.label}>{text}</td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
