// Charts. uPlot draws on a canvas; the numbers are also in a table beside it.
import uPlot from "./uplot/uPlot.esm.js";
import { h, fill } from "./dom.js";

const dark = matchMedia("(prefers-color-scheme: dark)");

function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

function axis(extra) {
  return { stroke: () => color("quiet"), grid: { stroke: () => color("line"), width: 1 }, ticks: { show: false },
    font: "12px system-ui, sans-serif", ...extra };
}

const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

const formats = {
  second: (at) => new Date(at * 1000).toISOString().slice(11, 19),
  minute: (at) => new Date(at * 1000).toISOString().slice(11, 16),
  day: (at) => new Date(at * 1000).toISOString().slice(5, 10),
  month: (at) => new Date(at * 1000).toISOString().slice(0, 7),
  year: (at) => new Date(at * 1000).toISOString().slice(0, 4),
};

// chart draws lines or bars over time. It returns its element, set(data) and end().
export function chart({ label, series, format, bars, height }) {
  const element = h("div", { class: "chart", role: "img", "aria-label": label });
  const tip = h("div", { class: "tip", hidden: true, "aria-hidden": "true" });
  element.append(tip);
  let plot = null;
  let data = null;
  const style = (s) => ({
    label: s.label, stroke: () => color(s.color), width: bars ? 0 : 1.75, points: { show: false },
    fill: bars || s.fill ? () => color(s.color + (bars ? "" : "-soft")) : undefined,
    paths: bars ? uPlot.paths.bars({ size: [0.7, 48], radius: 0.15 }) : undefined,
  });
  const width = () => Math.max(200, element.clientWidth);
  const options = () => ({
    width: width(), height: height || 220, legend: { show: false }, cursor: { points: { show: false }, drag: { x: false, y: false }, y: false }, hooks: { setCursor: [point] }, padding: [8, 12, 0, 0],
    scales: { x: { time: false, range: bars ? padded : undefined }, y: { range: (_, low, high) => [low < 0 ? low * 1.1 : 0, high > 0 ? high * 1.1 : low < 0 ? 0 : 1] } },
    axes: [
      axis({ size: 30, space: 90, splits: bars ? labelled : undefined, values: (_, at) => at.map(formats[format]) }),
      axis({ size: 52, values: (_, at) => at.map((v) => short.format(v)) }),
    ],
    series: [{}, ...series.map(style)],
  });
  // point shows the numbers under the pointer. They are in a table beside the chart too, or in its label.
  const point = (u) => {
    const i = u.cursor.idx;
    tip.hidden = i === null || i === undefined || u.cursor.left < 0;
    if (tip.hidden) return;
    fill(tip, h("strong", {}, formats[format](u.data[0][i])),
      series.map((s, k) => h("span", {}, s.label, h("b", {}, new Intl.NumberFormat("en").format(u.data[k + 1][i] || 0)))));
    const at = u.cursor.left + u.over.offsetLeft;
    tip.style.left = Math.max(0, at + (at > element.clientWidth / 2 ? -tip.offsetWidth - 10 : 10)) + "px";
  };
  const padded = (u, low, high) => {
    const at = u.data[0];
    const gap = at.length > 1 ? (at[at.length - 1] - at[0]) / (at.length - 1) : 86400;
    return [low - gap / 2, high + gap / 2];
  };
  // Each label stands under a bar. If there are too many bars, only some have a label.
  const labelled = (u) => {
    const at = u.data[0];
    const step = Math.max(1, Math.ceil(at.length / Math.max(1, Math.floor((width() - 64) / 70))));
    return at.filter((_, i) => i % step === 0);
  };
  const draw = () => {
    if (!data) return;
    if (plot) plot.setData(data);
    else plot = new uPlot(options(), data, element);
  };
  const again = () => {
    if (plot) plot.destroy();
    plot = null;
    draw();
  };
  const watcher = new ResizeObserver(() => {
    if (plot && plot.width !== width()) plot.setSize({ width: width(), height: height || 220 });
  });
  watcher.observe(element);
  dark.addEventListener("change", again);
  return {
    element,
    set(next, text) {
      data = next;
      if (text) element.setAttribute("aria-label", text);
      draw();
    },
    end() {
      watcher.disconnect();
      dark.removeEventListener("change", again);
      if (plot) plot.destroy();
      plot = null;
    },
  };
}

export function key(series) {
  return h("ul", { class: "key" }, series.map((s) => h("li", {}, h("span", { class: "swatch " + s.color, "aria-hidden": "true" }), s.label)));
}
