// The inputs: kind, exponents, dimension, or a measurement that stays in this session. Always beside the views.

import { box, choice, slider } from "./controls.js";
import { dropZone, el, number } from "./dom.js";
import { report } from "./live.js";

export const USUAL_INPUTS = { inputs: "sparse", alpha1: "1", alpha2: "0.3", dimension: "" };

// What the server needs to know of the inputs: of a measurement its key, which is no part of the address.
export function inputsOf(app, state) {
  if (state.inputs === "measured") return { inputs: "measured", table: app.measured?.table ?? "", table_name: app.measured?.name ?? "" };
  return Object.fromEntries(Object.keys(USUAL_INPUTS).map((name) => [name, state[name]]));
}

export function inputControls(app) {
  const said = el("p", { class: "said", role: "status" });
  const help = ["The JSON of ", el("code", {}, "sparselaw measure FILE --json"), ", or {\"probabilities\": […], \"amplitudes\": […]}."];
  const zone = dropZone("inputs-file", "Drop a measurement here, or choose a file", take, ".json", help, said);
  zone.dataset.control = "table";

  async function take(given) {
    said.textContent = `reading ${given.name}`;
    zone.dataset.state = "computing";
    try {
      await app.api.stream("inputs/measured", { file_name: given.name }, { body: given, onLine: (line) => (app.measured = line) });
      app.state.set({ inputs: "measured" });
      zone.dataset.state = "done";
      said.textContent = `${app.measured.name}: ${number(app.measured.coordinates)} coordinates, ${number(app.measured.active, 3)} of them active in a sample.`;
    } catch (error) {
      report(app, { status: (state, words) => ([zone.dataset.state, said.textContent] = [state, words]) }, error);
    }
  }

  const exponents = el(
    "div",
    { class: "exponents" },
    slider(app, "alpha1", "alpha1", { min: -1.4, max: 3, step: 0.01, help: "sparsity: j is active with probability j^{−(alpha1+1)}" }),
    slider(app, "alpha2", "alpha2", { min: -4, max: 2, step: 0.01, help: "amplitude: when active its size is j^{−(alpha2+1)/2}" }),
    box(app, "dimension", "dimension M", { placeholder: "usual", help: "a number or inf; usual: inf, or 10,000 where dense or alpha1 ≤ 0" }),
  );
  app.state.subscribe((state) => {
    exponents.hidden = state.inputs === "measured";
    zone.hidden = state.inputs !== "measured";
  });
  return el(
    "form",
    { class: "controls", "aria-label": "The inputs", onsubmit: (event) => event.preventDefault() },
    el("h2", {}, "Inputs"),
    choice(app, "inputs", "Kind", [
      ["sparse", "sparse"],
      ["dense", "dense"],
      ["measured", "measured"],
    ]),
    exponents,
    zone,
  );
}
