import { useMemo, useRef, useState } from "preact/hooks";
import type { Accuracy, Report } from "./data";
import { saveCsv, saveJson } from "./export";
import { areaUnit, count, percent } from "./format";
import { cellName } from "./layers";
import type { Change, Look } from "./look";
import { ClassName, type Column, Scroll, Section, SortTable, Swatch } from "./parts";
import { type Cell, confusionLines } from "./table";

const MOVES: Record<string, [number, number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/// Rows are the truth, columns the map. One cell is in the tab order; arrow keys go on from there.
function Confusion({
  report,
  accuracy,
  shares,
  look,
  change,
}: {
  report: Report;
  accuracy: Accuracy;
  shares: boolean;
  look: Look;
  change: Change;
}) {
  const { classes } = report;
  const lines = useMemo(() => confusionLines(accuracy), [accuracy]);
  const width = lines[0]?.length ?? 0;
  const cellAt = (t: number, p: number) => ({ truth: t, predicted: p < classes.length ? p : -1 });
  const table = useRef<HTMLTableElement>(null);
  const [stop, setStop] = useState<[number, number]>([0, 0]);
  const canLight = report.layers.includes("truth") && report.layers.includes("prediction");
  const go = (event: KeyboardEvent, t: number, p: number) => {
    const step = MOVES[event.key];
    if (!step) return;
    event.preventDefault();
    const row = Math.min(Math.max(t + step[0], 0), classes.length - 1);
    const col = Math.min(Math.max(p + step[1], 0), width - 1);
    table.current?.querySelector<HTMLButtonElement>(`[data-cell="${row},${col}"]`)?.focus();
  };
  return (
    <Scroll label="Confusion matrix">
      <table class="confusion" ref={table}>
        <caption>
          <span>Rows: truth. Columns: the map. {canLight && "A cell lights up its pixels."}</span>
        </caption>
        <thead>
          <tr>
            <td />
            {classes.map((info) => (
              <th key={info.id} scope="col">
                <span class="upright">
                  <Swatch colour={info.colour} />
                  <span>{info.name}</span>
                </span>
              </th>
            ))}
            {width > classes.length && (
              <th scope="col">
                <span class="upright">not mapped</span>
              </th>
            )}
            <th scope="col" class="total">
              <span class="upright">all</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line, t) => {
            const total = line.reduce((sum, n) => sum + n, 0);
            return (
              <tr key={classes[t].id}>
                <th scope="row">
                  <ClassName of={classes[t]} />
                </th>
                {line.map((n, p) => {
                  const share = total > 0 ? n / total : 0;
                  const cell = cellAt(t, p);
                  const lit = look.cell?.truth === t && look.cell.predicted === cell.predicted;
                  const text = n === 0 ? "·" : shares ? percent(share, 1) : count(n);
                  const strength = `${Math.round(100 * Math.cbrt(share))}%`;
                  const base = t === p ? "var(--cool)" : "var(--warm)";
                  return (
                    <td key={String(p)} class={n === 0 ? "zero" : ""}>
                      <button
                        type="button"
                        data-cell={`${t},${p}`}
                        tabIndex={stop[0] === t && stop[1] === p ? 0 : -1}
                        aria-pressed={lit}
                        aria-label={`${cellName(report, cell)}: ${count(n)}`}
                        disabled={!canLight}
                        style={{
                          background: n > 0 && !lit ? `color-mix(in srgb, ${base} ${strength}, transparent)` : "",
                        }}
                        onFocus={() => setStop([t, p])}
                        onKeyDown={(event) => go(event, t, p)}
                        onClick={() => change({ cell: lit ? null : cell })}
                      >
                        {text}
                      </button>
                    </td>
                  );
                })}
                <td class="total">{count(total)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scroll>
  );
}

interface ClassRow {
  index: number;
  name: string;
  colour: string;
  support: number | null;
  predicted: number | null;
  producers: number | null;
  users: number | null;
  f1: number | null;
  pixels: number | null;
  share: number | null;
  area: number | null;
}

function classRows({ classes, accuracy, areas }: Report): ClassRow[] {
  return classes.map(({ name, colour }, index) => {
    const scored = accuracy?.per_class[index];
    const area = areas.at(index);
    return {
      index,
      name,
      colour,
      support: scored?.support ?? null,
      predicted: scored?.predicted ?? null,
      producers: scored?.producers ?? null,
      users: scored?.users ?? null,
      f1: scored?.f1 ?? null,
      pixels: area?.pixels ?? null,
      share: area?.share ?? null,
      area: area?.square_metres ?? null,
    };
  });
}

function classColumns(report: Report, rows: ClassRow[]): Column<ClassRow>[] {
  const number = (label: string, key: "support" | "predicted" | "pixels", title: string): Column<ClassRow> => ({
    label,
    title,
    value: (row) => row[key],
    show: (row) => (row[key] === null ? "–" : count(row[key])),
  });
  const share = (label: string, key: "producers" | "users" | "f1" | "share", title: string): Column<ClassRow> => ({
    label,
    title,
    value: (row) => row[key],
    show: (row) => percent(row[key]),
  });
  const columns: Column<ClassRow>[] = [
    { label: "Class", value: (row) => row.name, show: (row) => <ClassName of={{ id: row.index, ...row }} /> },
  ];
  if (report.accuracy)
    columns.push(
      number("Pixels", "support", "Pixels of the class in the truth"),
      share("Producer's %", "producers", "Of the pixels of the class, those mapped as it"),
      share("User's %", "users", "Of the pixels mapped as the class, those that are"),
      share("F1 %", "f1", "Harmonic mean of the two"),
    );
  if (report.areas.length > 0)
    columns.push(
      number("Mapped", "pixels", "Pixels of the class in the whole map"),
      share("Share %", "share", "Share of the whole map"),
    );
  if (rows.some((row) => row.area !== null)) {
    const unit = areaUnit(rows.reduce((sum, row) => sum + (row.area ?? 0), 0));
    columns.push({
      label: `Area, ${unit.name}`,
      value: (row) => row.area,
      show: (row) => (row.area === null ? "–" : (row.area / unit.size).toFixed(unit.digits)),
    });
  }
  return columns;
}

export function Tables({ report, look, change }: { report: Report; look: Look; change: Change }) {
  const { accuracy, classes, areas, title } = report;
  const [shares, setShares] = useState(false);
  const rows = useMemo(() => classRows(report), [report]);
  const columns = useMemo(() => classColumns(report, rows), [report, rows]);
  if (!accuracy && areas.length === 0) return null;
  const saveClasses = () => {
    const head: (keyof ClassRow)[] = ["name", "support", "predicted", "producers", "users", "f1", "pixels", "share"];
    saveCsv(title, "classes", [
      ["class", ...head.slice(1), "square_metres"],
      ...rows.map((row): Cell[] => [...head.map((key) => row[key]), row.area]),
    ]);
  };
  const saveConfusion = () => {
    if (!accuracy) return;
    const names = classes.map((info) => info.name);
    const lines = confusionLines(accuracy);
    saveCsv(title, "confusion", [
      ["truth \\ map", ...names, ...(lines[0].length > names.length ? ["not mapped"] : [])],
      ...lines.map((line, t) => [names[t], ...line]),
    ]);
  };
  return (
    <Section
      id="tables"
      title={accuracy ? "Accuracy and area" : "Area"}
      tools={
        <>
          {accuracy && (
            <button type="button" class="push" aria-pressed={shares} onClick={() => setShares(!shares)}>
              Row %
            </button>
          )}
          {accuracy && (
            <button type="button" class="push" onClick={saveConfusion}>
              Confusion CSV
            </button>
          )}
          <button type="button" class="push" onClick={saveClasses}>
            Classes CSV
          </button>
          <button
            type="button"
            class="push"
            onClick={() => saveJson(title, "tables", { classes, split: report.split, accuracy, areas })}
          >
            JSON
          </button>
        </>
      }
    >
      <div class="tables">
        {accuracy && <Confusion report={report} accuracy={accuracy} shares={shares} look={look} change={change} />}
        <SortTable caption="Accuracy and area of each class" columns={columns} rows={rows} />
      </div>
    </Section>
  );
}
