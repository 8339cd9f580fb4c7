// An MCP server on standard input and output: what a client calls a tool of a server.
//
//     node mcp.mjs [DIRECTORY]
//
// Its tools are `use_skill`, which only answers, and `touch`, which leaves a file in the directory.

import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";

const directory = process.argv[2];

const tool = (name, description) => ({
  name,
  description,
  inputSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
});

const tools = {
  use_skill: ({ name }) => `used ${name}`,
  touch: ({ name }) => {
    writeFileSync(join(directory, basename(name)), "");
    return `touched ${name}`;
  },
};

const replies = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "agent-skills", version: "1" },
  }),
  "tools/list": () => ({ tools: [tool("use_skill", "Uses a skill."), tool("touch", "Makes a file.")] }),
  "tools/call": (call) => ({ content: [{ type: "text", text: tools[call.name](call.arguments) }] }),
  ping: () => ({}),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const reply = replies[method];
  const said = reply ? { result: reply(params) } : { error: { code: -32601, message: "unknown method" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...said })}\n`);
});
