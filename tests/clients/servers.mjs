// How each client is told of an MCP server.

import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

/** Puts `more` into a JSON file. */
export const merge = (path, more) => {
  mkdirSync(dirname(path), { recursive: true });
  let old = {};
  try {
    old = JSON.parse(readFileSync(path, "utf8"));
  } catch {
    // There is none yet.
  }
  writeFileSync(path, JSON.stringify({ ...old, ...more }, null, 2));
};

const claudeShaped =
  (file) =>
  ({ home }, name, stdio) =>
    merge(join(home, file), { mcpServers: { [name]: stdio } });

const configurations = {
  "claude-code": claudeShaped(".claude.json"),
  codex: ({ home }, name, { command, args }) =>
    appendFileSync(
      join(home, ".codex/config.toml"),
      `\n[mcp_servers.${name}]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`,
    ),
  copilot: ({ home }, name, stdio) =>
    merge(join(home, ".copilot/mcp-config.json"), { mcpServers: { [name]: { type: "local", tools: ["*"], ...stdio } } }),
  gemini: claudeShaped(".gemini/settings.json"),
  "qwen-code": claudeShaped(".qwen/settings.json"),
  opencode: ({ home }, name, { command, args }) =>
    merge(join(home, ".config/opencode/opencode.json"), {
      mcp: { [name]: { type: "local", command: [command, ...args] } },
    }),
};

/** Makes mcp.mjs, whose `touch` leaves its files in the project, known to the client under a name. */
export function addServer(name, place, server) {
  configurations[name](place, server, { command: process.execPath, args: [join(here, "mcp.mjs"), place.project] });
}
