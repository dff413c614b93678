// Elements, and formulas in plain text made readable.

export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child != null && child !== false));
  return node;
}

const GREEK = { alpha: "α", xi: "ξ", nu: "ν", Gamma: "Γ" };
const PATTERN = /\b(alpha|xi|nu|Gamma)(1|2)?(?![a-zA-Z])|_\{([^}]*)\}|(?<=(?<!\w)(?:[A-Z]|alpha|xi|nu))_(\w+)|\^\{([^}]*)\}|\^(\w+)/g;

// "alpha_N", "N^{-2.3}", "xi_crit" as nodes with sub- and superscripts; adamw_best is a name and stays.
export function maths(given) {
  const text = given.replace(/(\d) x 10\^/g, "$1×10^");
  const nodes = [];
  let last = 0;
  for (const found of text.matchAll(PATTERN)) {
    nodes.push(text.slice(last, found.index));
    last = found.index + found[0].length;
    if (found[1]) {
      nodes.push(GREEK[found[1]]);
      if (found[2]) nodes.push(el("sub", {}, found[2]));
    } else if (found[3] ?? found[4]) nodes.push(el("sub", {}, ...maths(found[3] ?? found[4])));
    else nodes.push(el("sup", {}, ...maths(found[5] ?? found[6])));
  }
  nodes.push(text.slice(last));
  return nodes.filter((node) => node !== "");
}

const UP = { "-": "⁻", "−": "⁻", ".": "·", "/": "ᐟ" };
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
export const raised = (number) => String(number).replace(/[0-9]/g, (d) => RAISED[+d]).replace(/[-−]/g, UP["-"]);

// The same formulas where no elements can be: on a canvas, in a CSV.
export function flat(text) {
  return text
    .replace(/\b(alpha|xi|nu|Gamma)(1|2)?(?![a-zA-Z])/g, (_, name, index) => GREEK[name] + (index ?? ""))
    .replace(/\^\{([−-]?\d+)\}/g, (_, number) => raised(number))
    .replace(/\^\{([^}]*)\}/g, (_, inner) => (/^[\w−.]+$/.test(inner) ? `^${inner}` : `^(${inner})`))
    .replace(/_\{([^}]*)\}/g, "_$1");
}

export function number(value, digits = 4) {
  if (value == null || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e7)) {
    const [mantissa, exponent] = value.toExponential(digits - 2).split("e");
    const factor = Math.abs(Number(mantissa)) === 1 ? mantissa.replace(/1.*/, "") : `${Number(mantissa)}×`;
    return `${factor}10${raised(Number(exponent))}`;
  }
  const order = Math.floor(Math.log10(size || 1));
  const places = Math.max(0, digits - 1 - (size >= 0.1 || !size ? Math.max(0, order) : order));
  return Number(value.toFixed(places)).toLocaleString("en-US", { maximumFractionDigits: 12 });
}

// A loss in four digits, whatever they are: 2.000, and not 2.
export const loss = (value) => (value >= 0.1 && value < 1e4 ? value.toPrecision(4) : number(value));

const UNITS = [[1e12, "T"], [1e9, "B"], [1e6, "M"]];

// A number of parameters or tokens: 57M, 2.1B; beyond, and below a million, as other numbers.
export function size(value, digits = 3) {
  for (const [unit, letter] of UNITS) {
    const shown = value / unit;
    if (shown >= 0.9995 && shown < 1e4) return `${Number(shown.toPrecision(digits)).toLocaleString("en-US", { maximumFractionDigits: digits })}${letter}`;
  }
  return number(value, digits + 1);
}

// A value of an axis, as that axis writes it.
export const along = (axis, value, digits = 4) => (axis.sizes ? size(value, digits - 1) : number(value, digits));

export function download(name, blob) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// Where a file is dropped or chosen; `take` gets it.
export function dropZone(id, label, take, accept, help, ...more) {
  const file = el("input", { type: "file", id, accept });
  file.addEventListener("change", () => file.files[0] && take(file.files[0]));
  const zone = el("div", { class: "zone" }, el("label", { for: id }, label), file, el("small", {}, ...help, " It stays on this machine."), ...more);
  takeDrops(zone, take);
  return zone;
}

// Hands the files dropped on `zone` to `take`.
export function takeDrops(zone, take) {
  for (const [name, over] of [["dragover", true], ["dragleave", false], ["drop", false]]) {
    zone.addEventListener(name, (event) => {
      event.preventDefault();
      zone.classList.toggle("over", over);
      if (name === "drop" && event.dataTransfer.files.length) take(...event.dataTransfer.files);
    });
  }
}
