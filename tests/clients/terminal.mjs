// A client's own interface, on a pseudo-terminal, as its user runs it: `script` makes the terminal.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { clients } from "./clients.mjs";
import { startProgram } from "./run-client.mjs";

const quoted = (word) => `'${word.replaceAll("'", "'\\''")}'`;

/** Waits for the files, until the client has ended. */
async function appear(files, ended) {
  let isOver = false;
  ended.then(() => (isOver = true));
  while (!isOver && !files.every((file) => existsSync(file))) await new Promise((resolve) => setTimeout(resolve, 200));
}

/** As `say`, in the client's own interface, until the files are there; then it is ended. */
export async function sayAtTerminal(name, place, prompt, { env, files }) {
  const { settle, args } = clients[name].interactive;
  settle?.(place);
  const words = [...clients[name].program(place.cache), ...args(prompt)].map(quoted).join(" ");
  const pid = join(place.temporary, "pid");
  // The client leads the terminal's session, so what it started in it ends with it.
  const command = `stty rows 40 cols 120; echo $$ >${quoted(pid)}; exec ${words}`;
  const { child, ended } = startProgram(name, place, ["script", "-qefc", command, "/dev/null"], {
    env: {
      TERM: "xterm-256color",
      // What it wants of the network by itself ends at the model.
      HTTPS_PROXY: `http://127.0.0.1:${place.port}`,
      NO_PROXY: "127.0.0.1",
      ...env,
    },
    stdin: "pipe",
  });
  child.stdin.on("error", () => {});
  // What a terminal answers when it is asked where its cursor is.
  child.stdout.on("data", (data) => data.includes("\x1b[6n") && child.stdin.write("\x1b[1;1R"));
  await appear(files, ended);
  try {
    process.kill(-Number(readFileSync(pid, "utf8")), "SIGKILL");
  } catch {
    // It has gone already.
  }
  return ended;
}
