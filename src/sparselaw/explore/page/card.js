// The frame of every chart: title, state in words, and what can be taken away.

import { download, el, flat, number } from "./dom.js";

// `source` answers: name, png() -> Promise of a Blob, rows() -> table with a head, json(), code() -> {shell, python}.
export function createCard(title, source) {
  const plot = el("div", { class: "plot" });
  const said = el("p", { class: "said", role: "status" });
  const extra = el("div", { class: "extra" });
  const panel = el("div", { class: "panel", hidden: true });
  let open = "";

  const buttons = {
    png: button("PNG", "Save as a picture", async () => save("png", await source.png())),
    csv: button("CSV", "Save as a table", () => save("csv", text(csv(source.rows()), "text/csv"))),
    json: button("JSON", "Save as JSON", () => save("json", text(JSON.stringify(source.json(), null, 2), "application/json"))),
    code: button("Copy as code", "The command and the Python that give this", () => show("code")),
    table: button("Show as table", "The same values as a table", () => show("table")),
  };
  for (const name of ["code", "table"]) buttons[name].setAttribute("aria-expanded", "false");
  const heading = el("h2", {}, title);
  const tools = el("div", { class: "tools", role: "group", "aria-label": `Take away: ${title}` }, ...Object.values(buttons));
  const node = el(
    "section",
    { class: "card", "data-state": "idle", "aria-label": title },
    el("header", {}, heading, tools),
    plot,
    said,
    extra,
    panel,
  );

  function save(ending, blob) {
    download(`sparselaw-${source.name}.${ending}`, blob);
  }

  function show(what) {
    open = open === what ? "" : what;
    for (const name of ["code", "table"]) buttons[name].setAttribute("aria-expanded", String(open === name));
    refresh();
  }

  function refresh() {
    panel.hidden = !open;
    if (open === "code") panel.replaceChildren(...codeBlocks(source.code()));
    if (open === "table") panel.replaceChildren(table(title, source.rows()));
  }

  return {
    node,
    plot,
    extra,
    title: (words) => heading.replaceChildren(words),
    // idle, computing, partial, done, cancelled, refused, gone; `key` tells for which state it was drawn.
    status(state, words = "", key = undefined) {
      node.dataset.state = state;
      tools.style.visibility = source.json() ? "" : "hidden"; // nothing to take away yet
      if (key !== undefined) node.dataset.drawn = key;
      if (state !== "computing" && said.textContent !== words) said.textContent = words; // no flicker on the way
      if (state !== "computing" && open) refresh();
    },
  };
}

function button(label, title, onclick) {
  return el("button", { type: "button", title, onclick }, label);
}

function text(content, type) {
  return new Blob([content], { type });
}

function csv(rows) {
  const cell = (value) => (/[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  return rows.map((row) => row.map((value) => cell(value == null ? "" : flat(String(value)))).join(",")).join("\n") + "\n";
}

function table(title, [head, ...rows]) {
  const shown = (value) => (value == null ? "" : typeof value === "number" ? number(value, 6) : flat(String(value)));
  const line = (row, tag) => el("tr", {}, ...row.map((value) => el(tag, tag === "th" ? { scope: "col" } : {}, shown(value))));
  return el(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": `${title} as a table` },
    el("table", {}, el("thead", {}, line(head, "th")), el("tbody", {}, ...rows.map((row) => line(row, "td")))),
  );
}

function codeBlocks(code) {
  if (!code) return [el("p", {}, "Nothing has been drawn yet.")];
  return [
    ["shell", "Shell"],
    ["python", "Python"],
  ].map(([name, label]) => {
    const copied = el("span", { role: "status", class: "copied" });
    const copy = button("Copy", `Copy the ${label} code`, async () => {
      await navigator.clipboard.writeText(code[name]);
      copied.textContent = "copied";
    });
    return el("div", { class: "code" }, el("div", { class: "bar" }, el("strong", {}, label), copy, copied), el("pre", { tabindex: 0, "data-code": name }, code[name]));
  });
}
