// Okabe and Ito's colours, distinct for every kind of sight, in a version for each background.

const LIGHT = ["#0072B2", "#D55E00", "#009E73", "#AA4499", "#B07D00", "#3A8FC2"];
const DARK = ["#56B4E9", "#E69F00", "#2FC79A", "#E58FC3", "#F0E442", "#D98A5B"];

export const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;

export function colour(index, alpha = 1) {
  const list = isDark() ? DARK : LIGHT;
  const hex = index == null ? (isDark() ? "#d9d6cf" : "#2b2e33") : list[index % list.length];
  return alpha === 1 ? hex : hex + Math.round(alpha * 255).toString(16).padStart(2, "0");
}

export const ink = () => (isDark() ? { text: "#c9ccd2", grid: "#2b2f36", paper: "#191c21" } : { text: "#4a4e55", grid: "#e6e4df", paper: "#ffffff" });

export function onSchemeChange(listener) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", listener);
}
