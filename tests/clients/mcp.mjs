// An MCP server with one tool, `use_skill`, on standard input and output: what a client calls a tool of a server.

import { createInterface } from "node:readline";

const replies = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "agent-skills", version: "1" },
  }),
  "tools/list": () => ({
    tools: [
      {
        name: "use_skill",
        description: "Uses a skill.",
        inputSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
      },
    ],
  }),
  "tools/call": ({ arguments: { name } }) => ({ content: [{ type: "text", text: `used ${name}` }] }),
  ping: () => ({}),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const reply = replies[method];
  const said = reply ? { result: reply(params) } : { error: { code: -32601, message: "unknown method" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...said })}\n`);
});
