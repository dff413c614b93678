// One question at a time, always the latest: what a slider passes on its way is not asked.

import { Gone, Refused } from "./api.js";

export function createLive(app, card, ask, draw) {
  let running = false;
  let next = null;
  let drawn = "";

  async function run(params) {
    const key = new URLSearchParams(params).toString();
    if (running) {
      next = params;
      return;
    }
    if (key === drawn) {
      card.status("done", "", key); // asked again while it was on its way
      return;
    }
    running = true;
    card.status("computing");
    try {
      draw(await ask(params), params);
      app.answered();
      drawn = key;
      if (!next) card.status("done", "", key);
    } catch (error) {
      drawn = "";
      report(app, card, error, key);
    } finally {
      running = false;
    }
    if (next) {
      const latest = next;
      next = null;
      run(latest);
    }
  }
  return run;
}

// Says in the card what went wrong: refused, or nobody there.
export function report(app, card, error, key = "") {
  if (error instanceof Refused) {
    app.answered();
    card.status("refused", error.message, key);
  } else if (error instanceof Gone) {
    card.status("gone", "no answer", key);
    app.gone();
  } else {
    card.status("refused", `the page failed: ${error.message}`, key);
    console.error(error);
  }
}
