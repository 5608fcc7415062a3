import { useMemo, useState } from "preact/hooks";
import uPlot from "uplot";
import { axis, Chart, type ChartOptions, type Inks } from "./Chart";
import type { Certificate, Details, Epoch, Model, Report } from "./data";
import { bandAxis, bandPlace, count, percentRange, plain, plural } from "./format";
import type { Theme } from "./hooks";
import { ClassName, Section } from "./parts";
import { occupied, type Shape, shapesOfClass, sparkline } from "./shapes";

const ATOMS_FIRST = 5;

function Spark({ shape, mean, label }: { shape: Shape; mean: Shape | null; label: string }) {
  return (
    <svg class="spark" viewBox="0 0 100 40" preserveAspectRatio="none" role="img" aria-label={label}>
      {mean && <path class="mean" d={sparkline(mean, shape)} />}
      {shape !== mean && <path class="atom" d={sparkline(shape, mean)} />}
    </svg>
  );
}

function ClassAtoms({
  report,
  model,
  details,
  index,
}: {
  report: Report;
  model: Model;
  details: Details;
  index: number;
}) {
  const [all, setAll] = useState(false);
  const info = report.classes[index];
  const { mean, atoms } = useMemo(() => shapesOfClass(report, model, details, index), [report, model, details, index]);
  const most = Math.max(1, ...model.usage);
  if (atoms.length === 0) return null;
  return (
    <li class="class-atoms">
      <h4>
        <ClassName of={info} />
        {atoms.length > ATOMS_FIRST && (
          <button type="button" class="more" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? "fewer" : `all ${atoms.length}`}
          </button>
        )}
      </h4>
      <div class="sparks">
        {mean && (
          <figure>
            <Spark shape={mean} mean={mean} label={`Mean training spectrum of ${info.name}`} />
            <figcaption>training mean</figcaption>
          </figure>
        )}
        {atoms.slice(0, all ? atoms.length : ATOMS_FIRST).map(({ atom, shape }) => (
          <figure key={atom}>
            <Spark shape={shape} mean={mean} label={`Atom ${atom} of ${info.name}`} />
            <div class="usage" aria-hidden="true">
              <i style={{ width: `${(100 * model.usage[atom]) / most}%` }} />
            </div>
            <figcaption>
              #{atom} <span title="pixels in which it is active">{count(model.usage[atom])}</span>{" "}
              <span title="coherence: the largest similarity to another atom">{model.coherence[atom]?.toFixed(3)}</span>
            </figcaption>
          </figure>
        ))}
      </div>
    </li>
  );
}

function curveOptions(percent: boolean, inks: Inks): ChartOptions {
  return {
    scales: { x: { time: false }, y: percent ? { range: (_, low, high) => percentRange(low, high) } : {} },
    cursor: { y: false, drag: { setScale: false } },
    padding: [8, 18, 0, 0],
    series: [
      {},
      { stroke: inks.accent, width: 1.75, points: { show: false } },
      { stroke: inks.signal, width: 1.75, dash: [5, 3], points: { show: false } },
    ],
    axes: [
      axis(inks, "epoch", { size: 26, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] }),
      axis(inks, "", { size: 44, label: undefined }),
    ],
  };
}

function Curve({
  title,
  percent = false,
  epochs,
  value,
  validation,
  theme,
}: {
  title: string;
  percent?: boolean;
  epochs: Epoch[];
  value: (epoch: Epoch) => number | null;
  validation: (epoch: Epoch) => number | null | undefined;
  theme: Theme;
}) {
  const shown = (number: number | null | undefined) => (number == null ? null : percent ? 100 * number : number);
  const data = useMemo(
    (): uPlot.AlignedData => [
      epochs.map((epoch) => epoch.epoch),
      epochs.map((epoch) => shown(value(epoch))),
      epochs.map((epoch) => shown(validation(epoch))),
    ],
    [epochs],
  );
  const last = epochs[epochs.length - 1];
  const validated = epochs.some((epoch) => validation(epoch) !== undefined);
  return (
    <div class="block">
      <h3>
        {title}
        <span class="chart-key">
          <span>
            <i class="line cool" /> training
          </span>
          {validated && (
            <span>
              <i class="line dashed" /> validation
            </span>
          )}
        </span>
      </h3>
      <Chart
        label={`${title} over ${plural(epochs.length, "epoch")}, at the end ${plain(shown(value(last)))}`}
        height={170}
        version={theme}
        data={data}
        build={(inks) => curveOptions(percent, inks)}
      />
    </div>
  );
}

function certificateOptions(tolerance: number, inks: Inks): ChartOptions {
  const limit = (chart: uPlot) => {
    const x = Math.round(chart.valToPos(Math.log10(tolerance), "x", true));
    const { top, height } = chart.bbox;
    chart.ctx.save();
    chart.ctx.fillStyle = inks.signal;
    chart.ctx.fillRect(x - 1, top, 2, height);
    chart.ctx.restore();
  };
  return {
    scales: { x: { time: false }, y: { range: (_, __, most) => [0, most * 1.05] } },
    cursor: { show: false },
    padding: [8, 18, 0, 0],
    series: [
      {},
      {
        fill: inks.accent,
        stroke: inks.accent,
        width: 0,
        points: { show: false },
        paths: uPlot.paths.bars?.({ size: [0.9], align: 1 }),
      },
    ],
    axes: [axis(inks, "log10 of the relative duality gap", { size: 26 }), axis(inks, "pixels", { size: 44 })],
    hooks: { draw: [limit] },
  };
}

function Gaps({ certificate, theme }: { certificate: Certificate; theme: Theme }) {
  const { tolerance, unconverged } = certificate;
  const data = useMemo((): uPlot.AlignedData => {
    const { edges, counts } = occupied(certificate);
    // The last edge closes the last bar.
    return [edges, [...counts, null]];
  }, [certificate]);
  return (
    <div class="block">
      <h3>
        Certificate of the codes
        <span class="chart-key">
          <span>
            <i class="line limit" /> tolerance {plain(tolerance)}
          </span>
        </span>
      </h3>
      <Chart
        label={`How many pixels have which duality gap; ${plural(unconverged, "pixel")} above the tolerance of ${plain(tolerance)}`}
        height={170}
        version={theme}
        data={data}
        build={(inks) => certificateOptions(tolerance, inks)}
      />
      <p class="quiet note">
        {unconverged === 0
          ? "Every code is within the tolerance."
          : `${plural(unconverged, "pixel")} not within the tolerance.`}
      </p>
    </div>
  );
}

export function hasModelPanel(model: Model, details: Details): boolean {
  return details.atoms !== null || Boolean(model.training?.length) || model.certificate !== null;
}

export function ModelPanel({
  report,
  model,
  details,
  theme,
}: {
  report: Report;
  model: Model;
  details: Details;
  theme: Theme;
}) {
  const { training, certificate } = model;
  const { bands, wavelengths } = report.scene;
  const places = bandAxis(bands, wavelengths);
  if (!hasModelPanel(model, details)) return null;
  return (
    <Section id="model" title="Model">
      <div class="curves">
        {training && training.length > 0 && (
          <>
            <Curve
              title="Loss"
              epochs={training}
              value={(e) => e.loss}
              validation={(e) => e.validation_loss}
              theme={theme}
            />
            <Curve
              title="Accuracy, %"
              percent
              epochs={training}
              value={(e) => e.accuracy}
              validation={(e) => e.validation_accuracy}
              theme={theme}
            />
          </>
        )}
        {certificate && <Gaps certificate={certificate} theme={theme} />}
      </div>
      {details.atoms && (
        <>
          <h3 class="gallery-title">
            Atoms{" "}
            <span class="quiet">
              in front of the mean training spectrum of their class, from {bandPlace(places, 0)} to{" "}
              {bandPlace(places, bands - 1)}, each scaled to unit length; below: number, pixels in which it is active,
              coherence
            </span>
          </h3>
          <ul class="gallery">
            {report.classes.map((info, index) => (
              <ClassAtoms key={info.id} report={report} model={model} details={details} index={index} />
            ))}
          </ul>
        </>
      )}
    </Section>
  );
}
