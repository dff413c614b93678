// Plain tables and lists of what the library says.

import { el, maths, number, size } from "./dom.js";

export const TABLES = ".csv,.tsv,.txt,.json,.jsonl,.parquet,.xlsx,.gz"; // files of runs and logs

// Cells may have formulas; with `plain` they are shown as they are.
export function tableOf(caption, head, rows, plain = false) {
  const shown = (cell) => (cell instanceof Node ? [cell] : plain ? [String(cell ?? "")] : maths(String(cell ?? "–")));
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": `${caption}: values` },
    el(
      "table",
      {},
      el("thead", {}, el("tr", {}, ...head.map((name) => el("th", { scope: "col" }, ...shown(name))))),
      el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((cell) => el("td", {}, ...shown(cell)))))),
    ),
  );
}

// An interval {low, best, high}; its ends may be missing. `shown` writes a value.
export function ends(value, shown = number) {
  if (!value || value.low == null || value.high == null || value.low === value.high) return "–";
  return `${shown(value.low)} to ${shown(value.high)}`;
}

// The same for parameters and tokens: 57M to 2.1B.
export const sizeEnds = (value) => ends(value, size);

export function percent(value) {
  return value == null ? "–" : `${number(100 * value, 3)} %`;
}

// The formula of a law, as the library writes it: N^-alpha, D^-beta.
export function formula(text) {
  return text.replace(/\^\(([^)]*)\)/g, "^{$1}").replace(/\^(-?\w+)/g, (_, power) => `^{${power.replace("-", "−")}}`).replace(/\bbeta\b/g, "β");
}

// A section like a card, without a chart.
export function block(title, ...children) {
  const body = el("div", { class: "block" }, ...children);
  const node = el("section", { class: "card", "aria-label": title }, el("header", {}, el("h2", {}, title)), body);
  return { node, body };
}

// The same, closed until somebody opens it.
export function folded(title) {
  const body = el("div", { class: "block" });
  const node = el("section", { class: "card", "aria-label": title }, el("details", {}, el("summary", {}, el("h2", {}, title)), body));
  return { node, body };
}

// A list of sentences; `shown` may make formulas of them.
export const notes = (words, shown = (one) => [one]) => el("ul", { class: "notes" }, ...words.filter(Boolean).map((one) => el("li", {}, ...shown(one))));

// A menu whose choice is part of the state.
export function menu(app, name, label, options) {
  const id = `menu-${name}`;
  const select = el("select", { id }, ...options.map(([value, words]) => el("option", { value }, words)));
  select.addEventListener("change", () => app.state.set({ [name]: select.value }));
  app.state.subscribe((state) => {
    select.value = state[name];
  });
  return el("div", { class: "box", "data-control": name }, el("label", { for: id }, label), select);
}
