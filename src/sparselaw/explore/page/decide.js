// Which runs to make next, and which of two recipes is better: two tabs of Your runs.

import { createChart } from "./chart.js";
import { box, settingsOf } from "./controls.js";
import { el, loss, maths, number, size, takeDrops } from "./dom.js";
import { createLive, report } from "./live.js";
import { block, ends, notes, percent, TABLES, tableOf } from "./tables.js";

const FLOP = { placeholder: "usual", help: "in FLOP, by 6 N D" };

export function createNext(app) {
  const chart = createChart("The next runs among the budgets", "next");
  const runs = block("Runs to make next");
  const answers = el("div", { class: "results", hidden: true }, chart.node, runs.node);
  const settings = settingsOf("Next runs",
    box(app, "next_budget", "for the forecast at compute", { ...FLOP, help: "usual: ten times the most expensive run" }),
    box(app, "next_spend", "to spend", { ...FLOP, help: "usual: a tenth of the budget, or the least that helps" }),
    box(app, "next_runs", "at most", { width: "short", help: "runs" }),
  );
  const ask = createLive(app, chart, (given, signal) => app.api.values("runs/next", given, signal), (found) => {
    chart.draw(found.chart, found);
    const rows = found.next.runs.map((run, i) => [i + 1, size(run.N), size(run.D), number(run.cost, 3), percent(run.width_alone), percent(run.width_after)]);
    runs.body.replaceChildren(
      el("p", { class: "lead" }, ...maths(`${found.words}.`)),
      tableOf("Runs to make next", ["run", "N", "D", "cost", "width after it alone", "after it and those above"], rows),
      notes(found.next.warnings),
    );
  });
  return {
    node: el("div", { class: "results" }, settings, answers),
    update(state) {
      answers.hidden = !app.table;
      const { next_budget, next_spend, next_runs } = state;
      if (app.table) ask({ ...app.table, next_budget, next_spend, next_runs });
    },
  };
}

export function createCompare(app) {
  const tables = { a: null, b: null }; // key and name of each
  const said = el("p", { class: "said", role: "status" });
  const names = { a: el("strong", {}, "none yet"), b: el("strong", {}, "none yet") };
  const inputs = ["a", "b"].map((side) => {
    const file = el("input", { type: "file", id: `compare-${side}`, accept: TABLES });
    file.addEventListener("change", () => file.files[0] && take(side, file.files[0]));
    return el("div", { class: "box" }, el("label", { for: `compare-${side}` }, `Recipe ${side.toUpperCase()}: `, names[side]), file);
  });
  const zone = el(
    "div",
    { class: "zone" },
    el("p", {}, "Drop two tables of runs here, one for each recipe, or choose them"),
    ...inputs,
    el("small", {}, "Each as for one table: N, D and loss. They stay on this machine."),
    el("button", { type: "button", onclick: () => samples() }, "Use two sample tables"),
  );
  takeDrops(zone, (first, second) => (second ? both(first, second) : take(tables.a && !tables.b ? "b" : "a", first)));
  const frontiers = createChart("Best loss of each recipe", "frontiers");
  const multiplier = createChart("What one saves", "multiplier");
  const answer = block("Which is better");
  const answers = el("div", { class: "results", hidden: true }, frontiers.node, answer.node, multiplier.node);
  const settings = settingsOf("Two recipes",
    box(app, "compare_budget", "compute C", { ...FLOP, help: "usual: ten times the most expensive run" }),
  );

  const ask = createLive(app, frontiers, (given, signal) => app.api.values("runs/compare", given, signal), (found) => {
    for (const [name, chart] of Object.entries({ frontiers, multiplier })) {
      chart.draw(found.charts[name], { ...found, chart: found.charts[name] });
      if (chart !== frontiers) chart.status("done");
    }
    const [point] = found.compared.points;
    const [a, b] = found.compared.recipes;
    const rows = [
      [`loss of ${a}`, loss(point.losses[0].best), ends(point.losses[0], loss)],
      [`loss of ${b}`, loss(point.losses[1].best), ends(point.losses[1], loss)],
      [`${a} − ${b}`, number(point.difference.best), ends(point.difference)],
      [`compute of ${b} for the loss of ${a}, over that of ${a}`, number(point.multiplier.best, 3), ends(point.multiplier)],
    ];
    const crossing = found.compared.crossing;
    answer.body.replaceChildren(
      el("p", { class: "story" }, `${found.words[0]}.`),
      el("p", { class: "lead" }, `At ${number(point.budget, 3)} FLOP, each at its own best N and D. Probability that ${a} has the lower loss: ${number(point.probability, 2)}.`),
      tableOf("Which is better", ["quantity", "best", "95 % interval"], rows),
      notes([found.words[1], crossing ? `they may cross at ${number(crossing.best, 3)} FLOP (${ends(crossing)})` : "", ...found.compared.warnings]),
    );
  });

  async function read(side, given, params) {
    said.textContent = "reading";
    try {
      await app.api.stream("runs/read", params ?? { file_name: given.name }, {
        body: given ?? "",
        onLine: (line) => {
          tables[side] = { upload: line.upload, name: line.file_name };
          names[side].textContent = `${line.file_name}, ${number(line.rows)} rows`;
        },
      });
      said.textContent = "";
    } catch (error) {
      report(app, { status: (_, words) => (said.textContent = words) }, error);
    }
  }

  const again = () => update(app.state.get());
  const take = (side, given) => read(side, given).then(again);
  const both = (first, second) => read("a", first).then(() => read("b", second)).then(again);
  const samples = () => read("a", null, { sample: "1" }).then(() => read("b", null, { sample: "2" })).then(again);

  function update(state) {
    answers.hidden = !tables.a || !tables.b;
    if (answers.hidden) return;
    ask({ upload_a: tables.a.upload, name_a: tables.a.name, upload_b: tables.b.upload, name_b: tables.b.name, compare_budget: state.compare_budget });
  }

  return { node: el("div", { class: "results" }, zone, said, settings, answers), update };
}
