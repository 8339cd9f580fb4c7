// What a scenario does to a connected client behind its back, or as its user. Each gets the client's name, its place and
// `ours`, which runs the program as a person would.

import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";

const write = (path, text) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

/** Every file below, by its path. */
const files = (folder, root = folder) =>
  readdirSync(folder).flatMap((entry) => {
    const path = join(folder, entry);
    const stat = lstatSync(path);
    if (stat.isDirectory()) return files(path, root);
    return stat.isFile() ? [[relative(root, path), readFileSync(path, "latin1")]] : [];
  });

const data = ({ home }) => join(home, ".local/share/agent-skills");

/** What we keep for ourselves, which is not the client's configuration. */
const isOurs = ([path]) => /^\.local\/(share|state|bin)\//.test(path);

const configuration = ({ home, project }) =>
  JSON.stringify({ home: files(home).filter((file) => !isOurs(file)), project: files(project) });

const EXEC_FORM = (command, event) => `{ "hooks" : {"${event}":[
      { "matcher":"*",  "hooks":[ {"type":"command","command":${JSON.stringify(command)}} ] }]},
   "unknownToUs": [1,2 , 3] }
`;

/** A hook of the user's own in each client, oddly laid out; it touches `own-ran`. */
const own = {
  "claude-code": ({ home }, command) => write(join(home, ".claude/settings.json"), EXEC_FORM(command, "PreToolUse")),
  codex: ({ home }, command) =>
    write(join(home, ".codex/hooks.json"), EXEC_FORM(command, "PreToolUse").replace(/,\s*"unknownToUs".*\]/, "")),
  copilot: ({ home }, command) =>
    write(join(home, ".copilot/hooks/own.json"), EXEC_FORM(command, "PreToolUse").replace("{", '{ "version": 1,')),
  gemini: ({ home }, command) =>
    write(
      join(home, ".gemini/settings.json"),
      EXEC_FORM(command, "BeforeTool")
        .replace('"*"', '".*"')
        .replace("{", '{ "security": { "auth": { "selectedType": "gemini-api-key" } },'),
    ),
  "qwen-code": ({ home }, command) => write(join(home, ".qwen/settings.json"), EXEC_FORM(command, "PreToolUse")),
  opencode: ({ home }, command) =>
    write(
      join(home, ".config/opencode/plugins/own.js"),
      `import { execSync } from "node:child_process";
export const Own = async () => ({ "tool.execute.before": async () => { execSync(${JSON.stringify(command)}); } });
`,
    ),
};

/** The program runs, and reads what is written to descriptor 3. */
const THROUGH_PIPE = `pipe=$(mktemp -u)
mkfifo "$pipe"
"$0.real" "$@" <"$pipe" &
program=$!
exec 3>"$pipe"
rm "$pipe"
`;

/** Puts a script in the program's place; `$0.real` is the program. */
const instead =
  (script) =>
  (_, { program }) => {
    renameSync(program, `${program}.real`);
    writeFileSync(program, `#!/bin/sh\n${script}`, { mode: 0o755 });
  };

export const breakages = {
  "own-hook": (name, place) => own[name](place, `touch '${place.project}/own-ran'`),
  remember: (_, place) => (place.before = configuration(place)),
  "is-as-before": (_, place) => {
    if (configuration(place) !== place.before) throw new Error("the client's configuration is not as it was");
  },
  connect: (name, _, ours) => ours("hosts", "add", name, "--yes"),
  disconnect: (name, _, ours) => ours("hosts", "remove", name, "--yes"),
  // In a terminal of their own, once the client has ended.
  "a-person-decides": (_, { home, project, program }) => {
    const env = { HOME: home, PATH: process.env.PATH };
    for (const words of ["trust --yes", "deactivate"]) {
      const args = ["-qec", `${program} ${words}`, "/dev/null"];
      const { status, stdout } = spawnSync("script", args, { cwd: project, env, encoding: "utf8", input: "" });
      if (status !== 0) throw new Error(`a person does not decide: ${stdout}`);
    }
  },
  "corrupt-state": (_, place) => {
    const state = files(data(place)).filter(([path]) => /^state.*\.json$/.test(path));
    if (state.length === 0) throw new Error("there is no state to corrupt");
    for (const [path] of state) writeFileSync(join(data(place), path), '{"sessions": [');
  },
  "no-program": (_, { program }) => rmSync(program),
  // The data that the client hands over never end.
  "endless-data": instead(THROUGH_PIPE + 'cat >&3\nwait "$program"\n'),
  // The machine sleeps, or is too busy, once the program has begun.
  "stopped-for-long": instead(
    THROUGH_PIPE +
      'sleep 0.5; kill -STOP "$program"; cat >&3; exec 3>&-; sleep 5; kill -CONT "$program"\nwait "$program"\n',
  ),
  // Nothing of ours runs at all.
  "hangs-at-once": instead("exec sleep 40\n"),
  // Another process keeps the lock of the state.
  "held-lock": (_, place) => {
    const lock = join(data(place), "state.lock");
    if (!existsSync(lock)) throw new Error("there is no lock to hold");
    place.held = spawn("flock", ["--no-fork", lock, "sleep", "60"], { stdio: "ignore" });
    while (spawnSync("flock", ["--nonblock", lock, "true"]).status === 0);
  },
  "doctor-finds-it": (name, _, ours) => {
    const { status, stdout } = ours.other("doctor");
    const found = stdout.split("\n").some((line) => line.includes("FAIL") && line.includes(name));
    if (status === 0 || !found) throw new Error(`doctor does not find it: ${stdout}`);
  },
  "was-called": (name, place) => {
    if (!existsSync(join(data(place), "hosts", `${name}.seen`))) throw new Error("the hook was never called");
  },
};
