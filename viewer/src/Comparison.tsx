import { useMemo, useState } from "preact/hooks";
import type { Figures, Layers, MethodResult, Report } from "./data";
import { saveCsv, saveJson } from "./export";
import { decimals, percent, secondsText } from "./format";
import { usePicture } from "./hooks";
import { ERRORS, methodsIn } from "./layers";
import type { Change, Look } from "./look";
import { MapThumb } from "./MapCanvas";
import { type Column, Section, SortTable } from "./parts";
import { deviation, mean } from "./table";

type Key = keyof Figures;

const KEYS: Key[] = ["oa", "aa", "kappa"];
const NAMES: Record<Key, string> = { oa: "OA %", aa: "AA %", kappa: "Kappa" };

const of = (row: MethodResult, key: Key) => row.repeats.map((repeat) => repeat[key]).filter((value) => value !== null);
const average = (row: MethodResult, key: Key) => (of(row, key).length > 0 ? mean(of(row, key)) : null);
const inPaper = (row: MethodResult, key: Key) => row.paper?.[key] ?? null;
const text = (value: number | null, key: Key) => (key === "kappa" ? decimals(value, 4) : percent(value));

/// A column only where some method has a value.
function columnsOf(table: MethodResult[]): Column<MethodResult>[] {
  const columns: Column<MethodResult>[] = [{ label: "Method", value: (row) => row.method }];
  const add = (column: Column<MethodResult>) => {
    if (table.some((row) => column.value(row) !== null)) columns.push(column);
  };
  for (const key of KEYS)
    add({
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
  for (const key of KEYS)
    add({
      label: `Paper ${NAMES[key]}`,
      value: (row) => inPaper(row, key),
      show: (row) => text(inPaper(row, key), key),
    });
  add({
    label: "Leakage %",
    title: "Test pixels with a training pixel in their window",
    value: (row) => row.leakage,
    show: (row) => percent(row.leakage, 1),
  });
  add({ label: "Window", title: "Pixels that are coded together", value: (row) => row.window });
  add({
    label: "Atoms",
    title: "Or support vectors",
    value: (row) => row.atoms,
    show: (row) => decimals(row.atoms, 0),
  });
  add({
    label: "Seconds",
    title: "Of one training",
    value: (row) => row.seconds,
    show: (row) => secondsText(row.seconds),
  });
  if (table.some((row) => row.repeats.length > 1)) add({ label: "Repeats", value: (row) => row.repeats.length });
  return columns;
}

/// Repeats as small dots, their mean as a large one with a bar of one deviation, the paper's figure as a diamond.
function DotPlot({ rows, metric }: { rows: MethodResult[]; metric: Key }) {
  const values = rows.flatMap((row) => [...of(row, metric), inPaper(row, metric)]).filter((value) => value !== null);
  const step = Math.max(...values) - Math.min(...values) > 0.25 ? 0.1 : 0.05;
  const low = Math.floor(Math.min(...values) / step - 0.2) * step;
  const high = Math.min(1, Math.ceil(Math.max(...values) / step + 0.2) * step);
  const ticks = Array.from({ length: Math.round((high - low) / step) + 1 }, (_, i) => low + i * step);
  const x = (value: number) => `${(100 * (Math.min(Math.max(value, low), high) - low)) / (high - low)}%`;
  const grid = ticks.map((tick) => <line key={tick} class="grid" x1={x(tick)} x2={x(tick)} y1="0" y2="100%" />);
  return (
    <div class="dots">
      {rows.map((row) => {
        const centre = average(row, metric);
        const spread = deviation(of(row, metric));
        const paper = inPaper(row, metric);
        const said = [
          `${row.method}: ${text(centre, metric)}`,
          spread !== null && ` plus or minus ${text(spread, metric)}`,
          paper !== null && `, paper ${text(paper, metric)}`,
        ];
        return (
          <div class="dot-row" key={row.method}>
            <span class="method" title={row.method}>
              {row.method}
            </span>
            <svg role="img" aria-label={said.filter(Boolean).join("")}>
              {grid}
              {centre !== null && spread !== null && (
                <line class="spread" x1={x(centre - spread)} x2={x(centre + spread)} y1="50%" y2="50%" />
              )}
              {of(row, metric).map((value, i) => (
                <circle key={String(i)} class="repeat" cx={x(value)} cy="50%" r="2.5" />
              ))}
              {centre !== null && <circle class="mean" cx={x(centre)} cy="50%" r="5" />}
              {paper !== null && (
                <svg x={x(paper)} y="50%" overflow="visible" aria-hidden="true">
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

/// The table of methods: what a comparison is made for.
export function Comparison({ report }: { report: Report }) {
  const table = report.comparison?.table ?? [];
  const [metric, setMetric] = useState<Key>("oa");
  const [order, setOrder] = useState(table);
  const columns = useMemo(() => columnsOf(table), [table]);
  if (table.length === 0) return null;
  const known = KEYS.filter((key) => table.some((row) => of(row, key).length > 0));
  const papers = table.some((row) => inPaper(row, metric) !== null);
  const repeated = table.some((row) => row.repeats.length > 1);
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
      <div class="tables">
        <SortTable caption="Accuracy of each method" columns={columns} rows={table} onSort={setOrder} />
        <figure>
          <figcaption class="dots-head">
            <label>
              Shown{" "}
              <select value={metric} onChange={(event) => setMetric(event.currentTarget.value as Key)}>
                {known.map((key) => (
                  <option key={key} value={key}>
                    {NAMES[key]}
                  </option>
                ))}
              </select>
            </label>
            <span class="chart-key">
              <span>
                <i class="dot" /> {repeated ? "mean ± deviation" : "on the test pixels"}
              </span>
              {papers && (
                <span>
                  <i class="diamond" /> paper
                </span>
              )}
            </span>
          </figcaption>
          <DotPlot rows={order} metric={metric} />
        </figure>
      </div>
    </Section>
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
      <button type="button" aria-pressed={look.b === name} onClick={() => change({ b: name })}>
        <MapThumb report={report} parts={parts} focus={look.focus} />
        <span class="method">{label}</span>
      </button>
    </li>
  );
}

/// Every method's map, all at the zoom and place of the large one.
export function MethodMaps({
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
  const [errors, setErrors] = useState(false);
  const methods = methodsIn(layers);
  if (methods.length === 0) return null;
  const truth = layers.has("truth");
  const repeated = report.comparison?.table.some((row) => row.repeats.length > 1);
  return (
    <Section
      id="maps"
      title="All maps"
      tools={
        truth && (
          <button type="button" class="push" aria-pressed={errors} onClick={() => setErrors(!errors)}>
            Errors
          </button>
        )
      }
    >
      <p class="quiet note">
        {repeated && "Of the first repeat. "}A click shows a map as layer B above; all follow its zoom.
      </p>
      <ul class="maps">
        {truth && <MethodMap report={report} layers={layers} name="truth" label="Truth" look={look} change={change} />}
        {methods.map((method) => (
          <MethodMap
            key={method}
            report={report}
            layers={layers}
            name={`${errors ? ERRORS : "map"}-${method}`}
            label={errors ? `Errors of ${method}` : method}
            look={look}
            change={change}
          />
        ))}
      </ul>
    </Section>
  );
}
