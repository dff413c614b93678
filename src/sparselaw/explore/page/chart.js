// Curves and points by uPlot, from the one shape that the library gives (chart_data.py).

import { createCard } from "./card.js";
import { axis, span } from "./chart_axes.js";
import { DASHES, describe, picture, rows } from "./chart_copies.js";
import { createWords } from "./chart_words.js";
import { el } from "./dom.js";
import { colour, ink, onSchemeChange } from "./palette.js";
import uPlot from "./vendor/uplot.js";

const HEIGHT = 360;
const SHORT = 290; // on a phone

export function createChart(title, name) {
  let spec = null;
  let answer = null;
  let plot = null;
  let built = "";
  let parts = []; // what is drawn: a cautious curve is two series, one of them dashed
  let lines = []; // those that uPlot draws; points are ours, since uPlot keeps one for each x
  const words = createWords();
  const card = createCard(title, {
    name,
    png: () => picture(card, plot, spec, title),
    rows: () => rows(spec),
    json: () => answer,
    code: () => answer?.code,
  });
  const area = el("div", { class: "area", role: "img", "aria-label": `${title}: not drawn yet` });
  card.plot.append(area, ...words.below);
  card.extra.append(...words.extra);

  function draw(nextSpec, nextAnswer = answer) {
    spec = nextSpec;
    answer = nextAnswer;
    parts = spec.series.flatMap(split);
    if (spec.y.log) for (const part of parts) part.y = part.y.map((y) => (y > 0 ? y : null));
    lines = parts.filter((part) => part.kind === "line");
    const tables = lines.map((part) => [part.x, part.y]);
    const data = tables.length ? uPlot.join(tables, tables.map(() => [0, 2])) : [span(parts, "x", spec.x.log, 1)];
    const key = JSON.stringify([spec.x, spec.y, parts.map((p) => [p.kind, p.colour, p.dash, p.faded])]);
    if (plot && key === built) plot.setData(data);
    else {
      plot?.destroy();
      plot = new uPlot(options(), data, area);
      built = key;
    }
    area.setAttribute("aria-label", describe(title, spec));
    words.write(spec, spec.y.log && parts.length > 0 && parts.every((part) => part.y.every((y) => y == null)));
  }

  function options() {
    const width = Math.max(area.clientWidth, 260);
    return {
      width,
      height: width < 480 ? SHORT : HEIGHT,
      padding: [14, 24, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
      scales: {
        x: { time: false, distr: spec.x.log ? 3 : 1, range: () => span(parts, "x", spec.x.log, 1) },
        y: { distr: spec.y.log ? 3 : 1, range: () => span(parts, "y", spec.y.log, 1.25) },
      },
      axes: [axis(spec.x, 32), axis(spec.y, 62)],
      series: [{}, ...lines.map(look)],
      hooks: { drawAxes: [bands], draw: [bars, dots, uprights], setCursor: [(u) => words.read(u, spec)] },
    };
  }

  // The band of a curve: along its upper ends and back along the lower ones, in every stretch that has both.
  function bands(u) {
    const { ctx } = u;
    ctx.save();
    for (const part of lines) {
      if (!part.low) continue;
      ctx.fillStyle = colour(part.colour, 0.18);
      for (const stretch of stretches(part)) {
        ctx.beginPath();
        for (const i of stretch) ctx.lineTo(u.valToPos(part.x[i], "x", true), u.valToPos(part.high[i], "y", true));
        for (const i of stretch.reverse()) ctx.lineTo(u.valToPos(part.x[i], "x", true), u.valToPos(part.low[i], "y", true));
        ctx.fill();
      }
    }
    ctx.restore();
  }

  function dots(u) {
    const { ctx } = u;
    ctx.save();
    ctx.lineWidth = devicePixelRatio;
    for (const part of parts) {
      if (part.kind !== "points") continue;
      const own = colour(part.colour, part.faded ? 0.25 : 1);
      ctx.fillStyle = part.faded ? ink().paper : own;
      ctx.strokeStyle = part.large ? ink().paper : own;
      part.x.forEach((value, i) => {
        if (part.y[i] == null) return;
        ctx.beginPath();
        ctx.arc(u.valToPos(value, "x", true), u.valToPos(part.y[i], "y", true), (part.large ? 6.5 : 3.2) * devicePixelRatio, 0, 7);
        ctx.fill();
        ctx.stroke();
      });
    }
    ctx.restore();
  }

  function bars(u) {
    const { ctx } = u;
    ctx.save();
    for (const part of parts) {
      if (!part.low || part.kind !== "points") continue;
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
    ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
    for (const mark of spec.marks ?? []) {
      const x = u.valToPos(mark.at, "x", true);
      if (!(x >= bbox.left && x <= bbox.left + bbox.width)) continue;
      ctx.strokeStyle = colour(mark.colour, 0.75);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
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

// Places of a curve, side by side, where both ends of its band are known.
function stretches(part) {
  const found = [[]];
  part.x.forEach((_, i) => {
    if (part.low[i] != null && part.high[i] != null) found.at(-1).push(i);
    else if (found.at(-1).length) found.push([]);
  });
  return found;
}

// A series in uPlot's words; nothing is rounded to whole pixels, which would make stairs of a gentle slope.
function look(part) {
  const stroke = colour(part.colour, part.faded ? 0.25 : 1);
  return { stroke, pxAlign: 0, width: part.dash === "dotted" ? 1.5 : 2, dash: DASHES[part.dash], points: { show: false } };
}
