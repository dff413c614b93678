// What a chart says in words: its legend, its marks, the values under the pointer, its notes.

import { along, el, maths, number } from "./dom.js";
import { colour } from "./palette.js";

const FEW_NOTES = 4;
const NOTHING = "Nothing can be drawn on a logarithmic axis: every value is zero or missing.";

export function createWords() {
  const legend = el("ul", { class: "legend" });
  const marked = el("ul", { class: "marks" });
  const readout = el("p", { class: "readout" });
  const notes = el("ul", { class: "notes" });
  const more = el("details", { hidden: true });
  let written = ""; // elements stay as they are while their words do

  function write(spec, empty) {
    const key = JSON.stringify([spec.series.map((s) => [s.label, s.kind, s.dash, s.colour, s.faded, !s.low]), spec.marks, spec.notes, empty, colour(0)]);
    if (key === written) return;
    written = key;
    const shown = spec.series.filter((series) => series.label);
    legend.replaceChildren(
      ...shown.map((series) => entry(`${series.kind} ${series.dash ?? ""}${series.low && series.kind === "line" ? " band" : ""}`, series.colour, series.faded ? 0.35 : 1, maths(series.label))),
    );
    marked.replaceChildren(...(spec.marks ?? []).map((mark) => entry("upright", mark.colour, 1, [...maths(mark.label), ` at ${along(spec.x, mark.at)}`])));
    readout.replaceChildren();
    const said = [...(empty ? [NOTHING] : []), ...(spec.notes ?? [])].map((note) => el("li", {}, ...maths(note)));
    const rest = said.splice(FEW_NOTES);
    notes.replaceChildren(...said);
    more.hidden = !rest.length;
    more.replaceChildren(el("summary", {}, `${rest.length} more`), el("ul", { class: "notes" }, ...rest));
  }

  // The values under the pointer, one for each series, and the words of caution there.
  function read(u, spec) {
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
      found.push(el("span", {}, dot, ` at ${along(spec.x, series.x[i])}`, words ? ` (${words})` : ""));
    }
    readout.replaceChildren(...found);
  }

  return { below: [legend, marked, readout], extra: [notes, more], write, read };
}

function entry(look, colourOf, opacity, words) {
  const swatch = el("span", { class: `swatch ${look}` });
  swatch.style.color = colour(colourOf);
  swatch.style.opacity = opacity;
  return el("li", {}, swatch, el("span", {}, ...words));
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
