// A chart in other forms: rows of a table, a sentence for those who cannot see it, a picture with its legend.

import { el, flat } from "./dom.js";
import { colour, ink } from "./palette.js";

export const DASHES = { "": [], dashed: [7, 5], dotted: [2, 4] };

export function rows(spec) {
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

export function describe(title, spec) {
  const names = spec.series.map((series) => flat(series.label)).join("; ");
  return `${title}: ${flat(spec.y.label)} against ${flat(spec.x.label)}. ${names}. The button "Show as table" gives the values.`;
}

// The chart with its title and legend on one canvas.
export async function picture(card, plot, spec, title) {
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
