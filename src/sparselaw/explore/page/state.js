// Everything that decides what is shown, as text, and all of it in the URL; what is usual is left out there.

export function createState(defaults, place) {
  let values = { ...defaults, ...known(place.read(), defaults) };
  const listeners = new Set();
  let waiting = false;

  function tell() {
    waiting = false;
    place.write(changed(values, defaults));
    for (const listener of listeners) listener(values);
  }

  function put(next) {
    values = next;
    if (!waiting) {
      waiting = true;
      requestAnimationFrame(tell); // many events, one question
    }
  }

  place.onchange(() => {
    const next = { ...defaults, ...known(place.read(), defaults) };
    if (Object.keys(defaults).some((name) => next[name] !== values[name])) put(next);
  });
  return {
    get: () => values,
    set: (patch) => put({ ...values, ...texts(patch) }),
    // From the usual state on: for presets.
    reset: (patch) => put({ ...defaults, ...texts(patch) }),
    subscribe(listener) {
      listeners.add(listener);
      listener(values);
      return () => listeners.delete(listener);
    },
  };
}

// The address bar of the page.
export const addressBar = {
  read: () => Object.fromEntries(new URLSearchParams(location.search)),
  write(values) {
    const query = new URLSearchParams(values).toString();
    if (location.search.slice(1) !== query) {
      history.replaceState(null, "", query ? `?${query}` : location.pathname);
    }
  },
  onchange: (listener) => addEventListener("popstate", listener),
};

function texts(patch) {
  return Object.fromEntries(Object.entries(patch).map(([name, value]) => [name, String(value)]));
}

function known(given, defaults) {
  return texts(Object.fromEntries(Object.entries(given).filter(([name]) => name in defaults)));
}

function changed(values, defaults) {
  return Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== defaults[name]));
}
