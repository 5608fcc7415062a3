import type { RefObject } from "preact";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Layers, Report } from "./data";
import { type Picture, toPicture } from "./draw";
import { paintLayer } from "./layers";
import type { Size } from "./view";

export type Theme = "light" | "dark";

const REMEMBERED = "hyperatom:theme";

/// Some browsers refuse storage to files.
function rememberedTheme(): Theme | null {
  try {
    const theme = localStorage.getItem(REMEMBERED);
    return theme === "light" || theme === "dark" ? theme : null;
  } catch {
    return null;
  }
}

function rememberTheme(theme: Theme): void {
  try {
    localStorage.setItem(REMEMBERED, theme);
  } catch {
    // Then the next page begins as the system does.
  }
}

/// The system's choice until the reader makes one, which later pages keep; paper is always light.
export function useTheme(): [Theme, () => void] {
  const system = useMemo(() => matchMedia("(prefers-color-scheme: dark)"), []);
  const [dark, setDark] = useState(system.matches);
  const [chosen, setChosen] = useState(rememberedTheme);
  useEffect(() => {
    const follow = () => setDark(system.matches);
    system.addEventListener("change", follow);
    return () => system.removeEventListener("change", follow);
  }, [system]);
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    const start = () => setPrinting(true);
    const end = () => setPrinting(false);
    addEventListener("beforeprint", start);
    addEventListener("afterprint", end);
    return () => {
      removeEventListener("beforeprint", start);
      removeEventListener("afterprint", end);
    };
  }, []);
  const theme = printing ? "light" : (chosen ?? (dark ? "dark" : "light"));
  useLayoutEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  const turn = useCallback(() => {
    const other = theme === "dark" ? "light" : "dark";
    setChosen(other);
    rememberTheme(other);
  }, [theme]);
  return [theme, turn];
}

export function useSize<T extends HTMLElement>(): [RefObject<T | null>, Size] {
  const element = useRef<T>(null);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const node = element.current;
    if (!node) return;
    const measure = () => setSize({ width: node.clientWidth, height: node.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(node);
    return () => observer.disconnect();
  }, []);
  return [element, size];
}

export function useOnScreen<T extends Element>(): [RefObject<T | null>, boolean] {
  const element = useRef<T>(null);
  const [seen, setSeen] = useState(true);
  useEffect(() => {
    if (!element.current) return;
    const observer = new IntersectionObserver(([entry]) => setSeen(entry.intersectionRatio > 0.25), {
      threshold: 0.25,
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return [element, seen];
}

export function usePicture(name: string, report: Report, layers: Layers, isolate: number | null): Picture | null {
  return useMemo(() => {
    const rgba = paintLayer(name, layers, report.classes, isolate);
    return rgba && toPicture(rgba, report.scene.rows, report.scene.cols);
  }, [name, report, layers, isolate]);
}
