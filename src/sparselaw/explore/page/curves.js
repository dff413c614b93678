// Loss curves: drop a log, see its end move as the schedule is dragged.

import { createChart } from "./chart.js";
import { box, settingsOf, slider } from "./controls.js";
import { dropZone, el, loss, number } from "./dom.js";
import { createLive, report } from "./live.js";
import { block, ends, notes, percent, TABLES, tableOf } from "./tables.js";

export const curves = {
  id: "curves",
  title: "Loss curves",
  inputs: () => false,
  defaults: { curve_decay: "0.2", curve_end: "0.1", curve_steps: "" },
  create(app) {
    let log = null; // what the server understood of the file
    const said = el("p", { class: "said", role: "status" });
    const summary = block("The runs");
    const answer = el("p", { class: "lead", role: "status" });
    const chart = createChart("Loss to the end of the schedule", "curves");
    const sample = el("button", { type: "button", onclick: () => read(null) }, "Use the sample log");
    const help = ["One row for each logged step: run, step, lr and loss."];
    const zone = dropZone("curves-file", "Drop a log of training here, or choose a file", read, TABLES, help, sample);
    const settings = settingsOf("Schedule",
      slider(app, "curve_decay", "decay", { min: 0.02, max: 1, step: 0.01, help: "share of the steps in which the rate falls" }),
      slider(app, "curve_end", "last rate", { min: 0, max: 1, step: 0.01, help: "over the peak rate" }),
      box(app, "curve_steps", "steps", { width: "short", placeholder: "usual", help: "of the whole run; usual: as the longest" }),
    );
    const shown = el("div", { class: "results", hidden: true }, settings, answer, chart.node, summary.node);
    const ask = createLive(app, chart, (given) => app.api.values("curves/end", given), (found) => {
      const { final } = found;
      answer.textContent = `${found.schedule}: final loss ${loss(final.best)} (95 %: ${ends(final, loss)})`;
      chart.draw(found.chart, found);
    });

    function status(state, words = "") {
      node.dataset.state = state;
      said.textContent = words;
    }

    async function read(given) {
      status("computing", "reading");
      log = null;
      try {
        const params = given ? { file_name: given.name } : { sample: "1" };
        await app.api.stream("curves/read", params, { body: given ?? "", onLine: (line) => (log = line) });
        understood();
        status("done");
      } catch (error) {
        shown.hidden = true;
        report(app, { status }, error);
      }
    }

    function understood() {
      shown.hidden = false;
      const rows = log.curves.map((one) => [one.run, number(one.steps), percent(one.seen), loss(one.loss), loss(one.final.best), ends(one.final, loss)]);
      summary.body.replaceChildren(
        el("p", { class: "lead" }, `${log.title}. Status ${log.status}.`),
        tableOf("The runs", ["run", "steps", "seen", "last loss", "final loss", "95 % interval"], rows),
        notes(log.warnings),
      );
      update(app.state.get());
    }

    function update(state) {
      if (!log) return;
      const { curve_decay, curve_end, curve_steps } = state;
      ask({ upload: log.upload, file_name: log.file_name, curve_decay, curve_end, curve_steps: curve_steps || String(Math.round(log.steps)) });
    }

    const node = el("div", { "data-state": "idle", "data-view": "curves" }, zone, said, shown);
    return { node, update };
  },
};
