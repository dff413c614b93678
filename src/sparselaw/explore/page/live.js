// One question at a time, always the latest: what a slider passes on its way is not asked.

import { Gone, Refused } from "./api.js";

const REST = 250; // milliseconds that the controls stay put before the slower answer is asked for
const FULL = "The full curve.";
const FOLLOWS = "A sketch: the full curve follows when the controls rest.";

// `quicker(params)` is the same question in a form that is answered at once, or null: its answer is drawn first, and
// replaced when the controls have come to rest.
export function createLive(app, card, ask, draw, quicker = () => null) {
  let running = false;
  let next = null;
  let drawn = "";
  let following = ""; // the key whose slower answer is on its way
  let later = new AbortController(); // ends it, when something else is asked

  async function run(params) {
    const key = new URLSearchParams(params).toString();
    if (key === following && !next) return;
    following = "";
    later.abort();
    if (running) {
      next = params;
      return;
    }
    if (key === drawn) {
      card.status("done", quicker(params) ? FULL : "", key); // asked again while it was on its way
      return;
    }
    running = true;
    card.status("computing");
    const first = quicker(params);
    try {
      draw(await ask(first ?? params), params);
      app.answered();
      drawn = first ? "" : key;
      if (!next && first) follow(params, key);
      else if (!next) card.status("done", "", key);
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

  // Without holding up what is asked next: an answer that comes too late is dropped.
  async function follow(params, key) {
    following = key;
    const { signal } = (later = new AbortController());
    card.status("partial", FOLLOWS, key);
    await new Promise((resolve) => setTimeout(resolve, REST));
    if (following !== key) return;
    try {
      const found = await ask(params, signal);
      if (following !== key) return;
      draw(found, params);
      app.answered();
      drawn = key;
      card.status("done", FULL, key);
    } catch (error) {
      if (following === key) report(app, card, error, key);
    }
    if (following === key) following = "";
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

// Of questions about the theory: the leading surface first, where the sharp one is asked for.
export function leadingFirst(params) {
  return params.surface === "sharp" ? { ...params, surface: "leading" } : null;
}

// Of curves that take longer: from a few places of the leading surface.
export function draftFirst(params) {
  return { ...params, surface: "leading", draft: "yes" };
}
