// A model that says what a scenario wrote down, in the four dialects that the clients speak.
//
// It keeps no state: a prompt that contains [[name]] starts the script `name`, and which of its turns comes next is
// read from the conversation that the client sends back. So subagents, side requests and resumed sessions cannot get
// in each other's way. A conversation without a script is answered "ok".

import { createServer } from "node:http";

const MARK = /\[\[([a-z0-9-]+)\]\]/g;

/** The last script that was named in a text. */
const scriptIn = (text) => [...text.matchAll(MARK)].at(-1)?.[1];

const textOf = (content) =>
  typeof content === "string"
    ? content
    : (content ?? [])
        .filter((part) => part.type !== "tool_result")
        .map((part) => part.text ?? part.encrypted_content ?? "")
        .join("\n");

/** What each dialect's request says, as `{user: text}` and `{turn: true}` (the model called tools), in order. */
const history = {
  anthropic: (body) =>
    (body.messages ?? []).map((message) =>
      message.role === "assistant"
        ? { turn: Array.isArray(message.content) && message.content.some((part) => part.type === "tool_use") }
        : { user: textOf(message.content) },
    ),
  chat: (body) =>
    (body.messages ?? []).map((message) => {
      if (message.role === "assistant") return { turn: Boolean(message.tool_calls?.length) };
      return message.role === "user" ? { user: textOf(message.content) } : {};
    }),
  // Calls made in parallel are items of their own here; our call ids say which belong to one turn.
  responses: (body) => {
    const seen = new Set();
    const items = typeof body.input === "string" ? [{ role: "user", content: body.input }] : (body.input ?? []);
    return items.map((item) => {
      if (item.call_id && item.type?.endsWith("_call")) {
        const turn = item.call_id.replace(/_\d+$/, "");
        if (seen.has(turn)) return {};
        seen.add(turn);
        return { turn: true };
      }
      return item.role === "user" || item.type === "agent_message" ? { user: textOf(item.content) } : {};
    });
  },
  gemini: (body) =>
    (body.contents ?? []).map((content) =>
      content.role === "model"
        ? { turn: content.parts?.some((part) => part.functionCall) }
        : { user: textOf(content.parts) },
    ),
};

let calls = 0;

/** The turn that comes next in this conversation: `{text}` or `{calls: [{tool, args}]}`. */
function next(dialect, body, scripts) {
  let script;
  let step = 0;
  for (const entry of history[dialect](body)) {
    const named = entry.user && scriptIn(entry.user);
    if (named) {
      script = named;
      step = 0;
    } else if (entry.turn) step += 1;
  }
  const turn = scripts[script]?.[step];
  turn?.before?.();
  if (!turn || turn.text) return { text: turn?.text ?? "ok" };
  calls += 1;
  const list = Array.isArray(turn) ? turn : [turn];
  return { calls: list.map((call, index) => ({ ...call, id: `call_${calls}_${index}` })) };
}

const sse = (response, events, named = true) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events) {
    if (named && event.type) response.write(`event: ${event.type}\n`);
    response.write(`data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`);
  }
  response.end();
};

const json = (response, value, status = 200) => {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
};

const answer = {
  anthropic(response, body, turn) {
    const content = turn.calls
      ? turn.calls.map(({ id, tool, args }) => ({ type: "tool_use", id, name: tool, input: args }))
      : [{ type: "text", text: turn.text }];
    const message = {
      id: `msg_${calls}`,
      type: "message",
      role: "assistant",
      model: body.model,
      stop_sequence: null,
      usage: { input_tokens: 10, output_tokens: 10 },
    };
    const stop_reason = turn.calls ? "tool_use" : "end_turn";
    if (!body.stream) return json(response, { ...message, content, stop_reason });
    const blocks = content.flatMap((block, index) => {
      const delta =
        block.type === "text"
          ? { type: "text_delta", text: block.text }
          : { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
      const empty = block.type === "text" ? { type: "text", text: "" } : { ...block, input: {} };
      return [
        { type: "content_block_start", index, content_block: empty },
        { type: "content_block_delta", index, delta },
        { type: "content_block_stop", index },
      ];
    });
    return sse(response, [
      { type: "message_start", message: { ...message, content: [], stop_reason: null } },
      ...blocks,
      { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 10 } },
      { type: "message_stop" },
    ]);
  },

  chat(response, body, turn) {
    const tool_calls = turn.calls?.map(({ id, tool, args }, index) => ({
      index,
      id,
      ...(typeof args === "string"
        ? { type: "custom", custom: { name: tool, input: args } }
        : { type: "function", function: { name: tool, arguments: JSON.stringify(args) } }),
    }));
    const said = { role: "assistant", content: turn.text ?? null, ...(tool_calls && { tool_calls }) };
    const finish_reason = tool_calls ? "tool_calls" : "stop";
    const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
    const base = { id: `chat_${calls}`, created: 1, model: body.model };
    if (!body.stream) {
      const choices = [{ index: 0, message: said, finish_reason }];
      return json(response, { ...base, object: "chat.completion", choices, usage });
    }
    const chunk = (delta, finish) => ({
      ...base,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
    const last = { ...base, object: "chat.completion.chunk", choices: [], usage };
    return sse(response, [chunk(said, null), chunk({}, finish_reason), last, "[DONE]"]);
  },

  responses(response, body, turn) {
    const id = `resp_${calls}`;
    const output = turn.calls
      ? turn.calls.map(({ id: call_id, tool, args, namespace }) =>
          typeof args === "string"
            ? { type: "custom_tool_call", id: `item_${call_id}`, call_id, name: tool, input: args }
            : {
                type: "function_call",
                id: `item_${call_id}`,
                call_id,
                name: tool,
                ...(namespace && { namespace }),
                arguments: JSON.stringify(args),
              },
        )
      : [{ type: "message", id: "item", role: "assistant", content: [{ type: "output_text", text: turn.text }] }];
    const usage = { input_tokens: 10, output_tokens: 10, total_tokens: 20 };
    return sse(response, [
      { type: "response.created", response: { id } },
      ...output.map((item, output_index) => ({ type: "response.output_item.done", output_index, item })),
      { type: "response.completed", response: { id, status: "completed", output, usage } },
    ]);
  },

  gemini(response, body, turn, stream) {
    const parts = turn.calls
      ? turn.calls.map(({ tool, args }) => ({ functionCall: { name: tool, args } }))
      : [{ text: turn.text }];
    const reply = {
      candidates: [{ index: 0, content: { role: "model", parts }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 },
    };
    return stream ? sse(response, [reply]) : json(response, reply);
  },
};

const dialects = [
  [/\/messages$/, "anthropic"],
  [/\/responses$/, "responses"],
  [/\/chat\/completions$/, "chat"],
  [/:(stream)?generateContent$/i, "gemini"],
];

/**
 * Listens on a free loopback port. `scripts` maps a script's name to its turns; a turn is `{text}`, `{tool, args}` or
 * a list of the latter (calls made at once); what it has as `before` is run when it is asked for. `log` gets every request's path and body.
 */
export function model(scripts, log = () => {}) {
  const server = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const path = request.url.split("?")[0];
      let body = {};
      try {
        body = JSON.parse(Buffer.concat(chunks).toString() || "{}");
      } catch {
        // A request that is not JSON is none of the model's.
      }
      log(request.method, path, body);
      const dialect = dialects.find(([pattern]) => pattern.test(path))?.[1];
      if (request.method === "POST" && dialect) {
        return answer[dialect](response, body, next(dialect, body, scripts), /stream/.test(path));
      }
      if (/count_?tokens/i.test(path)) return json(response, { input_tokens: 10, totalTokens: 10 });
      return json(response, { error: { message: "not found", type: "not_found_error" } }, 404);
    });
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve({ server, port: server.address().port }));
  });
}
