import { render } from "preact";
import { App } from "./App";
import { pageSource, parseReport } from "./data";
import "uplot/dist/uPlot.min.css";
import "./style.css";

const root = document.getElementById("app");
const text = document.getElementById("report")?.textContent;

if (root) {
  if (text) {
    try {
      const report = parseReport(text);
      document.title = report.title;
      render(<App report={report} source={pageSource(document)} />, root);
    } catch (error) {
      render(<p class="notice">The data of this report cannot be read: {String(error)}</p>, root);
    }
  } else {
    render(<p class="notice">This page holds no report yet. The command hyperatom report writes one.</p>, root);
  }
}
