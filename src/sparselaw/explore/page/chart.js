// Curves and points by uPlot, from the one shape that the library gives (chart_data.py).

import { createCard } from "./card.js";
import { el, flat, maths, number, raised } from "./dom.js";
import { colour, ink, onSchemeChange } from "./palette.js";
import uPlot from "./vendor/uplot.js";

const HEIGHT = 360;
const FEW_NOTES = 4;
const MOST_TICKS = 9;
const NOTHING = "Nothing can be drawn on a logarithmic axis: every value is zero or missing.";
const DASHES = { "": [], dashed: [7, 5], dotted: [2, 4] };

export function createChart(title, name) {
  let spec = null;
  let answer = null;
  let plot = null;
  let built = "";
  let parts = []; // what is drawn: a cautious curve is two series, one of them dashed
  const legend = el("ul", { class: "legend" });
  const readout = el("p", { class: "readout" });
  const marked = el("ul", { class: "marks" });
  const notes = el("ul", { class: "notes" });
  const card = createCard(title, {
    name,
    png: () => picture(card, plot, spec, title),
    rows: () => rows(spec),
    json: () => answer,
    code: () => answer?.code,
  });
  const area = el("div", { class: "area", role: "img", "aria-label": `${title}: not drawn yet` });
  card.plot.append(area, legend, marked, readout);
  const more = el("details", { hidden: true });
  card.extra.append(notes, more);

  function draw(nextSpec, nextAnswer = answer) {
    spec = nextSpec;
    answer = nextAnswer;
    parts = spec.series.flatMap(split);
    if (spec.y.log) for (const part of parts) part.y = part.y.map((y) => (y > 0 ? y : null));
    const tables = parts.map((part) => [part.x, part.y]);
    const data = tables.length ? uPlot.join(tables, tables.map(() => [0, 2])) : [[], []];
    const key = JSON.stringify([spec.x, spec.y, parts.map((p) => [p.kind, p.colour, p.dash, p.faded])]);
    if (plot && key === built) plot.setData(data);
    else {
      plot?.destroy();
      plot = new uPlot(options(), data, area);
      built = key;
    }
    area.setAttribute("aria-label", describe(title, spec));
    writeLegend();
  }

  function options() {
    const width = Math.max(area.clientWidth, 260);
    return {
      width,
      height: width < 480 ? 290 : HEIGHT,
      padding: [14, 24, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
      scales: {
        x: { time: false, distr: spec.x.log ? 3 : 1, range: () => span("x", spec.x.log, 1) },
        y: { distr: spec.y.log ? 3 : 1, range: () => span("y", spec.y.log, 1.25) },
      },
      axes: [axis(spec.x, 46), axis(spec.y, 62)],
      series: [{}, ...parts.map((_, i) => look(i))],
      hooks: { draw: [bars, uprights], setCursor: [read] },
    };
  }

  // From the smallest to the largest value that is drawn, with some air.
  function span(which, log, air) {
    let low = Infinity;
    let high = -Infinity;
    for (const part of parts) {
      for (const values of which === "x" ? [part.x] : [part.y, part.low ?? [], part.high ?? []]) {
        for (const value of values) {
          if (value == null || (log && value <= 0)) continue;
          low = Math.min(low, value);
          high = Math.max(high, value);
        }
      }
    }
    if (!(low <= high)) return log ? [1, 10] : [0, 1];
    if (log) return low === high ? [low / 2, high * 2] : [Math.max(low / air, 1e-300), Math.min(high * air, 1e300)];
    const room = (high - low || 1) * (air - 1) * 0.2;
    return [low - room, high + room];
  }

  function axis(about, size) {
    const { text, grid } = ink();
    return {
      label: flat(about.label),
      labelSize: 22,
      labelFont: "13px system-ui, sans-serif",
      font: "12px system-ui, sans-serif",
      size,
      stroke: text,
      grid: { stroke: grid, width: 1 },
      ticks: { stroke: grid, width: 1, size: 4 },
      splits: about.log ? (_, __, low, high) => logPlaces(low, high) : undefined,
      filter: (_, splits) => splits,
      values: (_, splits) => splits.map((value) => (value == null ? "" : tick(value))),
    };
  }

  function look(i) {
    const part = parts[i];
    const stroke = colour(part.colour, part.faded ? 0.25 : 1);
    if (part.kind === "points") {
      return { stroke, paths: () => null, points: { show: true, size: 7, fill: part.faded ? ink().paper : stroke, stroke } };
    }
    return { stroke, width: part.dash === "dotted" ? 1.5 : 2, dash: DASHES[part.dash], points: { show: false } };
  }

  function bars(u) {
    const { ctx } = u;
    ctx.save();
    for (const part of parts) {
      if (!part.low) continue;
      ctx.strokeStyle = colour(part.colour, part.faded ? 0.25 : 1);
      ctx.lineWidth = devicePixelRatio * 1.5;
      part.x.forEach((value, i) => {
        if (part.low[i] == null || part.high[i] == null) return;
        const x = u.valToPos(value, "x", true);
        ctx.beginPath();
        ctx.moveTo(x, u.valToPos(part.low[i], "y", true));
        ctx.lineTo(x, u.valToPos(part.high[i], "y", true));
        ctx.stroke();
      });
    }
    ctx.restore();
  }

  function uprights(u) {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
    for (const mark of spec.marks ?? []) {
      const x = u.valToPos(mark.at, "x", true);
      if (!(x >= bbox.left && x <= bbox.left + bbox.width)) continue;
      ctx.strokeStyle = ctx.fillStyle = colour(mark.colour, 0.75);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  }

  function writeLegend() {
    const shown = spec.series.filter((series) => series.label);
    legend.replaceChildren(
      ...shown.map((series) => {
        const swatch = el("span", { class: `swatch ${series.kind} ${series.dash ?? ""}` });
        swatch.style.color = colour(series.colour);
        swatch.style.opacity = series.faded ? 0.35 : 1;
        return el("li", {}, swatch, el("span", {}, ...maths(series.label)));
      }),
    );
    marked.replaceChildren(
      ...(spec.marks ?? []).map((mark) => {
        const swatch = el("span", { class: "swatch upright" });
        swatch.style.color = colour(mark.colour);
        return el("li", {}, swatch, el("span", {}, ...maths(mark.label), ` at ${number(mark.at)}`));
      }),
    );
    readout.replaceChildren();
    const empty = spec.y.log && parts.length && parts.every((part) => part.y.every((y) => y == null));
    const said = [...(empty ? [NOTHING] : []), ...(spec.notes ?? [])].map((note) => el("li", {}, ...maths(note)));
    const rest = said.splice(FEW_NOTES);
    notes.replaceChildren(...said);
    more.hidden = !rest.length;
    more.replaceChildren(el("summary", {}, `${rest.length} more`), el("ul", { class: "notes" }, ...rest));
  }

  // The values under the pointer, one for each series, and the words of caution there.
  function read(u) {
    const left = u.cursor.left;
    if (left == null || left < 0) {
      readout.replaceChildren();
      return;
    }
    const at = u.posToVal(left, "x");
    const found = [];
    for (const series of spec.series) {
      const i = nearest(series.x, at, spec.x.log);
      if (i < 0 || Math.abs(u.valToPos(series.x[i], "x") - left) > 14) continue;
      const value = series.y[i] == null ? "no number" : number(series.y[i], 4);
      const words = series.reason?.[i] || series.caution?.[i];
      const dot = el("b", {}, value);
      dot.style.color = colour(series.colour);
      found.push(el("span", {}, dot, ` at ${number(series.x[i])}`, words ? ` (${words})` : ""));
    }
    readout.replaceChildren(...found);
  }

  const redraw = () => {
    if (!spec) return;
    built = "";
    draw(spec);
  };
  new ResizeObserver(() => {
    if (plot && area.clientWidth > 0 && Math.abs(area.clientWidth - plot.width) > 2) redraw();
  }).observe(area);
  onSchemeChange(redraw);

  return { ...card, draw, spec: () => spec };
}

// A curve with words of caution is two: solid where it can be trusted, dashed where it cannot.
function split(series) {
  if (series.kind !== "line" || !series.caution) return [{ ...series }];
  const careful = series.caution.map(Boolean);
  const near = careful.map((c, i) => c || careful[i - 1] || careful[i + 1]);
  return [
    { ...series, y: series.y.map((y, i) => (careful[i] ? null : y)) },
    { ...series, dash: "dashed", y: series.y.map((y, i) => (near[i] ? y : null)) },
  ];
}

function nearest(x, at, log) {
  let best = -1;
  let gap = Infinity;
  const to = log ? Math.log(at) : at;
  x.forEach((value, i) => {
    const distance = Math.abs((log ? Math.log(value) : value) - to);
    if (distance < gap) [best, gap] = [i, distance];
  });
  return best;
}

// The places of a logarithmic axis that get a line and a number: powers of ten; where there are few also 2 and 5
// times them; within a decade even steps. Our own, because uPlot's begin at the smallest value and may never end.
function logPlaces(low, high) {
  for (const digits of [[1], [1, 2, 5]]) {
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
      for (const digit of digits) {
        const value = Number(`${digit}e${power}`);
        if (value >= low && value <= high) found.push(value);
      }
    }
    if (found.length > 2) return found.filter((_, i) => i % Math.ceil(found.length / MOST_TICKS) === 0);
  }
  const step = 10 ** Math.floor(Math.log10((high - low) / 2));
  return Array.from({ length: Math.floor((high - Math.ceil(low / step) * step) / step) + 1 }, (_, i) => (Math.ceil(low / step) + i) * step);
}

function isPower(value) {
  const power = Math.log10(value);
  return Math.abs(power - Math.round(power)) < 1e-9;
}

function tick(value) {
  const power = Math.log10(Math.abs(value));
  if (value > 0 && isPower(value) && (power < -2.5 || power > 3.5)) return `10${raised(Math.round(power))}`;
  return number(value, 3);
}

function rows(spec) {
  const series = spec?.series ?? [];
  const bars = series.some((s) => s.low);
  const words = series.some((s) => s.caution || s.reason);
  const head = ["series", flat(spec?.x.label ?? "x"), flat(spec?.y.label ?? "y"), ...(bars ? ["low", "high"] : []), ...(words ? ["caution"] : [])];
  return [
    head,
    ...series.flatMap((s) =>
      s.x.map((x, i) => [s.label, x, s.y[i], ...(bars ? [s.low?.[i], s.high?.[i]] : []), ...(words ? [s.reason?.[i] || s.caution?.[i] || ""] : [])]),
    ),
  ];
}

function describe(title, spec) {
  const names = spec.series.map((series) => flat(series.label)).join("; ");
  return `${title}: ${flat(spec.y.label)} against ${flat(spec.x.label)}. ${names}. The button "Show as table" gives the values.`;
}

// The chart with its title and legend on one canvas.
async function picture(card, plot, spec, title) {
  const source = plot.ctx.canvas;
  const scale = source.width / plot.width;
  const shown = spec.series.filter((series) => series.label);
  const canvas = el("canvas", { width: source.width, height: source.height + (40 + 18 * shown.length) * scale });
  const ctx = canvas.getContext("2d");
  const { paper, text } = ink();
  ctx.fillStyle = paper;
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.scale(scale, scale);
  ctx.fillStyle = text;
  ctx.font = "600 15px system-ui, sans-serif";
  ctx.fillText(card.node.querySelector("h2").textContent || title, 12, 22);
  ctx.drawImage(source, 0, 30, plot.width, plot.height);
  ctx.font = "12px system-ui, sans-serif";
  shown.forEach((series, i) => {
    const y = plot.height + 44 + 18 * i;
    ctx.strokeStyle = ctx.fillStyle = colour(series.colour, series.faded ? 0.35 : 1);
    ctx.lineWidth = 2;
    ctx.setLineDash(DASHES[series.dash ?? ""] ?? []);
    ctx.beginPath();
    if (series.kind === "points") ctx.arc(24, y - 4, 3.5, 0, 7), ctx.fill();
    else ctx.moveTo(12, y - 4), ctx.lineTo(36, y - 4), ctx.stroke();
    ctx.fillStyle = text;
    ctx.fillText(flat(series.label), 44, y);
  });
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}
