// The page: controls that are always there, tabs, and one view at a time.

import { createApi } from "./api.js";
import { el } from "./dom.js";
import { inputControls, USUAL_INPUTS } from "./inputs.js";
import { PRESETS } from "./presets.js";
import { createState } from "./state.js";
import { VIEWS } from "./views.js";

const USUAL = { view: VIEWS[0].id, ...USUAL_INPUTS };

// Builds everything in `root`; `transport` carries questions, `place` keeps the state: the address bar, or a notebook.
export function start(root, { transport, place }) {
  const defaults = Object.assign({}, USUAL, ...VIEWS.map((view) => view.defaults ?? {}));
  const state = createState(defaults, place);
  const banner = el("p", { class: "banner", role: "alert", hidden: true });
  const app = {
    state,
    api: createApi(transport),
    answered: () => (banner.hidden = true),
    gone() {
      banner.hidden = false;
      banner.replaceChildren("The server does not answer: start ", el("code", {}, "sparselaw explore"), " again and open the address it prints.");
    },
  };

  const inputs = inputControls(app); // hidden where a view does not depend on them
  const stage = el("main", { class: "view" });
  const tabs = VIEWS.map((view) => [view.id, el("button", { type: "button", onclick: () => state.set({ view: view.id }) }, view.title)]);
  const shown = new Map(); // id -> what the view made, kept when another is shown
  root.replaceChildren(
    el("header", { class: "top" }, el("div", { class: "name" }, el("h1", {}, "sparselaw"), el("p", {}, "scaling laws from sparse features")), presets(app, defaults)),
    banner,
    el("div", { class: "columns" }, inputs, el("div", { class: "right" }, el("nav", { "aria-label": "Views" }, ...tabs.map(([, tab]) => tab)), stage)),
  );

  state.subscribe((values) => {
    const view = VIEWS.find((v) => v.id === values.view) ?? VIEWS[0];
    if (!shown.has(view.id)) shown.set(view.id, view.create(app));
    const made = shown.get(view.id);
    inputs.hidden = view.inputs?.(values) === false;
    if (stage.firstChild !== made.node) stage.replaceChildren(made.node);
    for (const [id, tab] of tabs) {
      if (id === view.id) tab.setAttribute("aria-current", "page");
      else tab.removeAttribute("aria-current");
    }
    made.update(values);
  });
  return app;
}

function presets(app, defaults) {
  const select = el(
    "select",
    { id: "presets" },
    el("option", { value: "" }, "The paper’s settings…"),
    ...PRESETS.filter(([, patch]) => VIEWS.some((view) => view.id === (patch.view ?? defaults.view))).map(([label], i) => el("option", { value: i }, label)),
  );
  select.addEventListener("change", () => {
    const chosen = PRESETS.find(([label]) => label === select.selectedOptions[0].textContent);
    if (chosen) app.state.reset(chosen[1]);
    select.value = "";
  });
  return el("div", { class: "presets" }, el("label", { for: "presets" }, "Presets"), select);
}
