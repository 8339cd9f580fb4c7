// A hook that keeps what it is handed and answers nothing, and how each client is told of it.

import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { addServer, merge } from "./servers.mjs";

const CLAUDE_EVENTS = [
  "PreToolUse",
  "PostToolUse",
  "PostToolUseFailure",
  "UserPromptSubmit",
  "UserPromptExpansion",
  "PermissionRequest",
  "SessionStart",
  "SessionEnd",
  "SubagentStart",
  "SubagentStop",
  "PreCompact",
  "Stop",
];

const claudeShaped = (command, events) => ({
  hooks: Object.fromEntries(
    events.map((event) => [event, [{ matcher: "*", hooks: [{ type: "command", command, timeout: 10 }] }]]),
  ),
});

/** How the recorder is made known to each client. */
const connections = {
  "claude-code": ({ home, project }, hook) => {
    merge(join(home, ".claude/settings.json"), claudeShaped(hook, CLAUDE_EVENTS));
    merge(join(home, ".claude.json"), { projects: { [project]: { hasTrustDialogAccepted: true } } });
  },
  codex: ({ home }, hook) => {
    merge(
      join(home, ".codex/hooks.json"),
      claudeShaped(
        hook,
        CLAUDE_EVENTS.filter((event) => !/Failure|Expansion/.test(event)),
      ),
    );
  },
  copilot: ({ home }, hook) => {
    merge(join(home, ".copilot/hooks/record.json"), { version: 1, ...claudeShaped(hook, CLAUDE_EVENTS) });
  },
  gemini: ({ home }, hook) => {
    const events = [
      "BeforeTool",
      "AfterTool",
      "BeforeAgent",
      "AfterAgent",
      "BeforeToolSelection",
      "SessionStart",
      "SessionEnd",
    ];
    merge(join(home, ".gemini/settings.json"), {
      hooks: Object.fromEntries(
        events.map((event) => [
          event,
          [{ matcher: ".*", hooks: [{ type: "command", command: hook, timeout: 10000 }] }],
        ]),
      ),
    });
  },
  "qwen-code": ({ home }, hook) =>
    merge(join(home, ".qwen/settings.json"), claudeShaped(hook, CLAUDE_EVENTS)),
  opencode: ({ home, records }) => {
    mkdirSync(join(home, ".config/opencode/plugins"), { recursive: true });
    const names = [
      "tool.execute.before",
      "tool.execute.after",
      "chat.message",
      "command.execute.before",
      "permission.ask",
    ];
    writeFileSync(
      join(home, ".config/opencode/plugins/record.js"),
      `import { writeFileSync } from "node:fs";
let count = 0;
const keep = (hook_event_name, input, output) =>
  writeFileSync(\`${records}/\${Date.now()}\${String(++count).padStart(6, "0")}.json\`, JSON.stringify({ hook_event_name, input, output }));
export const Record = async (context) => {
  keep("plugin", Object.fromEntries(Object.entries(context).filter(([, value]) => typeof value === "string")));
  return {
    ${names.map((event) => `"${event}": async (input, output) => keep("${event}", input, output),`).join("\n    ")}
    event: async ({ event }) => { if (/^session\\.(created|deleted|idle)/.test(event.type)) keep("event", event); },
  };
};
`,
    );
  },
};

/** Registers the recorder for every event, and a server with a tool; what it keeps lies in `place.records`. */
export function connect(name, place) {
  place.records = join(place.root, "records");
  mkdirSync(place.records);
  const script = join(place.root, "record");
  // Quick, with no program of its own but `cat`: a hook for the end of a session has little time.
  writeFileSync(script, `#!/bin/sh\nexec cat >"${place.records}/$(date +%s%N)-$$.json"\n`);
  chmodSync(script, 0o755);
  connections[name](place, script);
  addServer(name, place, "agent-skills");
}

/** Everything that was kept, in order; a mark, which `mark` sets, is `undefined`. */
export function kept({ records, root, home, project, port }) {
  const stable = (text) =>
    text
      .replaceAll(project.replaceAll("/", "-"), "-work-project")
      .replaceAll(project, "/work/project")
      .replaceAll(home, "/home/u")
      .replaceAll(root, "/work")
      .replaceAll(`:${port}/`, ":1/");
  return readdirSync(records)
    .sort()
    .map((file) =>
      file.endsWith(".json") ? JSON.parse(stable(readFileSync(join(records, file), "utf8"))) : undefined,
    );
}

export const mark = ({ records }) => writeFileSync(join(records, `${Date.now()}999999.mark`), "");
