// Trials: how long they will take, start and cancel, and points that keep the parameters they were made with.

import { box } from "./controls.js";
import { el, number } from "./dom.js";
import { inputsOf } from "./inputs.js";
import { createLive, report } from "./live.js";

// What the points belong to, whatever the controls show later.
const TRAINED = ["solver", "ridge", "steps", "passes", "step", "batch", "momentum", "noise", "features"];
const OF_POINTS = ["inputs", "alpha1", "alpha2", "dimension", "table", "table_name", ...TRAINED];
const REST = 250; // milliseconds without a change after which the time is estimated
const SIZES = { N: "8:256:6", D: "30:3000:5", xi: "30:30000:7" };

export function createSimulation(app, onchange) {
  const batches = []; // {given, cells: Map}
  let running = null;
  let asked = {};
  let resting = 0;
  let first = true;
  let code = null;
  const words = el("p", { class: "estimate", role: "status" });
  const bar = el("progress", { max: 1, value: 0, hidden: true, "aria-label": "Share of the work that is done" });
  const begin = el("button", { type: "button", class: "primary", onclick: run }, "Start");
  const cancel = el("button", { type: "button", hidden: true, onclick: () => running?.abort() }, "Cancel");
  const clear = el("button", { type: "button", hidden: true, onclick: forget }, "Clear points");
  const node = el(
    "form",
    { class: "simulate card", "data-state": "idle", "aria-label": "Simulate", onsubmit: (event) => event.preventDefault() },
    el("header", {}, el("h2", {}, "Simulate")),
    el("p", { class: "lead" }, "Draw data, train the readout, measure the loss. Points have 95 % error bars."),
    el("div", { class: "row" }, box(app, "sizes", "sizes", { placeholder: "usual", help: "4,8,16 or start:stop:count" }), box(app, "seeds", "seeds", { width: "short" }), el("div", { class: "buttons" }, begin, cancel, clear)),
    words,
    bar,
  );
  const card = {
    node,
    status(state, text = "") {
      node.dataset.state = state;
      if (text) words.textContent = text;
    },
  };
  // The estimate has a state of its own; what it refuses is said in the same place.
  const guess = {
    status(state, text = "", key) {
      node.dataset.estimate = state;
      if (key !== undefined) node.dataset.drawn = key;
      if (running) return;
      if (text) words.textContent = text;
      node.classList.toggle("refusing", state === "refused" || state === "gone");
      begin.disabled = state === "refused";
    },
  };
  const estimate = createLive(app, guess, (params) => app.api.values("surface/estimate", params), (found) => {
    code = found.code;
    if (!running) words.textContent = `${found.runs} runs in ${found.cells} cells, about ${duration(found.seconds)}.`;
  });

  async function run() {
    if (running) return;
    running = new AbortController();
    const params = asked;
    const batch = { given: null, cells: new Map() };
    show(true);
    card.status("partial", "Starting…");
    const began = performance.now();
    try {
      const end = await app.api.stream("surface/simulate", params, {
        signal: running.signal,
        onLine(line) {
          if (line.runs) {
            batch.given = Object.fromEntries(OF_POINTS.filter((name) => name in params).map((name) => [name, params[name]]));
            batches.push(batch);
          }
          if (!line.cell) return;
          batch.cells.set(`${line.cell.N}/${line.cell.D}`, line.cell);
          bar.value = line.share;
          const left = ((performance.now() - began) / 1000) * (1 / line.share - 1);
          words.textContent = `${line.runs_done} runs done, about ${duration(left)} left.`;
          soon();
        },
      });
      const count = [...batch.cells.values()].reduce((sum, cell) => sum + cell.seeds, 0);
      card.status(end, end === "done" ? `Done: ${count} runs.` : `Cancelled; ${count} finished runs are kept.`);
    } catch (error) {
      report(app, card, error);
    }
    running = null;
    show(false);
    onchange();
  }

  let waiting = false;
  function soon() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      onchange();
    });
  }

  function show(busy) {
    begin.disabled = busy;
    cancel.hidden = bar.hidden = !busy;
    clear.hidden = busy || !batches.length;
    if (busy) bar.value = 0;
  }

  function forget() {
    batches.length = 0;
    show(false);
    onchange();
  }

  return {
    node,
    // The command and the Python of the trials, where there are any on the chart.
    code: () => (batches.length ? code : null),
    update(state) {
      const moving = state.sizes || SIZES[state.along];
      const sizes = state.along === "N" ? { sim_N: moving, sim_D: state.D } : { sim_N: state.N, sim_D: moving };
      asked = { ...inputsOf(app, state), ...Object.fromEntries(TRAINED.map((name) => [name, state[name]])), ...sizes, seeds: state.seeds };
      // While a slider moves the curves have the machine to themselves.
      clearTimeout(resting);
      if (!running) resting = setTimeout(() => estimate(asked), first ? 0 : REST);
      first = false;
    },
    // The points of every batch; those of other parameters are faded.
    series(params) {
      return batches.flatMap((batch) => pointsOf(batch, params));
    },
  };
}

function pointsOf(batch, params) {
  const faded = OF_POINTS.some((name) => name in params && batch.given[name] !== params[name]);
  const { along } = params;
  const other = along === "N" ? "D" : "N";
  const fixed = params[other].split(",").map(Number);
  const groups = Map.groupBy(batch.cells.values(), (cell) => cell[other]);
  const of = batch.given;
  const about = !faded ? "" : of.inputs === "measured" ? `, of ${of.table_name}` : `, at α₁ = ${of.alpha1}, α₂ = ${of.alpha2}`;
  return [...groups].sort(([a], [b]) => a - b).map(([size, cells]) => {
    const scale = (cell, value) => (value == null ? null : along === "xi" ? value * cell.scale : value);
    const shown = cells.filter((cell) => cell.mean != null).sort((a, b) => a[along] - b[along]);
    const place = fixed.indexOf(size);
    return {
      kind: "points",
      label: `simulated, ${other} = ${number(size)}${about}`,
      x: shown.map((cell) => cell[along]),
      y: shown.map((cell) => scale(cell, cell.mean)),
      low: shown.map((cell) => scale(cell, cell.low)),
      high: shown.map((cell) => scale(cell, cell.high)),
      colour: place < 0 ? null : place,
      faded,
    };
  });
}

function duration(seconds) {
  if (seconds < 1) return "a second";
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return `${Math.ceil(seconds / 60)} min`;
}
