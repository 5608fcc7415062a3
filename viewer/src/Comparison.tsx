import { useMemo, useState } from "preact/hooks";
import type { Figures, Layers, MethodResult, Report } from "./data";
import { saveCsv, saveJson } from "./export";
import { percent } from "./format";
import { usePicture } from "./hooks";
import type { Change, Look } from "./look";
import { MapThumb } from "./MapCanvas";
import { type Column, Section, SortTable } from "./parts";
import { deviation, mean } from "./table";

type Key = keyof Figures;

const NAMES: Record<Key, string> = { oa: "OA %", aa: "AA %", kappa: "Kappa" };

const of = (row: MethodResult, key: Key) => row.repeats.map((repeat) => repeat[key]);
const average = (row: MethodResult, key: Key) => (row.repeats.length > 0 ? mean(of(row, key)) : null);
const text = (value: number | null, key: Key) => (key === "kappa" ? (value?.toFixed(4) ?? "–") : percent(value));

function columnsOf(table: MethodResult[]): Column<MethodResult>[] {
  const keys: Key[] = ["oa", "aa", "kappa"];
  const columns: Column<MethodResult>[] = [{ label: "Method", value: (row) => row.method }];
  for (const key of keys)
    columns.push({
      label: NAMES[key],
      title: "Mean and standard deviation of the repeats",
      value: (row) => average(row, key),
      show: (row) => {
        const spread = deviation(of(row, key));
        return (
          <>
            {text(average(row, key), key)}
            {spread !== null && <span class="quiet"> ± {text(spread, key)}</span>}
          </>
        );
      },
    });
  columns.push({ label: "Repeats", value: (row) => row.repeats.length });
  if (table.some((row) => row.paper))
    for (const key of keys)
      columns.push({
        label: `Paper ${NAMES[key]}`,
        value: (row) => row.paper?.[key] ?? null,
        show: (row) => text(row.paper?.[key] ?? null, key),
      });
  if (table.some((row) => row.seconds !== null))
    columns.push({
      label: "Seconds",
      value: (row) => row.seconds,
      show: (row) => row.seconds?.toFixed(1) ?? "–",
    });
  return columns;
}

/// Repeats as small dots, their mean as a large one with a bar of one deviation, the paper's figure as a diamond.
function DotPlot({ rows, metric }: { rows: MethodResult[]; metric: Key }) {
  const values = rows.flatMap((row) => [...of(row, metric), ...(row.paper ? [row.paper[metric]] : [])]);
  const step = Math.max(...values) - Math.min(...values) > 0.25 ? 0.1 : 0.05;
  const low = Math.floor(Math.min(...values) / step - 0.2) * step;
  const high = Math.min(1, Math.ceil(Math.max(...values) / step + 0.2) * step);
  const ticks = Array.from({ length: Math.round((high - low) / step) + 1 }, (_, i) => low + i * step);
  const x = (value: number) => `${(100 * (value - low)) / (high - low)}%`;
  const grid = ticks.map((tick) => <line key={tick} class="grid" x1={x(tick)} x2={x(tick)} y1="0" y2="100%" />);
  return (
    <div class="dots">
      {rows.map((row) => {
        const centre = average(row, metric);
        const spread = deviation(of(row, metric));
        return (
          <div class="dot-row" key={row.method}>
            <span class="method">{row.method}</span>
            <svg
              role="img"
              aria-label={`${row.method}: ${text(centre, metric)}${spread === null ? "" : ` plus or minus ${text(spread, metric)}`}${row.paper ? `, paper ${text(row.paper[metric], metric)}` : ""}`}
            >
              {grid}
              {centre !== null && spread !== null && (
                <line class="spread" x1={x(centre - spread)} x2={x(centre + spread)} y1="50%" y2="50%" />
              )}
              {of(row, metric).map((value, i) => (
                <circle key={String(i)} class="repeat" cx={x(value)} cy="50%" r="2.5" />
              ))}
              {centre !== null && <circle class="mean" cx={x(centre)} cy="50%" r="5" />}
              {row.paper && (
                <svg x={x(row.paper[metric])} y="50%" overflow="visible" aria-hidden="true">
                  <path class="paper" d="M0 -6L6 0L0 6L-6 0Z" />
                </svg>
              )}
            </svg>
          </div>
        );
      })}
      <div class="dot-row scale" aria-hidden="true">
        <span />
        <div>
          {ticks.map((tick) => (
            <span key={tick} style={{ left: x(tick) }}>
              {metric === "kappa" ? tick.toFixed(2) : percent(tick, 0)}
            </span>
          ))}
        </div>
      </div>
    </div>
  );
}

function MethodMap({
  report,
  layers,
  name,
  label,
  look,
  change,
}: {
  report: Report;
  layers: Layers;
  name: string;
  label: string;
  look: Look;
  change: Change;
}) {
  const picture = usePicture(name, report, layers, look.isolate);
  const parts = { a: picture, b: null, swipe: 1, opacity: 1, mask: null, outlines: [], cursor: look.cursor };
  return (
    <li>
      <MapThumb report={report} parts={parts} label={`Map of ${label}`} />
      <button type="button" class="more" aria-pressed={look.b === name} onClick={() => change({ b: name })}>
        {label}
      </button>
    </li>
  );
}

export function Comparison({
  report,
  layers,
  look,
  change,
}: {
  report: Report;
  layers: Layers;
  look: Look;
  change: Change;
}) {
  const table = report.comparison?.table ?? [];
  const maps = (report.comparison?.maps ?? []).filter((method) => layers.has(`map-${method}`));
  const [metric, setMetric] = useState<Key>("oa");
  const [order, setOrder] = useState(table);
  const columns = useMemo(() => columnsOf(table), [table]);
  if (table.length === 0 && maps.length === 0) return null;
  const save = () =>
    saveCsv(report.title, "comparison", [
      ["method", "repeat", "oa", "aa", "kappa"],
      ...table.flatMap((row) => [
        ...row.repeats.map((repeat, i) => [row.method, i + 1, repeat.oa, repeat.aa, repeat.kappa]),
        ...(row.paper ? [[row.method, "paper", row.paper.oa, row.paper.aa, row.paper.kappa]] : []),
      ]),
    ]);
  return (
    <Section
      id="comparison"
      title="Comparison"
      tools={
        <>
          <button type="button" class="push" onClick={save}>
            Comparison CSV
          </button>
          <button type="button" class="push" onClick={() => saveJson(report.title, "comparison", table)}>
            JSON
          </button>
        </>
      }
    >
      {table.length > 0 && (
        <div class="tables">
          <SortTable caption="Accuracy of each method" columns={columns} rows={table} onSort={setOrder} />
          <figure>
            <figcaption class="dots-head">
              <label>
                Shown{" "}
                <select value={metric} onChange={(event) => setMetric(event.currentTarget.value as Key)}>
                  <option value="oa">OA %</option>
                  <option value="aa">AA %</option>
                  <option value="kappa">Kappa</option>
                </select>
              </label>
              <span class="chart-key">
                <span>
                  <i class="dot" /> mean ± deviation
                </span>
                {table.some((row) => row.paper) && (
                  <span>
                    <i class="diamond" /> paper
                  </span>
                )}
              </span>
            </figcaption>
            <DotPlot rows={order} metric={metric} />
          </figure>
        </div>
      )}
      {maps.length > 0 && (
        <>
          <h3 class="gallery-title">
            Maps <span class="quiet">a name shows its map as layer B above</span>
          </h3>
          <ul class="maps">
            {layers.has("truth") && (
              <MethodMap report={report} layers={layers} name="truth" label="truth" look={look} change={change} />
            )}
            {maps.map((method) => (
              <MethodMap
                key={method}
                report={report}
                layers={layers}
                name={`map-${method}`}
                label={method}
                look={look}
                change={change}
              />
            ))}
          </ul>
        </>
      )}
    </Section>
  );
}
