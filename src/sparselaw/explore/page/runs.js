// Your runs: drop a table, see it with its law and forecast, the law at once, intervals as they come, what follows.
// Two more tabs: which runs to make next, and which of two recipes is better.

import { createChart } from "./chart.js";
import { choice } from "./controls.js";
import { createCompare, createNext } from "./decide.js";
import { download, dropZone, el, loss, maths, number, size } from "./dom.js";
import { report } from "./live.js";
import { block, ends, folded, formula, menu, notes, sizeEnds, TABLES, tableOf } from "./tables.js";

const ROLES = { N: "model size N", D: "samples D", loss: "loss", C: "compute C" };

export const runs = {
  id: "runs",
  title: "Your runs",
  inputs: () => false,
  defaults: { law: "chinchilla", runs_tab: "law", next_budget: "", next_spend: "", next_runs: "4", compare_budget: "" },
  create(app) {
    let table = null; // what the server understood of the file
    let chosen = {}; // columns chosen from the menus: col_N, ...
    let asked = "";
    let working = null;
    const said = el("p", { class: "said", role: "status" });
    const shown = el("div", { class: "results", hidden: true });
    const about = el("p", { class: "lead about" });
    const preview = folded("The table");
    const menus = el("div", { class: "row menus" });
    const parameters = block("The law");
    const sparsity = folded("Implied sparsity");
    const ahead = block("Forecast and plan");
    const laws = block("Laws side by side");
    const charts = {
      picture: createChart("The runs, the law and the forecast", "runs"),
      valleys: createChart("Loss along each budget", "isoflop"),
      residuals: createChart("Residuals", "residuals"),
    };
    const which = menu(app, "law", "law to fit", [["chinchilla", "chinchilla"]]);
    const draws = el("p", { class: "draws", role: "status" });
    const bar = el("progress", { max: 1, value: 0, hidden: true, "aria-label": "draws" });
    const cancel = el("button", { type: "button", hidden: true, onclick: () => working?.abort() }, "Cancel");
    const page = el("button", { type: "button", disabled: true, onclick: () => save() }, "Download the report");

    const sample = el("button", { type: "button", onclick: () => read(null) }, "Use the sample table");
    const help = ["One row for each run: N, D and loss, or C. CSV, JSON, Parquet or Excel."];
    const zone = dropZone("runs-file", "Drop a table of runs here, or choose a file", read, TABLES, help, sample);

    function status(state, words = "") {
      node.dataset.state = state;
      said.textContent = words;
    }

    async function read(given) {
      working?.abort();
      status("computing", "reading");
      chosen = {};
      table = app.table = null;
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
        const again = await app.api.values("runs/columns", { ...ofTable(), ...chosen });
        table = { ...ofTable(), ...again };
        understood(table);
      } catch (error) {
        refused(error);
      }
    }

    const ofTable = () => ({ upload: table.upload, file_name: table.file_name });

    function refused(error) {
      shown.hidden = !table;
      report(app, { status }, error);
    }

    function understood(found) {
      shown.hidden = false;
      for (const part of [...Object.values(charts), parameters, sparsity, ahead, laws]) part.node.hidden = true;
      page.disabled = true;
      about.replaceChildren(`${found.file_name}: ${number(found.rows)} rows. `, ...roles(found));
      preview.node.querySelector("details").open = Boolean(found.choose);
      preview.body.replaceChildren(menus, tableOf("The first rows", found.columns, found.preview, true), notes(found.notes ?? []));
      const select = which.querySelector("select");
      select.replaceChildren(...found.laws.map((name) => el("option", { value: name }, name)));
      select.value = app.state.get().law;
      menus.replaceChildren(...choices(found));
      if (found.choose) {
        status("choose", found.why);
        return;
      }
      status("done");
      app.table = { ...ofTable(), ...chosen };
      asked = "";
      update(app.state.get());
    }

    function roles(found) {
      const taken = Object.entries(found.roles ?? {});
      return taken.length ? [`Read as ${taken.map(([role, name]) => (role === name ? role : `${role} = ${name}`)).join(", ")}. `] : [];
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
      const params = { ...app.table, law: app.state.get().law };
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
        const how = await app.api.stream("runs/fit", params, { signal: mine.signal, onLine: (line) => working === mine && add(line) });
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

    let code = null;

    function add(line) {
      code = line.code ?? code;
      if (line.dropped) {
        const gone = Object.entries(line.dropped).map(([reason, count]) => `${number(count)} ${count === 1 ? "row" : "rows"} dropped: ${reason}`);
        about.append(`${[`${number(line.used)} rows used`, ...gone].join(", ")}.`);
        preview.body.append(notes(line.notes));
      }
      for (const [name, spec] of Object.entries(line.charts ?? {})) {
        charts[name].node.hidden = false;
        charts[name].draw(spec, { chart: spec, code });
        charts[name].status("done");
      }
      if (line.fit) {
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
          el("p", { class: "lead" }, "What the exponents would mean if the theory of rare features held for these runs."),
          ...(rows.length ? [tableOf("Implied sparsity", ["by the law", "exponent", "best", "95 % interval"], rows)] : []),
          notes([...line.words, line.why], maths),
        );
      }
      if (line.budgets) further(line);
      if (line.laws) {
        laws.node.hidden = false;
        const rows = line.laws.map((one) => [one.law, formula(one.formula), one.out_of_sample_error == null ? "–" : `${number(one.out_of_sample_error, 3)} %`, `${number(one.sd, 3)} %`, number(one.aic, 5), one.status]);
        laws.body.replaceChildren(
          tableOf("Laws side by side", ["law", "formula", "error on larger runs", "scatter", "AIC", "status"], rows),
          notes(line.refused.map((one) => `${one.law}: ${one.reason}`)),
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
        el("div", { class: "row" }, which, cancel, page),
        notes(found.words),
      );
    }

    function further(line) {
      ahead.node.hidden = false;
      const points = line.forecast?.points ?? [];
      const plans = line.plans ?? [];
      const rows = line.budgets.map((C, i) => [number(C, 3), size(plans[i]?.N.best), sizeEnds(plans[i]?.N), size(plans[i]?.D.best), sizeEnds(plans[i]?.D), loss(points[i]?.loss.best), ends(points[i]?.loss, loss)]);
      ahead.body.replaceChildren(
        el("p", { class: "lead" }, "Ten and a hundred times the compute of the most expensive run, by 6 N D: the best sizes, and the loss of one more run made there."),
        tableOf("Forecast and plan", ["compute C", "best N", "95 %", "best D", "95 %", "loss", "95 %"], rows),
        notes([line.forecast_reason, line.plans_reason, ...(line.forecast?.warnings ?? [])]),
      );
    }

    async function save() {
      page.disabled = true;
      try {
        await app.api.stream("runs/report", { ...app.table, law: app.state.get().law }, { onLine: (line) => download("sparselaw-report.html", new Blob([line.html], { type: "text/html" })) });
      } catch (error) {
        refused(error);
      } finally {
        page.disabled = false;
      }
    }

    shown.append(about, charts.picture.node, charts.valleys.node, parameters.node, ahead.node, charts.residuals.node, laws.node, sparsity.node, preview.node);
    const tabs = { law: shown, next: createNext(app), compare: createCompare(app) };
    const node = el(
      "div",
      { "data-state": "idle", "data-view": "runs" },
      choice(app, "runs_tab", "Question", [
        ["law", "law, forecast, plan"],
        ["next", "next runs"],
        ["compare", "two recipes"],
      ]),
      zone,
      said,
      shown,
      tabs.next.node,
      tabs.compare.node,
    );

    function update(state) {
      const tab = state.runs_tab in tabs ? state.runs_tab : "law";
      zone.hidden = said.hidden = tab === "compare";
      shown.hidden = tab !== "law" || !table;
      for (const name of ["next", "compare"]) tabs[name].node.hidden = tab !== name;
      if (tab !== "law") tabs[tab].update(state);
      else if (app.table) fit();
    }

    return { node, update };
  },
};
