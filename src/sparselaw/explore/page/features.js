// Features: drop a matrix, see how sparse it is in the theory's sense.

import { Refused } from "./api.js";
import { createChart } from "./chart.js";
import { el, maths, number } from "./dom.js";
import { report } from "./live.js";
import { block, ends, percent, tableOf } from "./tables.js";

const CHARTS = { seen: "Features seen", unseen: "Energy never shown", alpha1: "Local exponent" };

export const features = {
  id: "features",
  title: "Features",
  defaults: { binary: "0" },
  create(app) {
    let working = null;
    let last = null; // what was measured last: a file, or null for the sample
    let binary = "0";
    const said = el("p", { class: "said", role: "status" });
    const cancel = el("button", { type: "button", hidden: true, onclick: () => working?.abort() }, "Cancel");
    const summary = block("What was measured");
    const charts = Object.fromEntries(Object.entries(CHARTS).map(([name, title]) => [name, createChart(title, `features-${name}`)]));
    const shown = el("div", { class: "results", hidden: true }, summary.node, ...Object.values(charts).map((chart) => chart.node));

    const file = el("input", { type: "file", id: "features-file" });
    file.addEventListener("change", () => file.files[0] && measure(file.files[0]));
    const onoff = el("input", { type: "checkbox", id: "features-binary" });
    onoff.addEventListener("change", () => app.state.set({ binary: onoff.checked ? "1" : "0" }));
    const zone = el(
      "div",
      { class: "zone" },
      el("label", { for: "features-file" }, "Drop a matrix of features here, or choose a file"),
      file,
      el("small", {}, "A row for each sample: scipy .npz, .npy, .mtx, svmlight, triplets in CSV or Parquet, transactions, plain text. It stays on this machine."),
      el("div", { class: "row" }, onoff, el("label", { for: "features-binary" }, "only whether a feature is active, not its size")),
      el("button", { type: "button", onclick: () => measure(null) }, "Measure Python's own library"),
    );
    for (const [name, over] of [["dragover", true], ["dragleave", false], ["drop", false]]) {
      zone.addEventListener(name, (event) => {
        event.preventDefault();
        zone.classList.toggle("over", over);
        if (name === "drop" && event.dataTransfer.files[0]) measure(event.dataTransfer.files[0]);
      });
    }

    function status(state, words = "") {
      node.dataset.state = state;
      said.textContent = words;
    }

    async function measure(given) {
      working?.abort();
      const mine = (working = new AbortController());
      last = { given };
      binary = app.state.get().binary;
      cancel.hidden = false;
      status("computing", "reading");
      const params = { binary, ...(given ? { file_name: given.name } : { sample: "1" }) };
      try {
        const how = await app.api.stream("features/measure", params, { body: given ?? "", signal: mine.signal, onLine: (line) => working === mine && add(line) });
        if (working === mine) status(how, how === "cancelled" ? "cancelled" : "");
      } catch (error) {
        if (working !== mine) return;
        shown.hidden = true;
        if (error instanceof Refused) status("refused", error.message);
        else report(app, { status }, error);
      } finally {
        if (working === mine) cancel.hidden = true;
      }
    }

    function add(line) {
      if (line.reading) status("computing", `measuring ${line.reading}`);
      if (!line.measured) return;
      const found = line.measured;
      node.dataset.binary = binary;
      shown.hidden = false;
      const rows = [
        ["rows", number(found.rows), ""],
        ["features seen", number(found.seen), ""],
        ["features never active", number(found.dead), found.dead ? `frequency below ${number(found.dead_limit, 2)} each` : ""],
        ["active features of a row", number(found.nonzeros_per_row), ""],
        ["alpha1", found.alpha1 ? number(found.alpha1.best) : "–", found.alpha1 ? ends(found.alpha1) : found.alpha1_reason],
        ["eta, the amplitude law", found.eta ? number(found.eta.best) : "–", found.eta ? ends(found.eta) : found.eta_reason],
        [`energy that ${number(found.curve.at(-1).D)} rows do not show`, percent(found.curve.at(-1).unseen?.best), ends(found.curve.at(-1).unseen)],
      ];
      summary.body.replaceChildren(
        el("p", { class: "lead" }, `${found.source}: regime ${found.regime}.`),
        tableOf("What was measured", ["quantity", "value", "95 % interval, or why not"], rows),
        el("ul", { class: "notes" }, ...found.sentences.map((words) => el("li", {}, ...maths(words)))),
      );
      for (const [name, chart] of Object.entries(charts)) {
        chart.draw(line.charts[name], { chart: line.charts[name], code: line.code, measured: found });
        chart.status("done");
      }
    }

    const node = el("div", { "data-state": "idle", "data-view": "features" }, zone, said, el("div", { class: "row" }, cancel), shown);
    return {
      node,
      update(state) {
        onoff.checked = state.binary === "1";
        if (last && state.binary !== binary) measure(last.given);
      },
    };
  },
};
