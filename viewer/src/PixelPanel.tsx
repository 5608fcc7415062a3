import { useMemo, useState } from "preact/hooks";
import type uPlot from "uplot";
import { axis, Chart, type ChartOptions, type Inks } from "./Chart";
import type { Accuracy, Report } from "./data";
import { saveCsv } from "./export";
import { bandAxis, bandPlace, percent, plain, plural } from "./format";
import type { Theme } from "./hooks";
import { cssColour, parseColour } from "./layers";
import { ClassName, Scroll, Swatch } from "./parts";
import { type Pixel, truthOfMapped } from "./pixel";
import { coordinatesText, crsName } from "./place";
import { spectrumRows } from "./table";

function spectrumOptions(label: string, inks: Inks): ChartOptions {
  return {
    scales: { x: { time: false } },
    cursor: { y: false, drag: { setScale: false } },
    padding: [8, 18, 0, 0],
    series: [
      {},
      // Some bands may be left out of the page; the line goes on over them.
      { label: "spectrum", stroke: inks.ink, width: 1.5, points: { show: false }, spanGaps: true },
      { label: "reconstruction", stroke: inks.signal, width: 1.75, dash: [5, 3], points: { show: false } },
    ],
    axes: [axis(inks, label, { size: 26 }), axis(inks, "value", { size: 44 })],
  };
}

function Spectrum({ report, pixel, theme }: { report: Report; pixel: Pixel; theme: Theme }) {
  const { bands, wavelengths } = report.scene;
  const bandsShown = useMemo(() => bandAxis(bands, wavelengths), [bands, wavelengths]);
  const [hover, setHover] = useState<number | null>(null);
  const [open, setOpen] = useState(false);
  const { spectrum, reconstruction } = pixel;
  const data = useMemo((): uPlot.AlignedData => {
    const nothing = new Array<null>(bands).fill(null);
    return [bandsShown.values, spectrum ?? nothing, reconstruction ?? nothing];
  }, [bands, bandsShown, spectrum, reconstruction]);
  const at = (values: ArrayLike<number | null> | null, band: number) => plain(values?.[band] ?? null);
  const save = () =>
    saveCsv(report.title, `pixel-r${pixel.row}-c${pixel.col}`, spectrumRows(bandsShown, spectrum, reconstruction));
  return (
    <div class="block spectrum">
      <h3>
        Spectrum
        <span class="chart-key">
          {spectrum && (
            <span>
              <i class="line" /> measured
            </span>
          )}
          {reconstruction && (
            <span>
              <i class="line dashed" /> from its atoms
            </span>
          )}
        </span>
      </h3>
      <Chart
        label={`Spectrum of row ${pixel.row}, column ${pixel.col}, and its sparse reconstruction; the values are below`}
        height={210}
        version={`${theme} ${bandsShown.label}`}
        data={data}
        build={(inks) => spectrumOptions(bandsShown.label, inks)}
        onHover={setHover}
      />
      <p class="hover">
        {hover !== null &&
          `${bandPlace(bandsShown, hover)}: measured ${at(spectrum, hover)}, from its atoms ${at(reconstruction, hover)}`}
      </p>
      <div class="values-head">
        <details onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>Values</summary>
          {open && (
            <Scroll label="Spectrum values">
              <table class="data values">
                <thead>
                  <tr>
                    <th scope="col">{bandsShown.label}</th>
                    <th scope="col">measured</th>
                    <th scope="col">from its atoms</th>
                  </tr>
                </thead>
                <tbody>
                  {bandsShown.values.map((value, band) => (
                    <tr key={String(band)}>
                      <th scope="row">{plain(value)}</th>
                      <td>{at(spectrum, band)}</td>
                      <td>{at(reconstruction, band)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scroll>
          )}
        </details>
        <button type="button" class="push" onClick={save}>
          Pixel CSV
        </button>
      </div>
    </div>
  );
}

/// From zero to the left or to the right.
function Bar({ value, low, high, colour }: { value: number; low: number; high: number; colour: string }) {
  const place = (v: number) => (100 * (v - low)) / (high - low || 1);
  const [from, to] = [place(Math.min(0, value)), place(Math.max(0, value))];
  return (
    <span class="track" style={{ "--zero": `${place(0)}%` }}>
      <i style={{ left: `${from}%`, width: `${to - from}%`, backgroundColor: cssColour(parseColour(colour)) }} />
    </span>
  );
}

function Atoms({ report, pixel }: { report: Report; pixel: Pixel }) {
  const entries = pixel.entries ?? [];
  const largest = Math.max(...entries.map((entry) => Math.abs(entry.weight)));
  return (
    <div class="block atoms">
      <h3>
        Active atoms <span class="quiet">weight</span>
      </h3>
      {entries.length === 0 && <p class="quiet">None: this pixel has no code.</p>}
      <ul class="bars">
        {entries.map(({ atom, weight }) => {
          const info = report.classes[report.model?.atom_classes[atom] ?? -1];
          return (
            <li key={atom} data-atom={atom}>
              <span class="name">
                <Swatch colour={info?.colour ?? ""} /> <span class="text">{info?.name ?? "unknown class"}</span>{" "}
                <span class="quiet">#{atom}</span>
              </span>
              <Bar value={weight} low={-largest} high={largest} colour={info?.colour ?? ""} />
              <span class="number">{weight.toFixed(3)}</span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

const SCORES_FIRST = 6;

function Scores({ report, pixel }: { report: Report; pixel: Pixel }) {
  const [all, setAll] = useState(false);
  const scores = pixel.scores ?? [];
  const { low, high } = report.scores ?? { low: 0, high: 1 };
  return (
    <div class="block scores">
      <h3>Class scores</h3>
      <ul class="bars">
        {scores.slice(0, all ? scores.length : SCORES_FIRST).map(({ index, score }) => (
          <li key={index}>
            <span class="name">
              <Swatch colour={report.classes[index].colour} /> <span class="text">{report.classes[index].name}</span>
            </span>
            <Bar value={score} low={Math.min(0, low)} high={Math.max(0, high)} colour={report.classes[index].colour} />
            <span class="number">{score.toFixed(3)}</span>
          </li>
        ))}
      </ul>
      {scores.length > SCORES_FIRST && (
        <button type="button" class="more" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? "Fewer" : `All ${scores.length} classes`}
        </button>
      )}
    </div>
  );
}

/// What can be said of a pixel of a map without its model: how far such pixels can be trusted.
function Trust({ report, accuracy, predicted }: { report: Report; accuracy: Accuracy; predicted: number }) {
  const found = truthOfMapped(accuracy, predicted);
  const all = found.reduce((sum, { pixels }) => sum + pixels, 0);
  return (
    <div class="block trust">
      <h3>
        Truth of what is mapped as {report.classes[predicted].name}{" "}
        <span class="quiet">{all === 0 ? "no pixel counted" : `${plural(all, "pixel")} counted, %`}</span>
      </h3>
      <ul class="bars">
        {found.map(({ index, pixels }) => (
          <li key={index}>
            <span class="name">
              <Swatch colour={report.classes[index].colour} /> <span class="text">{report.classes[index].name}</span>
            </span>
            <Bar value={pixels / all} low={0} high={1} colour={report.classes[index].colour} />
            <span class="number">{percent(pixels / all, 1)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Votes({ report, pixel }: { report: Report; pixel: Pixel }) {
  return (
    <div class="block">
      <h3>Methods</h3>
      <ul class="votes">
        {pixel.votes.map(({ method, index }) => (
          <li key={method}>
            <span class="method">{method}</span>
            <span>{index === null ? "none" : <ClassName of={report.classes[index]} />}</span>
            <span class="wrong">{pixel.truth !== null && index !== pixel.truth && "wrong"}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

export function PixelPanel({
  report,
  pixel,
  theme,
  reading,
}: {
  report: Report;
  pixel: Pixel;
  theme: Theme;
  reading: boolean;
}) {
  const { transform, crs } = report.scene;
  const name = (index: number | null) => (index === null ? "none" : <ClassName of={report.classes[index]} />);
  const wrong = pixel.truth !== null && pixel.prediction !== null && pixel.truth !== pixel.prediction;
  return (
    <section id="pixel" class="pixel" aria-labelledby="pixel-title">
      <h2 id="pixel-title">
        Pixel{" "}
        <span class="where">
          row {pixel.row}, column {pixel.col}
        </span>
      </h2>
      <dl class="pixel-facts">
        {report.layers.includes("truth") && (
          <div>
            <dt>Truth</dt>
            <dd data-fact="truth">{name(pixel.truth)}</dd>
          </div>
        )}
        {report.layers.includes("prediction") && (
          <div>
            <dt>Predicted</dt>
            <dd data-fact="prediction">
              {name(pixel.prediction)}
              {wrong && <span class="wrong"> wrong</span>}
            </dd>
          </div>
        )}
        {pixel.role && (
          <div>
            <dt>Role</dt>
            <dd>{pixel.role} pixel</dd>
          </div>
        )}
        {transform && (
          <div>
            <dt>Coordinates</dt>
            <dd data-fact="coordinates">
              {coordinatesText(transform, crs, pixel.row, pixel.col)}
              {crs && (
                <details class="crs">
                  <summary>{crsName(crs)}</summary>
                  <code>{crs}</code>
                </details>
              )}
            </dd>
          </div>
        )}
      </dl>
      {pixel.votes.length > 0 && <Votes report={report} pixel={pixel} />}
      {reading && report.spectra.pixels !== "none" && <p class="quiet">Reading spectra…</p>}
      {(pixel.spectrum || pixel.reconstruction) && <Spectrum report={report} pixel={pixel} theme={theme} />}
      {report.spectra.pixels === "labelled" && !reading && !pixel.spectrum && (
        <p class="quiet">The spectra of labelled pixels alone are in this file.</p>
      )}
      {report.accuracy && !report.scores && pixel.prediction !== null && (
        <Trust report={report} accuracy={report.accuracy} predicted={pixel.prediction} />
      )}
      {(pixel.entries || pixel.scores) && (
        <div class="why">
          {pixel.entries && <Atoms report={report} pixel={pixel} />}
          {pixel.scores && <Scores report={report} pixel={pixel} />}
        </div>
      )}
    </section>
  );
}
