// The page inside a notebook: its modules come from the kernel, and questions go there as messages.

// Each module becomes a blob whose imports point to the blobs of the others; those it needs come before it.
async function load(modules) {
  const places = {};
  for (const [name, source] of modules) {
    const text = source.replace(/from "\.\/([^"]+)"/g, (_, needed) => `from "${places[needed]}"`);
    places[name] = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  }
  return import(places["main.js"]);
}

function overMessages(model) {
  const waiting = new Map();
  const mine = Math.random().toString(36).slice(2); // several views may share the model
  let count = 0;
  model.on("msg:custom", ({ id, line }) => waiting.get(id)?.(line));

  function ask(message, onLine, body) {
    const id = `${mine}-${++count}`;
    waiting.set(id, (line) => {
      if (onLine(line)) waiting.delete(id);
    });
    model.send({ id, ...message }, undefined, body ? [body] : undefined);
    return id;
  }

  return {
    values: (name, params, signal) =>
      new Promise((resolve, reject) => {
        const id = ask({ ask: "values", name, params }, (line) => (resolve(line), true));
        signal?.addEventListener("abort", () => {
          if (waiting.delete(id)) model.send({ id, ask: "cancel" });
          reject(signal.reason);
        });
      }),
    async stream(name, params, body, signal, onLine) {
      const content = body && (await new Response(body).arrayBuffer());
      return new Promise((resolve, reject) => {
        const id = ask(
          { ask: "lines", name, params },
          (line) => {
            try {
              onLine(line);
            } catch (error) {
              reject(error);
            }
            if (line.end) resolve();
            return Boolean(line.end);
          },
          content,
        );
        signal?.addEventListener("abort", () => {
          waiting.delete(id);
          model.send({ id, ask: "cancel" });
          resolve();
        });
      });
    },
  };
}

const inModel = (model) => ({
  read: () => model.get("state"),
  write(values) {
    model.set("state", values);
    model.save_changes();
  },
  onchange: (listener) => model.on("change:state", listener),
});

let page;
export default {
  async render({ model, el }) {
    page ??= load(model.get("modules"));
    const { start } = await page;
    const root = document.createElement("div");
    root.className = "sparselaw";
    el.append(root);
    start(root, { transport: overMessages(model), place: inModel(model) });
  },
};
