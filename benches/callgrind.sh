#!/bin/sh
# Counts the instructions of the host's calls; the count is exact and independent of other load.
# Needs valgrind; an executable with symbols shows names, too.
#
# usage: benches/callgrind.sh [EXECUTABLE]
set -eu

command -v valgrind >/dev/null 2>&1 || {
    echo "callgrind.sh: valgrind was not found: install it with your package manager" >&2
    exit 1
}
executable=${1:-target/release/agent-skills}
[ -x "$executable" ] || {
    echo "callgrind.sh: there is no $executable: cargo build --release" >&2
    exit 1
}
executable=$(cd "$(dirname "$executable")" && pwd)/$(basename "$executable")

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$stage/plugin/skills/reader" "$stage/work"
printf -- '---\nname: reader\ndescription: Reads.\nallowed-tools: Read Bash(git status *)\n---\nRead.\n' \
    >"$stage/plugin/skills/reader/SKILL.md"
unset CHIBI_HOOK CHIBI_HOOK_DATA CHIBI_TOOL_NAME CHIBI_TOOL_ARGS
export HOME="$stage" AGENT_SKILLS_HOME="$stage/plugin" AGENT_SKILLS_SESSION=callgrind
cd "$stage/work"
# The index is used only for files that have not changed recently.
sleep 0.1

counted() { # label, then the command
    what=$1
    shift
    valgrind --tool=callgrind --demangle=no --callgrind-out-file="$stage/out" "$@" >/dev/null 2>"$stage/log" </dev/null
    printf '%12s  %s\n' "$(sed -n 's/.*Collected : *//p' "$stage/log")" "$what"
}
hook() { # label, hook, its data
    CHIBI_HOOK=$2 CHIBI_HOOK_DATA=$3 counted "$1" "$executable"
}

echo "instructions  call"
used='{"tool_name":"shell_exec","arguments":{"command":"git status --short"}}'
hook "pre_tool, nothing active" pre_tool "$used"
counted "--schema, cold" "$executable" --schema
counted "--schema, warm" "$executable" --schema
hook "post_system_prompt" post_system_prompt '{"context_name":"x"}'
hook "post_system_prompt, warm" post_system_prompt '{"context_name":"x"}'
hook "pre_tool, activation" pre_tool '{"tool_name":"skill_reader","arguments":{}}'
hook "pre_tool, shell command checked" pre_tool "$used"
hook "pre_tool, allowed" pre_tool '{"tool_name":"file_head","arguments":{"path":"x"}}'
hook "pre_api_tools" pre_api_tools '{"tools":[{"name":"file_head","type":"builtin"}]}'
hook "pre_tool, blocked" pre_tool '{"tool_name":"write_file","arguments":{"path":"x","content":"y"}}'
hook "on_start" on_start '{}'
