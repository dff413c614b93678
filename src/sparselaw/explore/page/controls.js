// Controls that show the state and change it; their labels are formulas.

import { el, flat, maths } from "./dom.js";

let count = 0;

// A slider with a number box: the box may go beyond the slider's ends.
export function slider(app, name, label, { min, max, step, help }) {
  const id = `control-${++count}`;
  const range = el("input", { type: "range", min, max, step, "aria-label": `${flat(label)}, ${flat(help)}` });
  const box = el("input", { type: "number", id, step, class: "number" });
  range.addEventListener("input", () => app.state.set({ [name]: range.value }));
  box.addEventListener("input", () => box.value !== "" && app.state.set({ [name]: box.value }));
  app.state.subscribe((state) => {
    range.value = state[name];
    if (document.activeElement !== box || Number(box.value) !== Number(state[name])) box.value = state[name];
  });
  return el("div", { class: "slider", "data-control": name }, el("label", { for: id }, ...maths(label)), box, range, el("small", {}, ...maths(help)));
}

// A box for a number or a list, asked when it is left or Enter is pressed.
export function box(app, name, label, { help, placeholder, width } = {}) {
  const id = `control-${++count}`;
  const input = el("input", { type: "text", id, placeholder, inputmode: "decimal", autocomplete: "off", spellcheck: "false", class: width ?? "" });
  input.addEventListener("change", () => app.state.set({ [name]: input.value.trim() }));
  app.state.subscribe((state) => {
    if (document.activeElement !== input) input.value = state[name];
  });
  return el("div", { class: "box", "data-control": name }, el("label", { for: id }, ...maths(label)), input, help ? el("small", {}, ...maths(help)) : null);
}

// A few words side by side.
export function choice(app, name, label, options) {
  const id = `control-${++count}`;
  const radios = options.map(([value, words]) => {
    const radio = el("input", { type: "radio", name: id, value, id: `${id}-${value}` });
    radio.addEventListener("change", () => app.state.set({ [name]: value }));
    return [value, radio, el("label", { for: `${id}-${value}` }, ...maths(words))];
  });
  app.state.subscribe((state) => {
    for (const [value, radio] of radios) radio.checked = state[name] === value;
  });
  return el("fieldset", { class: "choice", "data-control": name }, el("legend", {}, label), el("div", { class: "options" }, ...radios.flatMap(([, radio, text]) => [radio, text])));
}

// The controls of a view, side by side; nothing is sent when Enter is pressed.
export const settingsOf = (label, ...controls) => el("form", { class: "settings", "aria-label": label, onsubmit: (event) => event.preventDefault() }, ...controls);
