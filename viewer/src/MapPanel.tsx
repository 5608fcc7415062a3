import { useMemo } from "preact/hooks";
import type { Layers, Report } from "./data";
import type { MapParts } from "./draw";
import { savePng } from "./export";
import { bandAxis, bandPlace, count, plural } from "./format";
import {
  cellMask,
  cellName,
  cssColour,
  ERROR_KEYS,
  errorsIn,
  histogram,
  isClassLayer,
  type LayerChoice,
  layerChoices,
  ramp,
} from "./layers";
import { legendOf } from "./legend";
import type { Change, Look } from "./look";
import { MapCanvas } from "./MapCanvas";
import { Swatch } from "./parts";
import type { Pixel } from "./pixel";
import { drawSheet } from "./sheet";

/// The class layer whose pixels the legend counts: what is shown, else the prediction, else the truth.
function countedLayer(look: Look, layers: Layers): string | null {
  const names = [look.b, look.a].filter(isClassLayer).concat("prediction", "truth");
  return names.find((name) => layers.has(name)) ?? null;
}

function Legend({
  report,
  layers,
  choices,
  look,
  change,
}: {
  report: Report;
  layers: Layers;
  choices: LayerChoice[];
  look: Look;
  change: Change;
}) {
  const name = countedLayer(look, layers);
  const counts = useMemo(() => {
    const values = name === null ? undefined : layers.get(name);
    return values && histogram(values, report.classes.length + 1);
  }, [name, layers, report]);
  if (!counts) return null;
  return (
    <div class="legend">
      <h3>
        Classes <span class="quiet">pixels in {choices.find((c) => c.name === name)?.label ?? ""}; click isolates</span>
      </h3>
      <ul>
        {report.classes.map((info, i) => (
          <li key={info.id}>
            <button
              type="button"
              title={info.name}
              aria-pressed={look.isolate === i}
              onClick={() => change({ isolate: look.isolate === i ? null : i })}
            >
              <Swatch colour={info.colour} />
              <span class="name">{info.name}</span>
              <span class="number">{count(counts[i + 1])}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

/// Which bands the colours of the composite are.
function compositeText({ scene }: Report): string | null {
  if (!scene.composite) return null;
  const axis = bandAxis(scene.bands, scene.wavelengths);
  const [red, green, blue] = scene.composite.bands.map((band) => bandPlace(axis, band));
  return `Composite: ${red} as red, ${green} as green, ${blue} as blue`;
}

function Keys({
  report,
  layers,
  choices,
  look,
}: {
  report: Report;
  layers: Layers;
  choices: LayerChoice[];
  look: Look;
}) {
  const shown = [...new Set([look.a, look.b])];
  const errors = useMemo(
    () =>
      choices
        .filter(({ name }) => name === look.a || name === look.b)
        .flatMap(({ name, label }) => {
          const codes = errorsIn(name, layers);
          return codes ? { label, counts: histogram(codes, 4) } : [];
        }),
    [layers, choices, look.a, look.b],
  );
  const continuous = shown.filter((name) => name === "confidence" || name === "novelty");
  const steps = Array.from({ length: 9 }, (_, i) => cssColour(ramp(i / 8)));
  return (
    <>
      {errors.map(({ label, counts }) => (
        <ul key={label} class="key" aria-label={label}>
          {errors.length > 1 && <li>{label}:</li>}
          {ERROR_KEYS.map(({ code, label, colour }) => (
            <li key={code}>
              <span class="swatch" style={{ backgroundColor: cssColour(colour) }} />
              {label} <span class="number">{count(counts[code])}</span>
            </li>
          ))}
        </ul>
      ))}
      {shown.includes("rgb") && <p class="composite quiet">{compositeText(report)}</p>}
      {continuous.length > 0 && (
        <div class="key ramp">
          <span>{continuous.join(", ")} 0</span>
          <span class="bar" style={{ backgroundImage: `linear-gradient(to right, ${steps.join(", ")})` }} />
          <span>1</span>
        </div>
      )}
    </>
  );
}

function readout(report: Report, pixel: Pixel, look: Look): string {
  const name = (index: number | null) => (index === null ? "none" : report.classes[index].name);
  const said = [`Row ${pixel.row}, column ${pixel.col}`];
  if (pixel.truth !== null) said.push(`truth ${name(pixel.truth)}`);
  if (pixel.prediction !== null) said.push(`predicted ${name(pixel.prediction)}`);
  for (const { method, index } of pixel.votes)
    if (look.a === `map-${method}` || look.b === `map-${method}`) said.push(`${method} ${name(index)}`);
  if (pixel.role) said.push(`${pixel.role} pixel`);
  if (pixel.confidence !== null) said.push(`confidence ${pixel.confidence.toFixed(2)}`);
  if (pixel.novelty !== null) said.push(`novelty ${pixel.novelty.toFixed(2)}`);
  return said.join(" · ");
}

export function MapPanel({
  report,
  layers,
  parts,
  pixel,
  look,
  change,
}: {
  report: Report;
  layers: Layers;
  parts: MapParts;
  pixel: Pixel;
  look: Look;
  change: Change;
}) {
  const choices = useMemo(() => layerChoices(report, layers), [report, layers]);
  const lit = useMemo(
    () => (look.cell && cellMask(layers, look.cell)?.reduce((sum, on) => sum + on, 0)) ?? 0,
    [look.cell, layers],
  );
  const windowed = report.windows > 1 && report.model !== null;
  const save = () => {
    const sheet = drawSheet(report.scene, parts, legendOf(report, layers, look));
    if (sheet) savePng(report.title, "map", sheet);
  };
  const select = (which: "a" | "b") => (
    <label>
      <span class="letter">{which.toUpperCase()}</span>
      <select
        aria-label={`Layer ${which.toUpperCase()}`}
        value={look[which]}
        onChange={(event) => change({ [which]: event.currentTarget.value })}
      >
        {choices.map(({ name, label }) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
  const check = (which: "training" | "test" | "window") => (
    <label class="check">
      <input
        type="checkbox"
        checked={look[which]}
        onChange={(event) => change({ [which]: event.currentTarget.checked })}
      />
      <i class={`outline ${which}`} aria-hidden="true" />
      {which}
    </label>
  );
  return (
    <section id="map" class="map" aria-labelledby="map-title">
      <h2 id="map-title" class="visually-hidden">
        Map
      </h2>
      <div class="toolbar">
        {select("a")}
        {select("b")}
        <label>
          <span>
            Opacity<span class="visually-hidden"> of layer B</span>
          </span>
          <input
            type="range"
            min="0"
            max="1"
            step="0.05"
            value={look.opacity}
            onInput={(event) => change({ opacity: Number(event.currentTarget.value) })}
          />
        </label>
        {(layers.has("split") || windowed) && (
          <fieldset>
            <legend>Outline</legend>
            {layers.has("split") && check("training")}
            {layers.has("split") && check("test")}
            {windowed && check("window")}
          </fieldset>
        )}
      </div>
      <MapCanvas report={report} parts={parts} look={look} change={change} />
      <div class="under">
        <p id="readout" class="readout" aria-live="polite">
          {readout(report, pixel, look)}
        </p>
        <button type="button" class="push" onClick={save}>
          Save PNG
        </button>
      </div>
      {look.cell && (
        <p class="lit">
          {plural(lit, "pixel")} lit: {cellName(report, look.cell)}
          <button type="button" onClick={() => change({ cell: null })}>
            Clear
          </button>
        </p>
      )}
      <Keys report={report} layers={layers} choices={choices} look={look} />
      <Legend report={report} layers={layers} choices={choices} look={look} change={change} />
    </section>
  );
}
