// Failure: the exact spike at once, the bulk of the data by sampling, point after point.

import { createChart } from "./chart.js";
import { box, settingsOf } from "./controls.js";
import { el, number } from "./dom.js";
import { inputsOf } from "./inputs.js";
import { createLive, report } from "./live.js";

const KEYS = ["threshold", "step", "failure_D"];

export const failure = {
  id: "failure",
  title: "Failure",
  defaults: { threshold: "", step: "", failure_D: "10:10000:13" },
  create(app) {
    const chart = createChart("Probability that gradient descent diverges", "failure");
    let spike = null;
    let rows = [];
    let belongs = "";
    let running = null;
    const asked = (state) => ({ ...inputsOf(app, state), ...Object.fromEntries(KEYS.map((name) => [name, state[name]])) });
    const key = (state) => new URLSearchParams(asked(state)).toString();
    const said = el("p", { class: "estimate", role: "status" });
    const bar = el("progress", { max: 1, value: 0, hidden: true, "aria-label": "sampled so far" });
    const begin = el("button", { type: "button", class: "primary", onclick: () => run() }, "Sample the bulk");
    const end = el("button", { type: "button", hidden: true, onclick: () => running?.abort() }, "Cancel");
    const ask = createLive(app, chart, (given) => app.api.values("failure", given), (found) => {
      spike = found;
      redraw();
      said.dataset.step = found.step;
    });

    function redraw() {
      if (!spike) return;
      const faded = belongs !== key(app.state.get());
      const shown = rows.filter((row) => row.probability.best > 0 || row.probability.high < 1);
      const series = [...spike.chart.series];
      if (shown.length) {
        series.push({
          kind: "points",
          label: "all failures, sampled (95 %)",
          x: shown.map((row) => row.D),
          y: shown.map((row) => row.probability.best),
          low: shown.map((row) => row.probability.low || null),
          high: shown.map((row) => row.probability.high),
          colour: 1,
          faded,
        });
      }
      const notes = rows.filter((row) => row.status !== "ok").map((row) => `D = ${number(row.D)}: ${row.status_reason ?? row.status}`);
      chart.draw({ ...spike.chart, series, notes: [...spike.chart.notes, ...(faded ? [] : notes)] }, { ...spike, points: rows });
    }

    async function run() {
      const given = asked(app.state.get());
      rows = [];
      belongs = key(app.state.get());
      running = new AbortController();
      begin.hidden = true;
      end.hidden = bar.hidden = false;
      bar.value = 0;
      let count = 0;
      said.textContent = "sampling";
      node.dataset.bulk = "computing";
      try {
        const how = await app.api.stream("failure/bulk", given, {
          signal: running.signal,
          onLine(line) {
            if (line.points) count = line.points;
            if (line.point) {
              rows = [...rows, line.point].sort((a, b) => a.D - b.D);
              bar.value = line.done / count;
              said.textContent = `${line.done} of ${count} sizes sampled`;
              node.dataset.bulk = "partial";
              redraw();
            }
          },
        });
        node.dataset.bulk = how;
        said.textContent = how === "done" ? `sampled at ${rows.length} sizes` : `cancelled after ${rows.length} of ${count || "?"} sizes`;
      } catch (error) {
        node.dataset.bulk = "refused";
        said.textContent = "";
        report(app, chart, error);
      } finally {
        running = null;
        begin.hidden = false;
        end.hidden = bar.hidden = true;
      }
    }

    const settings = settingsOf("Failure",
      box(app, "threshold", "threshold", { width: "short", placeholder: "2", help: "2 / step" }),
      box(app, "step", "or step", { width: "short", placeholder: "1" }),
      box(app, "failure_D", "samples D", { help: "a list, or from:to:count" }),
      el("div", { class: "buttons" }, begin, end),
    );
    const lead = el("p", { class: "lead" }, "Descent with a fixed step diverges when the largest eigenvalue of the data exceeds 2 / step. One rare strong activation can do it alone: that part is exact.");
    const node = el("div", {}, lead, settings, bar, said, chart.node);
    return {
      node,
      update(state) {
        const given = asked(state);
        ask(given);
        redraw();
      },
    };
  },
};
