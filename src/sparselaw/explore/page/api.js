// Questions to the library: values at once, and streams of lines for what takes time.

// The library's own line about what it cannot do; `about` names the control.
export class Refused extends Error {
  constructor(answer) {
    super(answer.refused);
    this.about = answer.name;
  }
}

// The server does not answer any more.
export class Gone extends Error {}

export function createApi(transport) {
  return {
    async values(name, params, signal) {
      const answer = await transport.values(name, params, signal);
      if (answer.refused) throw new Refused(answer);
      return answer;
    },
    // Calls onLine for every line. Gives "done" or "cancelled"; aborting the signal cancels.
    async stream(name, params, { onLine, signal, body }) {
      let end = "cancelled";
      await transport.stream(name, params, body, signal, (line) => {
        if (line.end === "refused" || line.end === "failed") throw new Refused(line);
        if (line.end) end = line.end;
        else onLine(line);
      });
      return end;
    },
  };
}

export const overHttp = {
  async values(name, params, signal) {
    const response = await ask(`api/${name}?${new URLSearchParams(params)}`, { signal });
    if (!response.ok) throw new Gone();
    return response.json();
  },
  async stream(name, params, body, signal, onLine) {
    let response;
    try {
      response = await ask(`api/${name}?${new URLSearchParams(params)}`, { method: "POST", body, signal });
      if (!response.ok) throw new Refused(await response.json());
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (let part = await read(reader); !part.done; part = await read(reader)) {
        const lines = (rest + part.value).split("\n");
        rest = lines.pop();
        for (const line of lines) onLine(JSON.parse(line));
      }
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
  },
};

async function ask(url, options) {
  try {
    return await fetch(url, options);
  } catch (error) {
    throw error.name === "AbortError" ? error : new Gone();
  }
}

async function read(reader) {
  try {
    return await reader.read();
  } catch (error) {
    throw error.name === "AbortError" ? error : new Gone();
  }
}
