// The phase diagram as SVG: click or drag the point, or move it by the arrow keys.

import { el, svg } from "./dom.js";

const WIDTH = 460;
const HEIGHT = 400;
const LEFT = 46;
const BOTTOM = 40;
const X = [-1.4, 3];
const Y = [-4, 2];
const STEP = 0.05;

const across = (a) => LEFT + ((a - X[0]) / (X[1] - X[0])) * (WIDTH - LEFT - 10);
const up = (a) => 10 + ((Y[1] - a) / (Y[1] - Y[0])) * (HEIGHT - BOTTOM - 10);
const path = (points) => "M" + points.map(([x, y]) => `${across(x)},${up(y)}`).join("L") + "Z";
const round = (value) => Math.round(value * 100) / 100;
const clamp = (value, [low, high]) => Math.min(Math.max(value, low), high);

const REGIONS = [
  ["symmetric", [[-1, 0], [0, -1], [0, Y[1]], [-1, Y[1]]]],
  ["asymmetric", [[0, -1], [X[1], -1], [X[1], Y[1]], [0, Y[1]]]],
  ["gd-failure", [[0, -1], [X[1], -1 - X[1]], [X[1], -1]]],
];

export function createDiagram(onmove) {
  const dot = svg("circle", { r: 8, class: "dot" });
  const ring = svg("circle", { r: 15, class: "ring" });
  const drawing = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "diagram", "aria-hidden": "true" },
    svg("rect", { x: across(X[0]), y: up(Y[1]), width: across(X[1]) - across(X[0]), height: up(Y[0]) - up(Y[1]), class: "outside" }),
    ...REGIONS.map(([name, corners]) => svg("path", { d: path(corners), class: `region ${name}` })),
    ...axes(),
    svg("path", { d: path([[-1, Y[1]], [-1, 0], [X[1], -1 - X[1]]]).slice(0, -1), class: "boundary" }),
    svg("path", { d: path([[0, -1], [0, Y[1]]]).slice(0, -1), class: "divide" }),
    svg("path", { d: path([[0, -1], [X[1], -1]]).slice(0, -1), class: "divide" }),
    label(1.5, 1.35, "asymmetric"),
    label(1.5, 0.95, ["α", "D", " = α", "N", " / (α", "1", "+1)"], "formula"),
    label(-0.5, 0.75, "symmetric", "upright"),
    label(2.1, -1.62, "gradient descent"),
    label(2.1, -1.97, "can fail"),
    label(0.35, -2.9, ["α", "1", " + α", "2", " + 1 > 0"], "formula"),
    label(0.35, -3.25, "needed: nothing scales here", "quiet"),
    ring,
    dot,
  );
  let at = [1, 0.3];
  const node = el("div", { class: "diagram-frame", tabindex: 0, role: "application", "aria-label": "Phase diagram: the arrow keys move the point" }, drawing);

  function place(event) {
    const frame = drawing.getBoundingClientRect();
    const x = ((event.clientX - frame.left) / frame.width) * WIDTH;
    const y = ((event.clientY - frame.top) / frame.height) * HEIGHT;
    const alpha1 = X[0] + ((x - LEFT) / (WIDTH - LEFT - 10)) * (X[1] - X[0]);
    const alpha2 = Y[1] - ((y - 10) / (HEIGHT - BOTTOM - 10)) * (Y[1] - Y[0]);
    onmove(round(clamp(alpha1, X)), round(clamp(alpha2, Y)));
  }
  drawing.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    drawing.setPointerCapture(event.pointerId);
    place(event);
  });
  drawing.addEventListener("pointermove", (event) => {
    if (drawing.hasPointerCapture(event.pointerId)) place(event);
  });
  node.addEventListener("keydown", (event) => {
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key] ?? [];
    if (dx === undefined) return;
    event.preventDefault();
    at = [round(at[0] + dx * STEP), round(at[1] + dy * STEP)]; // the next key may come before the page has followed
    onmove(...at);
  });

  return {
    node,
    // Outside the diagram the point waits at its edge.
    point(alpha1, alpha2) {
      if (!Number.isFinite(alpha1) || !Number.isFinite(alpha2)) return;
      at = [alpha1, alpha2];
      for (const circle of [dot, ring]) {
        circle.setAttribute("cx", across(clamp(alpha1, X)));
        circle.setAttribute("cy", up(clamp(alpha2, Y)));
      }
    },
    png: () => rasterise(drawing),
  };
}

function label(x, y, text, kind = "") {
  const parts = Array.isArray(text) ? text.map((part, i) => (i % 2 ? svg("tspan", { dy: 4, "font-size": "75%" }, part) : svg("tspan", i ? { dy: -4 } : {}, part))) : [text];
  return svg("text", { x: across(x), y: up(y), class: `label ${kind}`, ...(kind === "upright" ? { transform: `rotate(-90 ${across(x)} ${up(y)})` } : {}) }, ...parts);
}

function axes() {
  const ticks = [];
  for (let a = Math.ceil(X[0]); a <= X[1]; a++) ticks.push(svg("text", { x: across(a), y: HEIGHT - BOTTOM + 17, class: "tick middle" }, String(a).replace("-", "−")));
  for (let a = Math.ceil(Y[0]); a <= Y[1]; a++) ticks.push(svg("text", { x: LEFT - 8, y: up(a) + 4, class: "tick end" }, String(a).replace("-", "−")));
  return [
    ...ticks,
    svg("text", { x: across(0.8), y: HEIGHT - 5, class: "axis" }, "α", svg("tspan", { dy: 4, "font-size": "75%" }, "1"), svg("tspan", { dy: -4 }, "  sparsity →")),
    svg("text", { x: 12, y: up(-1), class: "axis", transform: `rotate(-90 12 ${up(-1)})` }, "α", svg("tspan", { dy: 4, "font-size": "75%" }, "2"), svg("tspan", { dy: -4 }, "  amplitudes shrink →")),
  ];
}

// A picture of it: the styles of the page are written into a copy, then drawn on a canvas.
async function rasterise(drawing) {
  const copy = drawing.cloneNode(true);
  const originals = [drawing, ...drawing.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((node, i) => {
    const style = getComputedStyle(originals[i]);
    for (const name of ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-style", "font-weight", "text-anchor", "opacity"]) {
      node.style.setProperty(name, style.getPropertyValue(name));
    }
  });
  copy.setAttribute("width", WIDTH * 2);
  copy.setAttribute("height", HEIGHT * 2);
  const image = new Image();
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(new XMLSerializer().serializeToString(copy));
  await image.decode();
  const canvas = el("canvas", { width: WIDTH * 2, height: HEIGHT * 2 });
  const ctx = canvas.getContext("2d");
  ctx.fillStyle = getComputedStyle(drawing.closest(".card")).backgroundColor;
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.drawImage(image, 0, 0);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}
