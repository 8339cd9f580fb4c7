// Written by `agent-skills hosts add opencode`; `agent-skills hosts remove opencode` takes it away.
// It asks agent-skills before each tool call, and blocks the call when there is no answer.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";

const COMMAND = [];
const MILLISECONDS = 10000;

function blocked(reason) {
  return new Error(`agent-skills: ${reason}`);
}

// The answer to one event; an error if there is none, or if it is no.
function ask(payload) {
  return new Promise((resolve, reject) => {
    const program = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", "pipe", "pipe"] });
    let out = "";
    let err = "";
    const timer = setTimeout(() => {
      program.kill("SIGKILL");
      reject(blocked(`no answer in ${MILLISECONDS / 1000} s`));
    }, MILLISECONDS);
    program.on("error", (error) => {
      clearTimeout(timer);
      reject(blocked(`${COMMAND[0]} cannot be run: ${error.message}`));
    });
    program.stdout.on("data", (data) => (out += data));
    program.stderr.on("data", (data) => (err += data));
    // A program that answers without reading all of it closes the pipe.
    program.stdin.on("error", () => {});
    program.on("close", (code) => {
      clearTimeout(timer);
      if (code !== 0) {
        return reject(blocked(err.trim() || `${COMMAND[0]} ended with status ${code}`));
      }
      let answer;
      try {
        answer = out.trim() === "" ? {} : JSON.parse(out);
      } catch {
        return reject(blocked(`${COMMAND[0]} did not answer in JSON`));
      }
      if (answer.decision === "deny") {
        return reject(blocked(answer.reason || "the call was denied"));
      }
      resolve(answer);
    });
    program.stdin.end(JSON.stringify(payload));
  });
}

// Directories in which opencode finds skills.
function skillDirectories(directory) {
  const home = homedir();
  const config = join(process.env.XDG_CONFIG_HOME || join(home, ".config"), "opencode");
  const holders = [".opencode", ".claude", ".agents"];
  const found = [config, ...holders.map((name) => join(home, name))];
  if (process.env.OPENCODE_CONFIG_DIR) found.push(process.env.OPENCODE_CONFIG_DIR);
  for (let at = directory; ; at = dirname(at)) {
    found.push(...holders.map((name) => join(at, name)));
    if (at === dirname(at)) break;
  }
  return found.flatMap((place) => [join(place, "skill"), join(place, "skills")]).filter(existsSync);
}

// Names of the skills below a directory whose text runs commands when a person types their name.
// Such a text must not be expanded by opencode itself, which asks no plugin before it runs them.
function runningSkills(directory, depth, names) {
  if (depth === 0) return;
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory() || entry.isSymbolicLink()) {
      try {
        runningSkills(path, depth - 1, names);
      } catch {
        // It is no directory, or nobody can read it.
      }
    } else if (entry.name === "SKILL.md") {
      const text = readFileSync(path, "utf8");
      if (!text.includes("!`")) continue;
      names.add(basename(directory));
      const named = /^name:\s*["']?([^"'\r\n]+?)["']?\s*$/m.exec(text);
      if (named) names.add(named[1]);
    }
  }
}

export const AgentSkills = async ({ client, directory }) => {
  const parents = new Map();

  // The session that a subagent's session began from; undefined for one of the user's own.
  async function parentOf(sessionID) {
    let top = sessionID;
    for (let steps = 0; steps < 32; steps++) {
      if (!parents.has(top)) {
        const found = await client.session.get({ path: { id: top } });
        if (!found.data) throw blocked(`which session ${top} belongs to is not known`);
        parents.set(top, found.data.parentID);
      }
      const parent = parents.get(top);
      if (!parent) break;
      top = parent;
    }
    return top === sessionID ? undefined : top;
  }

  async function about(event, sessionID, more) {
    return ask({ event, sessionID, parentID: await parentOf(sessionID), directory, ...more });
  }

  return {
    config: async (config) => {
      const names = new Set();
      for (const place of skillDirectories(directory)) runningSkills(place, 6, names);
      for (const name of names) {
        config.command ??= {};
        config.command[name] ??= {
          description: `The skill ${name}`,
          template: `Load the skill "${name}" with the skill tool and follow it.\n\n$ARGUMENTS`,
        };
      }
    },
    event: async ({ event }) => {
      const info = event.type === "session.created" && event.properties.info;
      if (info) parents.set(info.id, info.parentID);
    },
    "command.execute.before": async ({ command, sessionID, arguments: words }) => {
      await about("command.execute.before", sessionID, { command, arguments: words });
    },
    "chat.message": async ({ sessionID, messageID }, { message, parts }) => {
      // What opencode says to itself is no prompt of its user.
      if (parts?.length && parts.every((part) => part.synthetic)) return;
      await about("chat.message", sessionID, { messageID: messageID ?? message?.id });
    },
    "tool.execute.before": async ({ tool, sessionID, callID }, output) => {
      const more = { tool, callID, args: output.args };
      const { args } = await about("tool.execute.before", sessionID, more);
      if (args) {
        for (const name of Object.keys(output.args)) delete output.args[name];
        Object.assign(output.args, args);
      }
    },
    "tool.execute.after": async ({ tool, sessionID, callID, args }) => {
      if (tool !== "skill") return;
      await about("tool.execute.after", sessionID, { tool, callID, args });
    },
  };
};
