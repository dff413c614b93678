// Phase: a point of the diagram, its regime and its exponents with their formulas.

import { createCard } from "./card.js";
import { createChart } from "./chart.js";
import { el, flat, maths, number } from "./dom.js";
import { inputsOf } from "./inputs.js";
import { createLive } from "./live.js";
import { createDiagram } from "./diagram.js";

export const phase = {
  id: "phase",
  title: "Phase",
  create(app) {
    let answer = null;
    const diagram = createDiagram((alpha1, alpha2) => app.state.set({ alpha1, alpha2 }));
    const card = createCard("Where these inputs lie", {
      name: "phase",
      png: () => diagram.png(),
      rows: () => [["quantity", "value", "formula"], ...quantities(answer).map(([name, value, formula]) => [name, value, flat(formula)])],
      json: () => answer,
      code: () => answer?.code,
    });
    card.plot.append(diagram.node);
    const story = el("p", { class: "story", "aria-live": "polite" });
    const list = el("dl", { class: "quantities" });
    const chart = createChart("What more of either buys", "limits");

    const both = {
      status(state, words, key) {
        if (state === "refused") answer = null; // what was said of another point does not hold here
        card.status(state, words, key);
        chart.status(state);
        if (state !== "refused") return;
        chart.node.hidden = !chart.spec();
        story.replaceChildren("No power law holds here: the line below the diagram says why.");
        list.replaceChildren(...quantities(null).flatMap(row));
      },
    };
    const ask = createLive(app, both, (params) => app.api.values("phase", params), (found) => {
      answer = found;
      story.replaceChildren(...tell(found));
      list.replaceChildren(...quantities(found).flatMap(row));
      chart.node.hidden = false;
      chart.draw(found.chart, found);
    });
    return {
      node: el("div", {}, story, el("div", { class: "pair" }, card.node, el("section", { class: "card side", "aria-label": "Exponents" }, el("header", {}, el("h2", {}, "Exponents")), list)), chart.node),
      update(state) {
        diagram.point(Number(state.alpha1), Number(state.alpha2));
        ask(inputsOf(app, state));
      },
    };
  },
};

// The paper's story in a sentence, with the numbers of this point.
function tell(found) {
  const parameters = el("strong", {}, `${number(10 ** found.alpha_N, 2)}`);
  const data = el("strong", {}, `${number(10 ** found.alpha_D, 2)}`);
  if (found.regime === "gd-failure") {
    return [
      "Rare features are strong here. Ten times the parameters divide the loss by ", parameters, ", ten times the data by ", data,
      ", and gradient descent with a fixed step can diverge: with a probability that falls as ", ...maths(`D^{−${number(found.nu, 3)}}`), ".",
    ];
  }
  if (found.regime === "symmetric") {
    return ["Every feature is seen often. Ten times the parameters divide the loss by ", parameters, ", and so do ten times the data: both count alike."];
  }
  return ["Rare features wait to be seen. Ten times the parameters divide the loss by ", parameters, ", ten times the data only by ", data, "."];
}

const REGIMES = { symmetric: "symmetric", asymmetric: "asymmetric", "gd-failure": "gradient descent can fail" };

function quantities(found) {
  if (!found) return ["regime", "alpha_N", "alpha_D", "alpha_C", "xi_crit", "nu"].map((name) => [name, "–", ""]);
  const asymmetric = found.alpha_D !== found.alpha_N;
  return [
    ["regime", REGIMES[found.regime], "by the signs of alpha1 and alpha2 + 1"],
    ["alpha_N", number(found.alpha_N), "alpha1 + alpha2 + 1: loss ~ N^{−alpha_N}"],
    ["alpha_D", number(found.alpha_D), asymmetric ? "alpha_N / (alpha1 + 1): loss ~ D^{−alpha_D}" : "alpha_N: loss ~ D^{−alpha_D}"],
    ["alpha_C", number(found.alpha_C), asymmetric ? "alpha_N / (alpha1 + 3): best loss ~ C^{−alpha_C}" : "alpha_N / 3: best loss ~ C^{−alpha_C}"],
    ["xi_crit", number(found.xi_crit), asymmetric ? "1 / Gamma(alpha1 / (1 + alpha1)): the double-descent peak" : "1: the double-descent peak at N = D"],
    ["nu", number(found.nu), found.nu == null ? "none: amplitudes do not grow with j (alpha2 ≥ −1)" : "alpha_N / (−alpha2 − 1): P(divergence) ~ D^{−nu}"],
  ];
}

function row([name, value, formula]) {
  return [el("dt", {}, ...maths(name)), el("dd", { class: "value", "data-quantity": name }, value), el("dd", { class: "formula" }, ...maths(formula))];
}
