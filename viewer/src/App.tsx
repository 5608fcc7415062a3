import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { Comparison, MethodMaps } from "./Comparison";
import { type Details, type Layers, type Report, readDetails, readLayers, type Source } from "./data";
import { Headline } from "./Headline";
import { type Theme, useOnScreen, useTheme } from "./hooks";
import { methodsIn } from "./layers";
import { type Change, firstLook, type Look } from "./look";
import { MapThumb, useMapParts } from "./MapCanvas";
import { MapPanel } from "./MapPanel";
import { hasModelPanel, ModelPanel } from "./ModelPanel";
import { PixelPanel } from "./PixelPanel";
import { describePixel } from "./pixel";
import { Tables } from "./Tables";

/// Lets the browser show what there is before more is read.
const painted = () => new Promise<void>((done) => requestAnimationFrame(() => setTimeout(done)));

function Body({
  report,
  layers,
  details,
  reading,
  theme,
}: {
  report: Report;
  layers: Layers;
  details: Details | null;
  reading: boolean;
  theme: Theme;
}) {
  const [look, setLook] = useState<Look>(() => firstLook(report, layers));
  const change: Change = useCallback((part) => setLook((before) => ({ ...before, ...part })), []);
  const parts = useMapParts(report, layers, details, look);
  const [workspace, mapSeen] = useOnScreen<HTMLDivElement>();
  const pixel = useMemo(
    () => describePixel(report, layers, details, look.cursor[0], look.cursor[1]),
    [report, layers, details, look.cursor],
  );
  const marked = look.cell !== null || look.isolate !== null;
  return (
    <>
      <Comparison report={report} />
      {layers.size > 0 && (
        <div class="workspace" ref={workspace}>
          <MapPanel report={report} layers={layers} parts={parts} pixel={pixel} look={look} change={change} />
          <PixelPanel report={report} pixel={pixel} theme={theme} reading={reading} />
        </div>
      )}
      <MethodMaps report={report} layers={layers} look={look} change={change} />
      <Tables report={report} look={look} change={change} />
      {report.model && details && <ModelPanel report={report} model={report.model} details={details} theme={theme} />}
      {marked && !mapSeen && (
        // What was lit from a table far below is seen at once.
        <aside class="inset" aria-label="Small map">
          <MapThumb report={report} parts={parts} focus={null} />
          <a href="#map">To the map</a>
        </aside>
      )}
    </>
  );
}

/// The panels that have content, for the links at the top.
function panels(report: Report, layers: Layers | null, details: Details | null): [string, string][] {
  const { accuracy, areas, comparison, model } = report;
  const mapped = layers !== null && layers.size > 0;
  const all: [string, string, boolean][] = [
    ["comparison", "Comparison", comparison !== null],
    ["map", "Map", mapped],
    ["pixel", "Pixel", mapped],
    ["maps", "All maps", layers !== null && methodsIn(layers).length > 0],
    ["tables", accuracy ? "Accuracy" : "Area", accuracy !== null || areas.length > 0],
    ["model", "Model", model !== null && details !== null && hasModelPanel(model, details)],
  ];
  return all.filter(([, , there]) => there).map(([id, label]) => [id, label]);
}

export function App({ report, source }: { report: Report; source: Source }) {
  const [theme, turnTheme] = useTheme();
  const [layers, setLayers] = useState<Layers | null>(null);
  const [details, setDetails] = useState<Details | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [reading, setReading] = useState(true);

  useEffect(() => {
    const read = async () => {
      const shown = await readLayers(report, source);
      setLayers(shown);
      await painted();
      performance.mark("hyperatom:map");
      setDetails(await readDetails(report, shown, source));
      await painted();
      performance.mark("hyperatom:ready");
    };
    read()
      .catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)))
      .finally(() => setReading(false));
  }, [report, source]);

  return (
    <>
      <header class="top">
        <h1>{report.title}</h1>
        <nav aria-label="Panels">
          {panels(report, layers, details).map(([id, label]) => (
            <a key={id} href={`#${id}`}>
              {label}
            </a>
          ))}
        </nav>
        <div class="tools">
          <button type="button" class="push" onClick={() => print()}>
            Print
          </button>
          <button type="button" class="push" aria-pressed={theme === "dark"} onClick={turnTheme}>
            Dark
          </button>
        </div>
      </header>
      <main>
        {problem && (
          <p class="notice" role="alert">
            Part of this report cannot be read: {problem}
          </p>
        )}
        <Headline report={report} />
        {layers && <Body report={report} layers={layers} details={details} reading={reading} theme={theme} />}
      </main>
    </>
  );
}
