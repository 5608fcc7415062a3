import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { type Details, type Layers, type Report, readDetails, readLayers, type Source } from "./data";
import { Headline } from "./Headline";
import { type Theme, useTheme } from "./hooks";
import { type Change, firstLook, type Look } from "./look";
import { useMapParts } from "./MapCanvas";
import { MapPanel } from "./MapPanel";
import { PixelPanel } from "./PixelPanel";
import { describePixel } from "./pixel";

/// Lets the browser show what there is before more is read.
const painted = () => new Promise<void>((done) => requestAnimationFrame(() => setTimeout(done)));

function Workspace({
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
  const pixel = useMemo(
    () => describePixel(report, layers, details, look.cursor[0], look.cursor[1]),
    [report, layers, details, look.cursor],
  );
  return (
    <div class="workspace">
      <MapPanel report={report} layers={layers} parts={parts} pixel={pixel} look={look} change={change} />
      <PixelPanel report={report} pixel={pixel} theme={theme} reading={reading} />
    </div>
  );
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
        {layers && layers.size > 0 && (
          <Workspace report={report} layers={layers} details={details} reading={reading} theme={theme} />
        )}
      </main>
    </>
  );
}
