import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { useSize } from "./hooks";

export interface Inks {
  ink: string;
  quiet: string;
  line: string;
  accent: string;
  signal: string;
}

export const FONT = "11px system-ui, sans-serif";

/// uPlot draws on a canvas, which knows no CSS variables: an element's computed colour resolves them.
function readInks(element: HTMLElement): Inks {
  const probe = element.appendChild(document.createElement("span"));
  const read = (name: string) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const inks = {
    ink: read("--ink"),
    quiet: read("--quiet"),
    line: read("--line"),
    accent: read("--accent"),
    signal: read("--signal"),
  };
  probe.remove();
  return inks;
}

export function axis(inks: Inks, label: string, more: Partial<uPlot.Axis> = {}): uPlot.Axis {
  return {
    label,
    labelFont: FONT,
    labelSize: 16,
    labelGap: 0,
    font: FONT,
    gap: 3,
    stroke: inks.quiet,
    grid: { stroke: inks.line, width: 1 },
    ticks: { show: false },
    ...more,
  };
}

export type ChartOptions = Omit<uPlot.Options, "width" | "height">;

/// `build` must not change between renders of the same chart: a new `version` makes a new chart.
export function Chart({
  label,
  height,
  version,
  data,
  build,
  onHover,
}: {
  label: string;
  height: number;
  version: string;
  data: uPlot.AlignedData;
  build: (inks: Inks) => ChartOptions;
  onHover?: (index: number | null) => void;
}) {
  const [box, { width }] = useSize<HTMLDivElement>();
  const plot = useRef<uPlot | null>(null);
  const latest = useRef({ data, build, onHover });
  latest.current = { data, build, onHover };

  useLayoutEffect(() => {
    const node = box.current;
    if (!node || width === 0) return;
    const options = latest.current.build(readInks(node));
    plot.current = new uPlot(
      {
        legend: { show: false },
        ...options,
        width,
        height,
        hooks: { ...options.hooks, setCursor: [(chart) => latest.current.onHover?.(chart.cursor.idx ?? null)] },
      },
      latest.current.data,
      node,
    );
    return () => {
      plot.current?.destroy();
      plot.current = null;
    };
  }, [version, width > 0, height]);

  useEffect(() => plot.current?.setData(data), [data]);
  useEffect(() => {
    if (width > 0) plot.current?.setSize({ width, height });
  }, [width, height]);

  return <div class="chart" role="img" aria-label={label} ref={box} style={{ height: `${height}px` }} />;
}
