// Runs one conversation of a client in a fresh home and project, and ends it within a minute.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

import { clients } from "./clients.mjs";

const DEADLINE_MS = 60_000;

/** Where `install` puts the clients. */
export const cache =
  process.env.AGENT_SKILLS_CLIENTS ||
  join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "agent-skills-clients");

/** A home and a project that nobody has used; `remove` takes them away. */
export function world() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "agent-skills-clients-")));
  const [home, project, temporary] = ["home", "project", "tmp"].map((name) => join(root, name));
  for (const folder of [home, project, temporary]) mkdirSync(folder);
  return {
    root,
    home,
    project,
    temporary,
    cache,
    remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** Says `prompt` to the client and waits for its end: `{code, output, ms}`. */
export const say = (name, place, prompt, options = {}) =>
  start(name, place, clients[name].args(prompt, options), options).ended;

/** Starts the client: `{child, ended}`. Nothing of our environment reaches it, and it ends within the deadline. */
export const start = (name, place, args, options) =>
  startProgram(name, place, [...clients[name].program(cache), ...args], options);

/** As `start`, by whichever program starts the client. */
export function startProgram(name, place, [program, ...args], { env = {}, stdin = "ignore" } = {}) {
  const client = clients[name];
  const started = Date.now();
  const child = spawn(program, args, {
    cwd: place.cwd ?? place.project,
    stdio: [stdin, "pipe", "pipe"],
    detached: true,
    env: {
      PATH: process.env.PATH,
      HOME: place.home,
      TERM: "dumb",
      SHELL: "/bin/bash",
      TMPDIR: place.temporary,
      LANG: "C.UTF-8",
      ...client.env(place),
      ...env,
    },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
  // The client leads a group of its own, so what it started ends with it.
  const end = () => {
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has gone already.
    }
  };
  const ended = new Promise((resolve, reject) => {
    const timer = setTimeout(end, DEADLINE_MS);
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      clearTimeout(timer);
      end();
      resolve({ code: code ?? signal, output, ms: Date.now() - started });
    });
  });
  return { child, ended, end };
}
