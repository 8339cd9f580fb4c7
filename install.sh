#!/bin/sh
# Builds agent-skills, puts it where chibi loads plugins from, and plays a short conversation
# through it to show that it works.
set -eu

usage() {
    cat <<'TEXT'
usage: ./install.sh [--dir DIR]

Builds agent-skills and installs it, with two skills, as a chibi plugin.

  --dir DIR   the plugin directory
              (default: ${CHIBI_HOME:-~/.chibi}/plugins/agent-skills)
  --help      show this text

Needs cargo and git. Skills that are installed already are left as they are.
TEXT
}

say() { printf '%s\n' "$*"; }

fail() {
    printf 'install.sh: %s\n' "$1" >&2
    [ $# -lt 2 ] || printf 'hint: %s\n' "$2" >&2
    exit 1
}

dir=
while [ $# -gt 0 ]; do
    case $1 in
    --dir)
        [ -n "${2:-}" ] || fail "--dir needs a directory" "./install.sh --dir DIR"
        dir=$2
        shift 2
        ;;
    --dir=?*)
        dir=${1#--dir=}
        shift
        ;;
    -h | --help)
        usage
        exit 0
        ;;
    *)
        usage >&2
        exit 2
        ;;
    esac
done

[ -n "$dir" ] || [ -n "${CHIBI_HOME:-}" ] || [ -n "${HOME:-}" ] ||
    fail "neither HOME nor CHIBI_HOME is set" "say where to install: ./install.sh --dir DIR"
[ -n "$dir" ] || dir=${CHIBI_HOME:-$HOME/.chibi}/plugins/agent-skills
case $dir in
*[![:space:]]*) ;;
*) fail "--dir needs a directory" "./install.sh --dir DIR" ;;
esac
case $dir in
/*) ;;
*) dir=$PWD/$dir ;;
esac

command -v cargo >/dev/null 2>&1 ||
    fail "cargo was not found" "install Rust from https://rustup.rs and open a new terminal"
command -v git >/dev/null 2>&1 ||
    fail "git was not found, and skills are installed with it" "install git with your package manager"

source=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cd "$source"
target=${CARGO_TARGET_DIR:-target}
host=$(rustc -vV | sed -n 's/^host: //p')

# On Linux the dynamic loader would cost more than the program itself, at every hook: link
# statically where the system has what that needs, and to a fixed address, so that there is nothing
# to relocate.
build_static() {
    RUSTFLAGS="${RUSTFLAGS:-} -Ctarget-feature=+crt-static -Crelocation-model=static" \
        cargo build --release --locked --target "$host"
}
built=
case $host in
*-linux-*)
    say "Building (static)"
    if build_static; then
        built=$target/$host/release/agent-skills
    else
        say "note: no static build is possible here (is the static libc missing?); building without"
    fi
    ;;
esac
if [ -z "$built" ]; then
    say "Building"
    cargo build --release --locked || fail "the build failed" "the messages above say why"
    built=$target/release/agent-skills
fi

mkdir -p "$dir/skills" || fail "could not create $dir" "check its permissions, or use --dir"
# A running host keeps the old file; the new one takes its name in one step.
{ cp "$built" "$dir/.agent-skills.new" && chmod 755 "$dir/.agent-skills.new" &&
    mv -f "$dir/.agent-skills.new" "$dir/agent-skills"; } ||
    fail "could not write $dir/agent-skills" "check permissions and free space"
for skill in example-skill skill-author; do
    if [ -e "$dir/skills/$skill" ]; then
        say "The skill $skill is there already and was left as it is"
        continue
    fi
    # Copied beside skills/ first: every entry in it is a skill, and must be whole.
    rm -rf "$dir/.$skill.new"
    { cp -R "skills/$skill" "$dir/.$skill.new" && mv "$dir/.$skill.new" "$dir/skills/$skill"; } ||
        fail "could not copy the skill $skill" "check permissions and free space"
done
say "Installed in $dir"
case $dir in
*/plugins/agent-skills) ;;
*)
    say "note: chibi loads plugins from plugins/agent-skills in its home, and the program looks for"
    say "      its skills there: to use this copy, set AGENT_SKILLS_HOME='$dir'"
    ;;
esac

# One conversation, as the host would have it: each call is a process of its own. It is played in
# a directory of its own, so that neither the user's skills nor their settings come into it.
say
say "A short conversation through it:"
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir "$stage/skills"
cp -R skills/example-skill "$stage/skills/"
AGENT_SKILLS_HOME=$stage
AGENT_SKILLS_SESSION=install-$$
export AGENT_SKILLS_HOME AGENT_SKILLS_SESSION
unset CHIBI_HOOK CHIBI_HOOK_DATA CHIBI_TOOL_NAME CHIBI_TOOL_ARGS
hook() { printf '%s' "$2" | CHIBI_HOOK=$1 "$dir/agent-skills"; }
tool() { printf '%s' "$2" | CHIBI_TOOL_NAME=$1 "$dir/agent-skills"; }
expect() { # what was done, the part that the answer must have, the answer
    case $3 in
    *"$2"*) printf '  ok  %s\n' "$1" ;;
    *)
        printf '  FAILED  %s\n  answered: %s\n' "$1" "$3" >&2
        fail "the installed program does not answer as it should" "please report this"
        ;;
    esac
}
expect "--schema lists the tool skill_example-skill" '"name":"skill_example-skill"' \
    "$("$dir/agent-skills" --schema)"
expect "on_start begins a session" '{}' "$(hook on_start '{}')"
expect "post_system_prompt tells the model of the skill" 'Available Agent Skills' \
    "$(hook post_system_prompt '{"context_name":"install"}')"
expect "pre_tool lets the model activate it" '{}' \
    "$(hook pre_tool '{"tool_name":"skill_example-skill","arguments":{}}')"
expect "the skill's instructions arrive" '<skill_content name="example-skill">' \
    "$(tool skill_example-skill '{}')"
expect "a shell command is refused: the skill permits reading only" '"block":true' \
    "$(hook pre_tool '{"tool_name":"shell_exec","arguments":{"command":"ls"}}')"
expect "its script runs" 'Hello, you!' \
    "$(tool run_skill_script '{"skill":"example-skill","script":"scripts/hello.sh","args":["you"]}')"
expect "the next on_start ends the restriction" '{}' "$(hook on_start '{}')"
say
say "Next: chibi \"Use the example skill to greet Ada\""
say "      $dir/agent-skills list"
