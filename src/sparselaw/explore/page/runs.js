// Your runs: drop a table, see how it was read, its law at once, intervals as they come, and what follows.

import { Refused } from "./api.js";
import { createChart } from "./chart.js";
import { download, el, maths, number, takeDrops } from "./dom.js";
import { report } from "./live.js";
import { block, ends, formula, menu, tableOf } from "./tables.js";

const ROLES = { N: "model size N", D: "samples D", loss: "loss", C: "compute C" };

export const runs = {
  id: "runs",
  title: "Your runs",
  defaults: { law: "chinchilla" },
  create(app) {
    let table = null; // what the server understood of the file
    let chosen = {}; // columns chosen from the menus: col_N, ...
    let asked = "";
    let working = null;
    const said = el("p", { class: "said", role: "status" });
    const shown = el("div", { class: "results", hidden: true });
    const preview = block("The table");
    const menus = el("div", { class: "row menus" });
    const parameters = block("The law");
    const sparsity = block("Implied sparsity");
    const ahead = block("Forecast and plan");
    const laws = block("Laws side by side");
    const chart = createChart("Residuals", "residuals");
    const which = menu(app, "law", "law to fit", [["chinchilla", "chinchilla"]]);
    const draws = el("p", { class: "draws", role: "status" });
    const bar = el("progress", { max: 1, value: 0, hidden: true, "aria-label": "draws" });
    const cancel = el("button", { type: "button", hidden: true, onclick: () => working?.abort() }, "Cancel");
    const page = el("button", { type: "button", disabled: true, onclick: () => save() }, "Download the report");

    const file = el("input", { type: "file", id: "runs-file", accept: ".csv,.tsv,.txt,.json,.jsonl,.parquet,.xlsx,.gz" });
    file.addEventListener("change", () => file.files[0] && read(file.files[0]));
    const zone = el(
      "div",
      { class: "zone" },
      el("label", { for: "runs-file" }, "Drop a table of runs here, or choose a file"),
      file,
      el("small", {}, "One row for each run: N, D and loss, or C. CSV, JSON, Parquet or Excel. It stays on this machine."),
      el("button", { type: "button", onclick: () => read(null) }, "Use the sample table"),
    );
    takeDrops(zone, read);

    function status(state, words = "") {
      node.dataset.state = state;
      said.textContent = words;
    }

    async function read(given) {
      working?.abort();
      status("computing", "reading");
      chosen = {};
      table = null;
      try {
        const params = given ? { file_name: given.name } : { sample: "1" };
        await app.api.stream("runs/read", params, { body: given ?? "", onLine: (line) => (table = line) });
        understood(table);
      } catch (error) {
        refused(error);
      }
    }

    async function choose(role, name) {
      chosen = { ...chosen, [`col_${role}`]: name };
      try {
        const again = await app.api.values("runs/columns", { upload: table.upload, file_name: table.file_name, ...chosen });
        table = { upload: table.upload, file_name: table.file_name, ...again };
        understood(table);
      } catch (error) {
        refused(error);
      }
    }

    function refused(error) {
      shown.hidden = !table;
      node.dataset.state = "refused";
      if (error instanceof Refused) said.textContent = error.message;
      else report(app, { status: (state, words) => status(state, words) }, error);
    }

    function understood(found) {
      shown.hidden = false;
      for (const part of [chart, parameters, sparsity, ahead, laws]) part.node.hidden = true;
      page.disabled = true;
      app.fitted = null;
      preview.body.replaceChildren(
        el("p", { class: "lead" }, `${found.file_name}: ${number(found.rows)} rows. `, ...roles(found)),
        menus,
        tableOf("The first rows", found.columns, found.preview, true),
        el("ul", { class: "notes" }, ...(found.notes ?? []).map((words) => el("li", {}, words))),
      );
      const select = which.querySelector("select");
      select.replaceChildren(...found.laws.map((name) => el("option", { value: name }, name)));
      select.value = app.state.get().law;
      menus.replaceChildren(...choices(found));
      if (found.choose) {
        status("choose", found.why);
        return;
      }
      status("done");
      asked = "";
      fit();
    }

    function roles(found) {
      const taken = Object.entries(found.roles ?? {});
      return taken.length ? [`Read as ${taken.map(([role, name]) => (role === name ? role : `${role} = ${name}`)).join(", ")}.`] : [];
    }

    function choices(found) {
      const offered = found.choose ?? Object.fromEntries(Object.keys(ROLES).map((role) => [role, found.columns]));
      return Object.entries(offered).map(([role, names]) => {
        const id = `column-${role}`;
        const now = chosen[`col_${role}`] ?? found.roles?.[role] ?? "";
        const select = el("select", { id }, el("option", { value: "" }, found.choose ? "choose…" : "none"), ...names.map((name) => el("option", { value: name, selected: name === now }, name)));
        select.addEventListener("change", () => choose(role, select.value));
        return el("div", { class: "box" }, el("label", { for: id }, ROLES[role]), select);
      });
    }

    async function fit() {
      const params = { upload: table.upload, file_name: table.file_name, law: app.state.get().law, ...chosen };
      const key = JSON.stringify(params);
      if (key === asked) return;
      asked = key;
      working?.abort();
      const mine = (working = new AbortController());
      cancel.hidden = bar.hidden = false;
      bar.removeAttribute("value");
      draws.textContent = "";
      node.dataset.fit = "computing";
      try {
        const how = await app.api.stream("runs/fit", params, { signal: mine.signal, onLine: (line) => working === mine && add(line, params) });
        if (working !== mine) return;
        node.dataset.fit = how;
        if (how === "cancelled") draws.textContent = `cancelled; ${draws.textContent}`;
      } catch (error) {
        if (working !== mine) return;
        node.dataset.fit = "refused";
        refused(error);
      } finally {
        if (working === mine) cancel.hidden = bar.hidden = true;
      }
    }

    function add(line, params) {
      if (line.dropped) {
        const gone = Object.entries(line.dropped).map(([reason, count]) => `${number(count)} ${count === 1 ? "row" : "rows"} dropped: ${reason}`);
        preview.body.querySelector(".notes").append(...[`${number(line.used)} rows used`, ...gone, ...line.notes].map((words) => el("li", {}, words)));
      }
      if (line.residuals) {
        chart.node.hidden = false;
        chart.draw(line.residuals.chart, { ...line.residuals, fit: line.fit });
        chart.status("done");
      }
      if (line.fit) {
        app.fitted = params;
        page.disabled = false;
        parameters.node.hidden = false;
        draws.textContent = line.draws ? `Intervals from ${number(line.draws)} of ${number(line.of)} draws.` : "Intervals follow.";
        bar.value = line.draws / line.of;
        node.dataset.draws = line.draws;
        law(line.fit);
      }
      if (line.sparsity) {
        sparsity.node.hidden = false;
        const rows = line.sparsity.flatMap(({ law: name, sparsity: of }) => ["alpha1", "alpha2"].map((which) => [name, which, number(of?.[which]?.best, 3), ends(of?.[which])]));
        sparsity.body.replaceChildren(
          ...(rows.length ? [tableOf("Implied sparsity", ["by the law", "exponent", "best", "95 % interval"], rows)] : []),
          ...[...line.words, line.why].filter(Boolean).map((words) => el("p", { class: "lead" }, ...maths(words))),
        );
      }
      if (line.budgets) further(line);
      if (line.laws) {
        laws.node.hidden = false;
        const rows = line.laws.map((one) => [one.law, formula(one.formula), one.out_of_sample_error == null ? "–" : `${number(one.out_of_sample_error, 3)} %`, `${number(one.sd, 3)} %`, number(one.aic, 5), one.status]);
        laws.body.replaceChildren(
          tableOf("Laws side by side", ["law", "formula", "error on larger runs", "scatter", "AIC", "status"], rows),
          el("ul", { class: "notes" }, ...line.refused.map((one) => el("li", {}, `${one.law}: ${one.reason}`))),
        );
      }
    }

    function law(found) {
      const rows = Object.entries(found.params).map(([name, value]) => [formula(name), number(value.best), ends(value)]);
      parameters.body.replaceChildren(
        el("p", { class: "lead" }, ...maths(`${found.law}: ${formula(found.formula)}. Status ${found.status}.`)),
        tableOf("The law", ["parameter", "best", "95 % interval"], rows),
        draws,
        bar,
        el("div", { class: "row" }, cancel, page),
        el("ul", { class: "notes" }, ...found.words.map((words) => el("li", {}, words))),
      );
    }

    function further(line) {
      ahead.node.hidden = false;
      const points = line.forecast?.points ?? [];
      const plans = line.plans ?? [];
      const rows = line.budgets.map((C, i) => [number(C), number(plans[i]?.N.best), ends(plans[i]?.N), number(plans[i]?.D.best), number(points[i]?.loss.best), ends(points[i]?.loss)]);
      ahead.body.replaceChildren(
        el("p", { class: "lead" }, "Ten and a hundred times the compute of the largest run, by 6 N D: the best sizes, and the loss of a run made there."),
        tableOf("Forecast and plan", ["compute C", "best N", "95 %", "best D", "loss", "95 %"], rows),
        el("ul", { class: "notes" }, ...[line.next_run, line.forecast_reason, line.plans_reason, ...(line.forecast?.warnings ?? [])].filter(Boolean).map((words) => el("li", {}, words))),
      );
    }

    async function save() {
      page.disabled = true;
      try {
        await app.api.stream("runs/report", app.fitted, { onLine: (line) => download("sparselaw-report.html", new Blob([line.html], { type: "text/html" })) });
      } catch (error) {
        refused(error);
      } finally {
        page.disabled = false;
      }
    }

    shown.append(preview.node, el("div", { class: "settings" }, which), el("div", { class: "pair" }, parameters.node, sparsity.node), chart.node, ahead.node, laws.node);
    const node = el("div", { "data-state": "idle", "data-view": "runs" }, zone, said, shown);
    return {
      node,
      update() {
        if (table && !table.choose) fit();
      },
    };
  },
};
