// A client whose user can be asked. This user lets skills be used and refuses everything else, or agrees to everything;
// what they were asked is kept in `place.asked`.

import { createInterface } from "node:readline";

import { start } from "./run-client.mjs";

/** The protocol for editors (agentclientprotocol.com). */
const acp = (args) => ({
  args,
  begin: async ({ call }, place, prompt) => {
    await call("initialize", { protocolVersion: 1, clientCapabilities: {} });
    const { result } = await call("session/new", { cwd: place.project, mcpServers: [] });
    await call("session/prompt", { sessionId: result.sessionId, prompt: [{ type: "text", text: prompt }] });
  },
  request: ({ id, method, params }) => {
    if (method !== "session/request_permission") return { jsonrpc: "2.0", id, error: { code: -32601, message: "no" } };
    const answer = (isAllowed) => {
      const kind = isAllowed ? "allow_once" : "reject_once";
      const { optionId } = params.options.find((option) => option.kind === kind);
      return { jsonrpc: "2.0", id, result: { outcome: { outcome: "selected", optionId } } };
    };
    return { asked: JSON.stringify(params.toolCall), answer };
  },
});

const dialects = {
  // What its SDK speaks.
  "claude-code": {
    args: "-p --input-format stream-json --output-format stream-json --verbose --permission-prompt-tool stdio",
    begin: ({ send, until }, _, prompt) => {
      send({ type: "user", message: { role: "user", content: prompt } });
      return until((message) => message.type === "result");
    },
    request: ({ type, request_id, request }) => {
      if (type !== "control_request" || request.subtype !== "can_use_tool") return;
      const answer = (isAllowed) => ({
        type: "control_response",
        response: {
          subtype: "success",
          request_id,
          response: isAllowed
            ? { behavior: "allow", updatedInput: request.input }
            : { behavior: "deny", message: "The user said no." },
        },
      });
      return { asked: JSON.stringify([request.tool_name, request.input]), answer };
    },
  },
  copilot: acp("--acp"),
  "qwen-code": acp("--acp --approval-mode default"),
};

/** As `say`, with somebody there to be asked. */
export async function saySomebody(name, place, prompt, options) {
  const dialect = dialects[name];
  const { child, ended, end } = start(name, place, dialect.args.split(" "), { ...options, stdin: "pipe" });
  const waiting = [];
  const send = (message) => child.stdin.write(`${JSON.stringify(message)}\n`);
  const until = (isIt) => new Promise((resolve) => waiting.push({ isIt, resolve }));
  let calls = 0;
  const call = (method, params) => {
    const id = `ours-${(calls += 1)}`;
    send({ jsonrpc: "2.0", id, method, params });
    return until((message) => message.id === id);
  };
  child.stdin.on("error", () => {});
  createInterface({ input: child.stdout }).on("line", (line) => {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return;
    }
    for (const { isIt, resolve } of waiting) if (isIt(message)) resolve(message);
    const wants = message.id !== undefined && !message.method ? undefined : dialect.request(message);
    if (!wants) return;
    if (!wants.asked) return send(wants);
    place.asked.push(wants.asked);
    const isSkills = /skill/i.test(wants.asked) && !/touch/.test(wants.asked);
    send(wants.answer(options.somebody === "agrees" || isSkills));
  });
  await Promise.race([dialect.begin({ send, until, call }, place, prompt), ended]);
  end();
  return ended;
}
