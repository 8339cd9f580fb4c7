// Records what each client hands to a hook: every event that the program answers, one file per kind of call.
//
//     node record.mjs CLIENT [DIRECTORY]
//
// The default is the place where the suite reads them. The hook is a script that keeps its standard input and answers nothing.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { clients, version as versionIn } from "./clients.mjs";
import { model } from "./model.mjs";
import { connect, kept, mark } from "./recorder.mjs";
import { cache, say, world } from "./run-client.mjs";

const version = (name) => versionIn(name, cache);
const here = dirname(fileURLToPath(import.meta.url));

const skill = (name, body, more = "") =>
  `---\nname: ${name}\ndescription: Use for ${name}.\nallowed-tools: Read Bash(git log:*)\n${more}---\n${body}\n`;

/** Calls beyond those that every client has. */
const own = {
  "claude-code": [
    { tool: "Glob", args: { pattern: "*.txt" } },
    { tool: "Grep", args: { pattern: "text", path: "." } },
    { tool: "Edit", args: { file_path: "PROJECT/new.txt", old_string: "text", new_string: "other" } },
    { tool: "WebFetch", args: { url: "http://127.0.0.1:9/page", prompt: "summary" } },
    { tool: "ToolSearch", args: { query: "select:WebFetch,NotebookEdit", max_results: 5 } },
    { tool: "WebFetch", args: { url: "http://127.0.0.1:9/page", prompt: "summary" } },
    { tool: "mcp__agent-skills__use_skill", args: { name: "probe" } },
  ],
  codex: [
    { tool: "exec_command", args: { cmd: "cat .agents/skills/probe/SKILL.md" } },
    { tool: "exec_command", args: { cmd: "echo there", workdir: "sub" } },
    { tool: "exec_command", args: { cmd: "cat", tty: true, yield_time_ms: 250 } },
    { tool: "view_image", args: { path: "a.png" } },
    {
      tool: "apply_patch",
      args: "*** Begin Patch\n*** Update File: new.txt\n@@\n-text\n+other\n*** Move to: moved.txt\n*** End Patch\n",
    },
    {
      tool: "apply_patch",
      args: "*** Begin Patch\n*** Update File: new.txt\n*** Move to: moved.txt\n@@\n-text\n+other\n*** End Patch\n",
    },
    { tool: "use_skill", namespace: "mcp__agent_skills", args: { name: "probe" } },
    { tool: "mcp__agent_skills__use_skill", args: { name: "probe" } },
  ],
  copilot: [
    { tool: "edit", args: { path: "PROJECT/new.txt", old_str: "text", new_str: "other" } },
    { tool: "glob", args: { pattern: "*.txt" } },
    { tool: "grep", args: { pattern: "text", paths: "." } },
    { tool: "web_fetch", args: { url: "http://127.0.0.1:9/page" } },
    { tool: "bash", args: { command: "cat", description: "typed into", mode: "async", shellId: "one" } },
    { tool: "write_bash", args: { shellId: "one", input: "x", delay: 1 } },
    { tool: "sql", args: { description: "look", query: "select 1" } },
    { tool: "agent-skills-use_skill", args: { name: "probe" } },
  ],
  gemini: [
    { tool: "replace", args: { file_path: "new.txt", old_string: "text", new_string: "other", instruction: "change" } },
    { tool: "list_directory", args: { dir_path: "." } },
    { tool: "glob", args: { pattern: "*.txt" } },
    { tool: "grep_search", args: { pattern: "text", dir_path: "." } },
    { tool: "read_many_files", args: { include: ["*.txt"] } },
    { tool: "web_fetch", args: { prompt: "summary of http://127.0.0.1:9/page" } },
    { tool: "save_memory", args: { fact: "one" } },
    { tool: "run_shell_command", args: { command: "pwd", dir_path: "sub" } },
    { tool: "mcp_agent-skills_use_skill", args: { name: "probe" } },
  ],
  "qwen-code": [
    { tool: "edit", args: { file_path: "PROJECT/new.txt", old_string: "text", new_string: "other" } },
    { tool: "list_directory", args: { path: "PROJECT" } },
    { tool: "glob", args: { pattern: "*.txt" } },
    { tool: "grep_search", args: { pattern: "text" } },
    { tool: "run_shell_command", args: { command: "pwd", directory: "PROJECT/sub", is_background: false } },
    { tool: "tool_search", args: { query: "select:mcp__agent-skills__use_skill,web_fetch", max_results: 5 } },
    { tool: "web_fetch", args: { url: "http://127.0.0.1:9/page", prompt: "summary" } },
    { tool: "tool_call", args: { name: "mcp__agent-skills__use_skill", arguments: { name: "probe" } } },
    { tool: "mcp__agent-skills__use_skill", args: { name: "probe" } },
  ],
  opencode: [
    { tool: "edit", args: { filePath: "new.txt", oldString: "text", newString: "other" } },
    { tool: "glob", args: { pattern: "*.txt" } },
    { tool: "grep", args: { pattern: "text" } },
    { tool: "bash", args: { command: "pwd", description: "where", workdir: "sub" } },
    { tool: "webfetch", args: { url: "http://127.0.0.1:9/page", format: "text" } },
    { tool: "agent-skills_use_skill", args: { name: "probe" } },
  ],
};

/** What a client offers to a model that it knows, and to no other. */
const known = {
  codex: {
    model: "gpt-5.6-sol",
    steps: [
      "await tools.exec_command({ cmd: 'echo nested' })",
      "await tools.apply_patch('*** Begin Patch\\n*** Add File: nested.txt\\n+text\\n*** End Patch\\n')",
      "await tools.mcp__agent_skills__use_skill({ name: 'probe' })",
    ].map((js) => ({ tool: "exec", args: `text(JSON.stringify(${js}));` })),
  },
  copilot: {
    model: "gpt-5.5",
    steps: [
      { tool: "apply_patch", args: "*** Begin Patch\n*** Add File: PROJECT/patched.txt\n+text\n*** End Patch\n" },
      { tool: "rg", args: { pattern: "text", paths: "." } },
    ],
  },
};

async function record(name, directory) {
  const client = clients[name];
  const place = world();

  const tools = client.tools;
  const scripts = {
    tools: [
      tools.shell("echo hi"),
      tools.write(name === "codex" ? "new.txt" : "PROJECT/new.txt", "text"),
      tools.read("PROJECT/a.txt"),
      ...own[name],
      ...(tools.skill ? [tools.skill("probe"), tools.skill("none-such")] : []),
      tools.shell("exit 3"),
      [tools.shell("echo one"), tools.shell("echo two")],
      tools.agent("help [[sub]]"),
      ...(name === "codex" ? [{ tool: "wait_agent", namespace: "collaboration", args: { timeout_ms: 10000 } }] : []),
      { text: "done" },
    ],
    sub: [tools.shell("echo sub"), { text: "sub done" }],
    again: [tools.shell("echo again"), { text: "done" }],
    typed: [tools.shell("echo typed"), { text: "done" }],
    known: [...(known[name]?.steps ?? []), { text: "done" }],
  };
  const requests = [];
  const { server, port } = await model(scripts, (method, path, body) => requests.push({ method, path, body }));
  place.port = port;
  const inPlace = (text) => text.replaceAll("PROJECT", place.project);
  for (const key of Object.keys(scripts)) scripts[key] = JSON.parse(inPlace(JSON.stringify(scripts[key])));

  client.setUp?.(place);
  connect(name, place);
  mkdirSync(join(place.project, "sub"));
  writeFileSync(join(place.project, "a.txt"), "text\n");
  writeFileSync(
    join(place.project, "a.png"),
    Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    ),
  );
  for (const [skillName, body] of [
    ["probe", "# Probe\n\nDo it. $ARGUMENTS"],
    ["live", "# Live\n\n!`echo live >/dev/null`\n\n$ARGUMENTS"],
  ]) {
    const folder = join(place.project, client.skills, skillName);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "SKILL.md"), skill(skillName, body));
  }

  const outputs = [];
  const typed = { codex: "$probe [[typed]]" }[name] ?? "/probe [[typed]]";
  const typedOptions = name === "opencode" ? { command: "probe" } : {};
  for (const [prompt, options] of [
    ["go [[tools]]", {}],
    ["go [[again]]", { resumed: true }],
    [typed, typedOptions],
    [typed.replace("probe", "live"), name === "opencode" ? { command: "live" } : {}],
    ...(known[name] ? [["go [[known]]", { model: known[name].model }]] : []),
  ]) {
    const said = await say(name, place, prompt, options);
    outputs.push({ prompt, ...said });
    mark(place);
  }
  server.close();
  server.closeAllConnections();
  const phases = ["", "resumed", "typed", "typed-live", "known"];
  const events = [];
  for (const event of kept(place)) {
    if (event) events.push({ phase: phases[0], event });
    else phases.shift();
  }
  place.remove();
  keep(directory ?? join(here, "../it/agents/payloads", `${name}-${version(name)}`), events);
  if (process.env.RECORD_LOG)
    writeFileSync(process.env.RECORD_LOG, JSON.stringify({ outputs, requests, events }, null, 1));
  console.log(name, outputs.map(({ code, ms }) => `${code} ${ms} ms`).join(", "), `${events.length} events`);
}

/** Long texts say nothing to a table of arguments. */
const short = (value) => {
  if (typeof value === "string") return value.length > 600 ? `${value.slice(0, 600)}…` : value;
  if (Array.isArray(value)) return value.slice(0, 4).map(short);
  if (value && typeof value === "object") {
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, key === "llm_request" ? {} : short(inner)]),
    );
  }
  return value;
};

/** What comes after a call is read for skills only, and what ends or repeats says nothing new. */
const wanted = (event, tool, phase) => {
  if (/^(Post|After|tool.execute.after)/.test(event)) return !phase && /skill|shell|bash/i.test(tool);
  if (/End|^Stop|AfterAgent|permissionRequest/.test(event)) return !phase;
  if (/^(BeforeToolSelection|SessionStart|plugin|event)$/.test(event))
    return phase === "" || (phase === "resumed" && event === "SessionStart");
  if (phase === "known") return event === "PreToolUse";
  return phase !== "typed-live" || /Expansion|command/.test(event);
};

/** One file for each event, tool and set of arguments. */
function keep(directory, events) {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const seen = new Set();
  const counts = {};
  // opencode's subagents are sessions of their own.
  const children = new Set();
  for (const { phase, event } of events) {
    const tool = event.tool_name ?? event.input?.tool ?? event.input?.type;
    const input = event.tool_input ?? event.output?.args;
    const info = event.input?.properties?.info ?? {};
    if (info.parentID) children.add(info.id);
    const isAgent = event.agent_id || children.has(event.input?.sessionID ?? info.id);
    const of = [event.hook_event_name ?? event.hookName, tool, phase, isAgent ? "agent" : ""];
    if (!wanted(of[0], tool ?? "", phase)) continue;
    const key = JSON.stringify([
      ...of,
      typeof input === "object" ? Object.keys(input ?? {}) : "text",
      event.cwd,
      Boolean(event.prompt),
      Boolean(event.error),
    ]);
    if (seen.has(key)) continue;
    seen.add(key);
    const base = of
      .filter(Boolean)
      .map((word) =>
        word
          .replace(/([a-z])([A-Z])/g, "$1-$2")
          .replace(/[^A-Za-z0-9-]+/g, "-")
          .toLowerCase(),
      )
      .join("-");
    counts[base] = (counts[base] ?? 0) + 1;
    const file = counts[base] > 1 ? `${base}-${counts[base]}.json` : `${base}.json`;
    writeFileSync(join(directory, file), `${JSON.stringify(short(event), null, 2)}\n`);
  }
}

const [name, directory] = process.argv.slice(2);
await record(name, directory);
