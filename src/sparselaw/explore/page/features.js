// Features: drop a matrix, see how sparse it is in the theory's sense, and which theory its learning follows.

import { createChart } from "./chart.js";
import { dropZone, el, maths, number } from "./dom.js";
import { report } from "./live.js";
import { block, ends, notes, percent, tableOf } from "./tables.js";

const CHARTS = { seen: "Features seen", unseen: "Variance never shown", alpha1: "Local exponent" };
const LEARNING = { learned: "Loss against rows", widths: "Loss against model size" };

export const features = {
  id: "features",
  title: "Features",
  inputs: () => false,
  defaults: { binary: "0" },
  create(app) {
    let working = null;
    let last = null; // what was measured last: a file, or null for the sample
    let binary = "0";
    const said = el("p", { class: "said", role: "status" });
    const cancel = el("button", { type: "button", hidden: true, onclick: () => working?.abort() }, "Cancel");
    const summary = block("What was measured");
    const verdict = block("Which theory describes it");
    const chartsOf = (titles) => Object.fromEntries(Object.entries(titles).map(([name, title]) => [name, createChart(title, `features-${name}`)]));
    const nodesOf = (charts) => Object.values(charts).map((chart) => chart.node);
    const [charts, learning] = [chartsOf(CHARTS), chartsOf(LEARNING)];
    const learnt = el("div", { class: "results", hidden: true }, verdict.node, ...nodesOf(learning));
    const ask = el("button", { type: "button", onclick: () => work("learn", last.given) }, "Compare its learning curve with the theories");
    const shown = el("div", { class: "results", hidden: true }, summary.node, ...nodesOf(charts));
    const more = el("div", { class: "row", hidden: true }, ask);

    const onoff = el("input", { type: "checkbox", id: "features-binary" });
    onoff.addEventListener("change", () => app.state.set({ binary: onoff.checked ? "1" : "0" }));
    const help = ["A row for each sample: scipy .npz, .npy, .mtx, svmlight, triplets in CSV or Parquet, transactions, plain text."];
    const zone = dropZone(
      "features-file", "Drop a matrix of features here, or choose a file", (given) => work("measure", given), null, help,
      el("div", { class: "check" }, onoff, el("label", { for: "features-binary" }, "whether active only, not how large")),
      el("button", { type: "button", onclick: () => work("measure", null) }, "Measure Python's own library"),
    );

    function status(state, words = "") {
      node.dataset.state = state;
      said.textContent = words;
    }

    async function work(question, given) {
      working?.abort();
      const mine = (working = new AbortController());
      last = { given };
      binary = app.state.get().binary;
      cancel.hidden = false;
      learnt.hidden = true;
      if (question === "measure") more.hidden = true;
      status("computing", "reading");
      const params = { binary, ...(given ? { file_name: given.name } : { sample: "1" }) };
      try {
        const how = await app.api.stream(`features/${question}`, params, { body: given ?? "", signal: mine.signal, onLine: (line) => working === mine && add(question, line) });
        if (working === mine) status(how, how === "cancelled" ? "cancelled" : "");
      } catch (error) {
        if (working !== mine) return;
        if (question === "measure") shown.hidden = true;
        report(app, { status }, error);
      } finally {
        if (working === mine) cancel.hidden = true;
      }
    }

    function add(question, line) {
      if (line.reading) status("computing", `${question === "learn" ? "learning" : "measuring"} ${line.reading}`);
      if (line.measured) showMeasured(line);
      if (line.learned) showLearned(line);
    }

    function drawAll(drawn, line, about) {
      for (const [name, chart] of Object.entries(drawn)) {
        chart.node.hidden = !line.charts[name];
        if (chart.node.hidden) continue;
        chart.draw(line.charts[name], { chart: line.charts[name], code: line.code, ...about });
        chart.status("done");
      }
    }

    function showLearned(line) {
      learnt.hidden = false;
      verdict.body.replaceChildren(notes(line.learned.sentences, maths));
      drawAll(learning, line, { learned: line.learned });
    }

    function showMeasured(line) {
      const found = line.measured;
      node.dataset.binary = binary;
      shown.hidden = more.hidden = false;
      const rows = [
        ["rows", number(found.rows), ""],
        ["features seen", number(found.seen), ""],
        ["features never active", number(found.dead), found.dead ? `frequency below ${number(found.dead_limit, 2)} each` : ""],
        ["active features of a row", number(found.nonzeros_per_row), ""],
        ["alpha1", found.alpha1 ? number(found.alpha1.best) : "–", found.alpha1 ? ends(found.alpha1) : found.alpha1_reason],
        ["eta, the amplitude law", found.eta ? number(found.eta.best) : "–", found.eta ? ends(found.eta) : found.eta_reason],
        [`variance that ${number(found.curve.at(-1).D)} rows do not show`, percent(found.curve.at(-1).unseen?.best), ends(found.curve.at(-1).unseen)],
      ];
      summary.body.replaceChildren(
        el("p", { class: "lead" }, `${found.source}: regime ${found.regime}.`),
        tableOf("What was measured", ["quantity", "value", "95 % interval, or why not"], rows),
        notes(found.sentences, maths),
      );
      drawAll(charts, line, { measured: found });
    }

    const node = el("div", { "data-state": "idle", "data-view": "features" }, zone, said, el("div", { class: "row" }, cancel), shown, more, learnt);
    return {
      node,
      update(state) {
        onoff.checked = state.binary === "1";
        if (last && state.binary !== binary) work("measure", last.given);
      },
    };
  },
};
