// Axes of a chart: how far they go, where they have lines, and the numbers beside them.

import { along, flat, raised } from "./dom.js";
import { ink } from "./palette.js";

const MOST_TICKS = 9;
const FEW_TICKS = 5; // on a phone

// From the smallest to the largest value that is drawn, with some air.
export function span(parts, which, log, air) {
  let low = Infinity;
  let high = -Infinity;
  // A dotted line without a colour is a guide: it may leave the chart below or above.
  const measured = which === "y" ? parts.filter((part) => part.colour != null || part.dash !== "dotted") : parts;
  for (const part of measured.length ? measured : parts) {
    for (const values of which === "x" ? [part.x] : [part.y, part.low ?? [], part.high ?? []]) {
      for (const value of values) {
        if (value == null || (log && value <= 0)) continue;
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
    }
  }
  if (!(low <= high)) return log ? [1, 10] : [0, 1];
  const little = Math.min(air, (high / low) ** 0.12); // a shallow valley fills its chart
  if (log) return low === high ? [low / 2, high * 2] : [Math.max(low / little, 1e-300), Math.min(high * little, 1e300)];
  const room = (high - low || 1) * (air - 1) * 0.2;
  return [low - room, high + room];
}

// An axis in uPlot's words, from {label, log}.
export function axis(about, size) {
  const { text, grid } = ink();
  return {
    label: flat(about.label),
    labelSize: 22,
    labelFont: "13px system-ui, sans-serif",
    font: "12px system-ui, sans-serif",
    size,
    stroke: text,
    grid: { stroke: grid, width: 1 },
    ticks: { stroke: grid, width: 1, size: 4 },
    splits: about.log ? (u, which, low, high) => logPlaces(low, high, which === 0 && u.width < 480 ? FEW_TICKS : MOST_TICKS) : undefined,
    filter: (_, splits) => splits,
    values: (_, splits) => ticks(splits, about),
  };
}

// The places of a logarithmic axis that get a line and a number: powers of ten; where there are few also 2 and 5
// times them; within a decade even steps. Our own, because uPlot's begin at the smallest value and may never end.
function logPlaces(low, high, most) {
  for (const digits of [[1], [1, 2, 5]]) {
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
      for (const digit of digits) {
        const value = Number(`${digit}e${power}`);
        if (value >= low && value <= high) found.push(value);
      }
    }
    if (found.length > 2) return found.filter((_, i) => i % Math.ceil(found.length / most) === 0);
  }
  const step = 10 ** Math.floor(Math.log10((high - low) / 2));
  return Array.from({ length: Math.floor((high - Math.ceil(low / step) * step) / step) + 1 }, (_, i) => (Math.ceil(low / step) + i) * step);
}

// All as powers of ten, where one of them needs it and all can be.
function ticks(places, about) {
  const powers = places.map((value) => (value > 0 ? Math.log10(value) : NaN));
  const whole = powers.every((power) => Math.abs(power - Math.round(power)) < 1e-9);
  if (!about.sizes && whole && powers.some((power) => power < -2.5 || power > 3.5)) return powers.map((power) => `10${raised(Math.round(power))}`);
  return places.map((value) => (value == null ? "" : along(about, value, 3)));
}
