// Runs the scenarios and says how each ended. The proof is the file that is, or is not, touched.

import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { spawnSync } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { clients, version } from "./clients.mjs";
import { model } from "./model.mjs";
import { breakages } from "./breakages.mjs";
import { cache, say, world } from "./run-client.mjs";
import { saySomebody } from "./person.mjs";
import { addServer } from "./servers.mjs";
import { sayAtTerminal } from "./terminal.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const target = process.env.CARGO_TARGET_DIR ?? join(here, "../../target");
const program = resolve(process.env.AGENT_SKILLS ?? join(target, "debug/agent-skills"));

const args = process.argv.slice(2);
// Without our hook something that must not be there has to be: else a scenario proves nothing.
const bare = args[0] === "--bare" && Boolean(args.shift());

const write = (path, text) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

/** The scenarios, each with its file's name. */
const scenarios = readdirSync(join(here, "scenarios"))
  .sort()
  .flatMap((file) =>
    JSON.parse(readFileSync(join(here, "scenarios", file), "utf8")).map((each) => ({ file, ...each })),
  );

/** A turn in the client's words: `{shell: "touch x"}` is a call of its shell tool. */
function turn(name, step, place) {
  if (step.break && bare) return turn(name, step.then, place);
  if (step.break) {
    const said = turn(name, step.then, place);
    const before = () => {
      try {
        breakages[step.break](name, place, ours(place));
      } catch (error) {
        place.wrong.push(error.message);
      }
    };
    return Object.assign(said, { before });
  }
  if (Array.isArray(step)) return step.flatMap((each) => turn(name, each, place));
  const client = clients[name];
  const [[kind, value]] = Object.entries(step);
  if (kind === "text") return step;
  if (kind === "raw") return JSON.parse(JSON.stringify(value).replaceAll("PROJECT", place.project));
  if (kind === "mcp") return client.tools.mcp(...value);
  const values = (Array.isArray(value) ? value : [value]).map((text) => text.replaceAll("PROJECT", place.project));
  // Without a tool for skills, one is used by reading it.
  if (kind === "skill" && !client.tools.skill) {
    return client.tools.read(skillFile(client, place, values[0]));
  }
  // Only codex has to be told to wait for a subagent.
  return client.tools[kind]?.(...values);
}

/** A skill's file, in whichever place it is. */
function skillFile(client, place, name) {
  const folder = join(place.project, client.skills);
  const moved = join(place.home, "moved", client.moved.below, "skills");
  const places = [join(folder, name), join(folder, "group", name), join(moved, name)];
  return join(places.find(existsSync) ?? places[0], "SKILL.md");
}

/** What a person types to use a skill. */
const typed = (name, skill, words) =>
  name === "opencode" ? [words, { command: skill }] : [`${name === "codex" ? "$" : "/"}${skill} ${words}`, {}];

/** Runs the program as a person would: that which is connected, or by `other` that which is built. */
function ours(place) {
  const run = (path, args) => {
    const env = { HOME: place.home, PATH: `${join(place.home, ".local/bin")}:${process.env.PATH}`, ...place.variables };
    return spawnSync(path, args, { cwd: place.project, env, encoding: "utf8", input: "" });
  };
  const connected = (...args) => {
    const ran = run(place.program, args);
    if (ran.status !== 0) throw new Error(`agent-skills ${args.join(" ")}: ${ran.stderr || ran.stdout || ran.error}`);
    return ran.stdout;
  };
  return Object.assign(connected, { other: (...args) => run(program, args) });
}

/** Writes a skill where the client looks: in the project, or as `where` says. */
function writeSkill(client, place, name, { body = "Do it.", where = "project", ...fields }) {
  const front = Object.entries({ name, description: `Use for ${name}.`, ...fields });
  const text = `---\n${front.map(([key, value]) => `${key}: ${value}\n`).join("")}---\n${body} $ARGUMENTS\n`;
  const project = join(place.project, client.skills);
  const folder = {
    project,
    group: join(project, "group"),
    home: join(place.home, client.personal),
    link: join(place.root, "elsewhere"),
    moved: join(place.home, "moved", client.moved.below, "skills"),
  }[where];
  write(join(folder, name, "SKILL.md"), text);
  if (where !== "link") return;
  mkdirSync(project, { recursive: true });
  symlinkSync(join(folder, name), join(project, name));
}

/** A variable says where the client's directory is. */
function move({ moved: { variable, below, from } }, place) {
  const to = join(place.home, "moved", below);
  mkdirSync(join(place.home, from), { recursive: true });
  mkdirSync(dirname(to), { recursive: true });
  renameSync(join(place.home, from), to);
  place.variables = { [variable]: join(place.home, "moved") };
}

function setUp(name, scenario, place) {
  const client = clients[name];
  place.program = join(place.home, ".local/bin/agent-skills");
  mkdirSync(dirname(place.program), { recursive: true });
  try {
    linkSync(program, place.program);
  } catch {
    copyFileSync(program, place.program);
  }
  // The directory is what `install.sh --for` makes; the line is how a person lets a script decide for them.
  write(join(place.home, ".local/share/agent-skills/config.toml"), "unattended = true\n");
  place.cwd = join(place.project, scenario.start ?? ".");
  client.setUp?.(place);
  if (scenario.moved) move(client, place);
  if (scenario.server) addServer(name, place, scenario.server);
  for (const [path, text] of Object.entries(scenario.files ?? {})) write(join(place.project, path), text);
  for (const [skill, fields] of Object.entries(scenario.skills ?? {})) writeSkill(client, place, skill, fields);
  // Skills of a project that nobody trusts are not offered.
  const isTrusted = scenario.trusted !== false && existsSync(join(place.project, client.skills));
  const always = scenario.trusted === "always" ? ["--always"] : [];
  if (isTrusted && !bare) ours(place)("trust", place.project, "--yes", ...always);
  if (scenario.connected !== false && !bare) {
    ours(place)("hosts", "add", name, "--yes", ...(scenario.mode ? ["--mode", scenario.mode] : []));
  }
}

/** Runs a scenario: what went wrong, in words, and what the client said. */
async function run(name, scenario) {
  const place = world();
  const scripts = {};
  const requests = [];
  const { server, port } = await model(scripts, (method, path, body) => requests.push({ method, path, body }));
  place.port = port;
  const wrong = (place.wrong = []);
  place.asked = [];
  const said = [];
  try {
    setUp(name, scenario, place);
    for (const [key, steps] of Object.entries(scenario.model)) {
      scripts[key] = steps.map((step) => turn(name, step, place)).filter(Boolean);
    }
    for (const step of scenario.steps) {
      if (step.break && bare) continue;
      if (step.break) breakages[step.break](name, place, ours(place));
      else {
        const [prompt, more] = step.typed ? typed(name, step.typed, step.say) : [step.say, {}];
        const speak = step.interactive ? sayAtTerminal : step.somebody ? saySomebody : say;
        const files = (scenario.exists ?? []).map((path) => join(place.project, path));
        said.push(await speak(name, place, prompt, { ...step, ...more, files, env: place.variables }));
      }
    }
    const isThere = (path) => existsSync(join(place.project, path));
    const forbidden = scenario.missing ?? [];
    if (bare) {
      if (forbidden.length > 0 && !forbidden.some(isThere))
        wrong.push("nothing forbidden happens without a hook either");
      return { wrong, said };
    }
    for (const path of (scenario.exists ?? []).filter((each) => !isThere(each))) wrong.push(`${path} is not there`);
    for (const path of forbidden.filter(isThere)) wrong.push(`${path} is there`);
    const isAsked = (words) => place.asked.some((question) => question.includes(words));
    for (const words of (scenario.asked ?? []).filter((each) => !isAsked(each))) wrong.push(`nobody was asked "${words}"`);
    for (const words of (scenario.unasked ?? []).filter(isAsked)) wrong.push(`somebody was asked "${words}"`);
    // What the model was told, since the last request carries the whole conversation.
    const told = JSON.stringify(requests.at(-1)?.body ?? {}) + said.map(({ output }) => output).join("\n");
    for (const words of scenario.told ?? []) {
      if (!told.includes(words)) wrong.push(`nobody was told "${words}"`);
    }
  } catch (error) {
    wrong.push(String(error.message ?? error));
  } finally {
    place.held?.kill("SIGKILL");
    server.close();
    server.closeAllConnections();
    if (process.env.KEEP) console.log(`kept ${place.root}`);
    else place.remove();
    if (process.env.REQUESTS) writeFileSync(process.env.REQUESTS, JSON.stringify(requests, null, 1));
  }
  return { wrong, said };
}

const only = args[0] === "--only" ? args.splice(0, 2)[1] : "";
const names = args.length > 0 ? args : Object.keys(clients);
if (!existsSync(program)) {
  console.error(`clients: ${program} is not there; run cargo build first`);
  process.exit(1);
}
let failed = 0;
for (const name of names) {
  if (!clients[name]) {
    console.error(`clients: no client ${name}; there are ${Object.keys(clients).join(", ")}`);
    process.exit(2);
  }
  if (!existsSync(clients[name].program(cache).at(-1))) {
    console.error(`clients: ${name} is not in ${cache}; run tests/clients/install ${name}`);
    process.exit(1);
  }
  console.log(`\n${name} ${version(name, cache)}`);
  for (const scenario of scenarios) {
    const title = scenario.name;
    if ((scenario.clients && !scenario.clients.includes(name)) || !title.includes(only)) continue;
    if (bare && scenario.mode === "grant") continue;
    const started = Date.now();
    const { wrong, said } = await run(name, scenario);
    const seconds = ((Date.now() - started) / 1000).toFixed(1);
    console.log(`  ${wrong.length ? "FAILED" : "ok    "} ${title} (${seconds} s)`);
    if (wrong.length === 0) continue;
    failed += 1;
    for (const what of wrong) console.log(`         ${what}`);
    for (const { code, output } of said) console.log(`         it ended with ${code}: ${output.trim().slice(-800)}`);
  }
}
if (failed > 0) {
  console.log(`\nclients: ${failed} did not end as they should`);
  process.exit(1);
}
