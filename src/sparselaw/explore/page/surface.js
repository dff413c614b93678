// Loss surface: against N, against D, or collapsed; with trials beside the curves.

import { createChart } from "./chart.js";
import { box, choice, settingsOf } from "./controls.js";
import { el } from "./dom.js";
import { createFeatureCurves } from "./feature_curves.js";
import { inputsOf } from "./inputs.js";
import { createLive, draftFirst, leadingFirst } from "./live.js";
import { createSimulation } from "./simulation.js";
import { menu } from "./tables.js";

const ALWAYS = ["along", "solver", "noise"];
const OF_SOLVER = { "min-norm": ["ridge", "surface"], gd: ["steps", "step", "momentum"], sgd: ["passes", "step", "batch", "momentum"] };
const TITLES = { N: "Loss against model size N", D: "Loss against samples D", xi: "Collapse: every size on one curve" };

export const surface = {
  id: "surface",
  title: "Loss surface",
  defaults: { along: "N", D: "500,5000,50000", N: "16,64,256", low: "", high: "", solver: "min-norm", ridge: "0", steps: "100", passes: "1", step: "", batch: "1", momentum: "", noise: "0", surface: "sharp", features: "linear", sizes: "", seeds: "8" },
  create(app) {
    const chart = createChart(TITLES.N, "surface");
    let curves = null;
    let params = {};
    const simulation = createSimulation(app, () => redraw());
    const nonlinear = createFeatureCurves(app, () => redraw());
    const ask = createLive(app, chart, (given, signal) => app.api.values("surface", given, signal), (found, given) => {
      curves = found;
      params = given;
      redraw();
    }, sketch);

    function redraw() {
      if (!curves) return;
      chart.title(TITLES[params.along]);
      const codes = [curves.code, nonlinear.code(), simulation.code()].filter(Boolean);
      const code = { shell: codes.map((one) => one.shell).join("\n"), python: codes.map((one) => one.python).join("\n\n") };
      const others = nonlinear.series();
      const own = others.length ? curves.chart.series.map(beside) : curves.chart.series;
      chart.draw({ ...curves.chart, series: [...own, ...others, ...simulation.series(params)], notes: [...nonlinear.notes(), ...curves.chart.notes.filter((words) => !others.length || words.startsWith("gap"))] }, { ...curves, code });
    }

    const fixed = { D: box(app, "D", "fixed D", LIST), N: box(app, "N", "fixed N", LIST) };
    const span = el("div", { class: "row" }, box(app, "low", "from", { placeholder: "by itself", width: "short" }), box(app, "high", "to", { placeholder: "by itself", width: "short" }));
    const trained = {
      surface: choice(app, "surface", "Surface", [["sharp", "sharp"], ["leading", "leading"]]),
      ridge: box(app, "ridge", "ridge", { width: "short" }),
      steps: box(app, "steps", "steps", { width: "short" }),
      passes: box(app, "passes", "passes", { width: "short" }),
      step: box(app, "step", "step size", { placeholder: "stable", width: "short" }),
      batch: box(app, "batch", "batch", { width: "short" }),
      momentum: box(app, "momentum", "momentum", { placeholder: "0", width: "short" }),
    };
    const settings = settingsOf("The surface",
      choice(app, "along", "Loss against", [["N", "N"], ["D", "D"], ["xi", "xi (collapse)"]]),
      fixed.D,
      fixed.N,
      span,
      choice(app, "solver", "Trained", [["min-norm", "to the end"], ["gd", "by steps"], ["sgd", "by passes"]]),
      ...Object.values(trained),
      menu(app, "features", "features", FEATURES),
      box(app, "noise", "label noise", { width: "short" }),
    );
    return {
      node: el("div", {}, settings, nonlinear.node, chart.node, simulation.node),
      update(state) {
        fixed.D.hidden = state.along !== "N";
        fixed.N.hidden = state.along === "N";
        span.hidden = state.along === "xi";
        const own = OF_SOLVER[state.solver] ?? [];
        for (const [name, control] of Object.entries(trained)) control.hidden = !own.includes(name);
        const names = [...ALWAYS, ...own, state.along === "N" ? "D" : "N", ...(state.along === "xi" ? [] : ["low", "high"])];
        ask({ ...inputsOf(app, state), ...Object.fromEntries(names.map((name) => [name, state[name]])) });
        simulation.update(state);
        const asked = { ...inputsOf(app, state), features: state.features, along: state.along, D: state.D, N: state.N, low: state.low, high: state.high, solver: state.solver, ridge: state.ridge, noise: state.noise };
        nonlinear.update(state.features === "linear" ? null : asked);
      },
    };
  },
};

// Along N, trained to the end, the leading surface answers at once.
function sketch(params) {
  return params.along === "N" && params.solver === "min-norm" ? leadingFirst(params) : draftFirst(params);
}

// Linear features as what the others are compared with.
function beside(series) {
  return series.kind === "points" ? series : { ...series, label: `linear, ${series.label}`, dash: "dotted", caution: undefined };
}

const FEATURES = [
  ["linear", "linear"],
  ["relu", "ReLU"],
  ["leaky-relu", "leaky ReLU"],
  ["gelu", "GELU"],
  ["tanh", "tanh"],
  ["erf", "erf"],
  ["sign", "sign"],
  ["abs", "absolute value"],
];
const LIST = { help: "up to four, by commas" };
