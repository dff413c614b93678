// Budget: the valley of one budget, its best N and D on both sides of the peak, what a wrong N costs, the frontier.

import { createChart } from "./chart.js";
import { box, choice, settingsOf } from "./controls.js";
import { el, loss, maths, number, size } from "./dom.js";
import { inputsOf } from "./inputs.js";
import { createLive, draftFirst, leadingFirst } from "./live.js";
import { block, ends, menu, percent, sizeEnds, tableOf } from "./tables.js";

const COSTS = [
  ["", "usual: N D min(N, D), or 6 N D for runs"],
  ["direct", "direct: N D min(N, D)"],
  ["6nd", "6 N D"],
  ["gd", "gradient descent: N D κ"],
  ["accelerated", "accelerated: N D √κ"],
  ["cheapest", "the cheapest of direct, gd, accelerated"],
];

const PAUSE = 120; // milliseconds

export const budget = {
  id: "budget",
  title: "Budget",
  inputs: (state) => state.from !== "runs",
  defaults: { budget: "", cost: "", from: "theory" },
  create(app) {
    const valley = createChart("Loss along the budget", "valley");
    const frontier = createChart("The frontier", "frontier");
    const best = block("The best N and D");
    const wrong = block("What a wrong N costs");
    const hint = el("p", { class: "lead" });
    let latest = null;
    const ask = createLive(app, valley, (given, signal) => app.api.values("budget", given, signal), (found) => {
      valley.draw(found.chart, found);
      if (!found.plan) return; // a sketch
      best.body.replaceChildren(...allocation(found.plan));
      wrong.body.replaceChildren(wrongN(found.plan));
    }, sketch);
    const askFrontier = createLive(app, frontier, (given, signal) => app.api.values("budget/frontier", given, signal), (found) => frontier.draw(found.chart, found), leadingFirst);
    const which = choice(app, "surface", "Surface", [["sharp", "sharp"], ["leading", "leading"]]);
    const settings = settingsOf("The budget",
      box(app, "budget", "compute C", { placeholder: "usual", help: "usual: 10^{12}, or ten times the largest run" }),
      menu(app, "cost", "cost of N and D", COSTS),
      choice(app, "from", "From", [["theory", "the theory"], ["runs", "your runs"]]),
      which,
    );
    return {
      node: el("div", {}, settings, hint, valley.node, best.node, wrong.node, frontier.node),
      update(state) {
        const given = { budget: state.budget, cost: state.cost, from: state.from };
        if (state.from === "runs") Object.assign(given, app.table ?? {});
        else Object.assign(given, inputsOf(app, state), { surface: state.surface });
        which.hidden = state.from === "runs";
        hint.textContent = state.from !== "runs" ? "" : app.table ? `By the forecast of the runs in ${app.table.file_name}.` : "No table is here yet: drop one on Your runs.";
        hint.hidden = !hint.textContent;
        latest = given;
        // The valley first: the frontier follows when the slider pauses.
        ask(given).then(() => setTimeout(() => given === latest && askFrontier(given), PAUSE));
      },
    };
  },
};

// The forecast of runs answers at once.
function sketch(params) {
  return params.from === "runs" ? null : draftFirst(params);
}

function allocation(plan) {
  const rows = [
    ["N", size(plan.N.best), sizeEnds(plan.N)],
    ["D", size(plan.D.best), sizeEnds(plan.D)],
    ["D / N", number(plan.tokens_per_parameter.best), ends(plan.tokens_per_parameter)],
    ["loss", loss(plan.loss.best), ends(plan.loss, loss)],
  ];
  const cost = plan.cost === "6nd" ? "6 N D" : plan.cost;
  const by = plan.by ? `By ${plan.by}, cost ${cost}` : `Cost ${cost}`;
  const side = plan.side ? `the best lies at ${plan.side.replace("<", " < ").replace(">", " > ")}` : plan.side_reason;
  const lines = [plan.side || !plan.by ? `${by}: ${side}.` : `${by}.`];
  for (const other of plan.others) lines.push(`On the other side of the peak N = ${size(other.N)}, D = ${size(other.D)} reach ${loss(other.loss)}.`);
  if (plan.alpha_C != null) lines.push(`Best loss ~ C^{−${number(plan.alpha_C)}} for large budgets, C^{−${number(plan.alpha_C_here)}} here.`);
  return [tableOf("The best N and D", ["quantity", "best", "95 % interval"], rows), ...lines.map((words) => el("p", { class: "lead" }, ...maths(words)))];
}

function wrongN(plan) {
  const rows = plan.isoflop.map((row) => [number(row.factor), size(row.N), size(row.D), row.loss == null ? "infinite" : loss(row.loss), percent(row.excess), percent(row.wasted)]);
  return tableOf("What a wrong N costs", ["N / best", "N", "D", "loss", "loss above", "budget wasted"], rows);
}
