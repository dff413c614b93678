// Curves of nonlinear features: asked for when the controls rest, drawn one by one as they are ready.

import { el } from "./dom.js";
import { report } from "./live.js";

const REST = 300; // milliseconds

export function createFeatureCurves(app, onchange) {
  const words = el("p", { class: "lead", role: "status", "data-features": "idle", hidden: true });
  let key = "";
  let series = [];
  let notes = [];
  let code = null;
  let working = null;
  let resting = 0;

  function say(state, text = "") {
    words.dataset.features = state;
    words.textContent = text;
    words.hidden = !text;
  }

  function update(params) {
    const now = params ? new URLSearchParams(params).toString() : "";
    if (now === key) return;
    key = now;
    working?.abort();
    clearTimeout(resting);
    const shown = series.length > 0;
    [series, notes, code] = [[], [], null];
    if (shown) onchange();
    if (!params) say("idle");
    else resting = setTimeout(() => work(params, now), REST);
  }

  async function work(params, mine) {
    working = new AbortController();
    let count = 0;
    say("computing", `Curves of ${params.features} features: their tables take seconds for new inputs.`);
    try {
      const how = await app.api.stream("surface/features", params, {
        body: "",
        signal: working.signal,
        onLine(line) {
          if (key !== mine) return;
          if (line.code) [code, count] = [line.code, line.curves];
          if (!line.series) return;
          series.push(line.series);
          notes.push(...line.notes);
          say("partial", `${line.done} of ${count} curves`);
          onchange();
        },
      });
      if (key === mine && how === "done") say("done");
    } catch (error) {
      if (key === mine) report(app, { status: say }, error);
    }
  }

  return { node: words, update, series: () => series, notes: () => notes, code: () => code };
}
