#!/bin/sh
# Builds agent-skills, installs it where chibi loads plugins from, or for other agents, and runs a
# short conversation as a test.
set -eu
# Whoever else could write there could run programs as the user.
umask go-w

usage() {
    cat <<'TEXT'
usage: ./install.sh [--dir DIR] [--program FILE] [--link [DIR]] [--completions]
       ./install.sh --for AGENT[,AGENT…] [--program FILE] [--link DIR] [--completions]
       ./install.sh --uninstall [--dir DIR] [--link DIR]

Builds agent-skills and installs it as a chibi plugin, with two skills, or for other agents. What
runs meanwhile is not disturbed.

  --for AGENT      install it for these agents (claude-code, codex, copilot, gemini, qwen-code,
                   opencode, …) and connect them: the program in ~/.local/bin, its data in
                   ${XDG_DATA_HOME:-~/.local/share}/agent-skills. If chibi has it, that one serves
                   them too
  --dir DIR        the plugin directory
                   (default: ${CHIBI_HOME:-~/.chibi}/plugins/agent-skills)
  --program FILE   install this program instead of building one
  --link [DIR]     also link the program into DIR, so that shells find it; with --for the place of
                   the program itself (default: ~/.local/bin)
  --completions    also let bash, zsh and fish complete its commands
  --uninstall      disconnect agents, and remove the program, its link, and what it keeps for
                   itself; your skills, their lockfile and your configuration stay
  --help           show this text

Needs git, and to build cargo; on Linux it has rustup add Rust's musl target. Skills that are
installed already are left as they are.
TEXT
}

say() { printf '%s\n' "$*"; }

fail() {
    printf 'install.sh: %s\n' "$1" >&2
    [ $# -lt 2 ] || printf 'hint: %s\n' "$2" >&2
    exit 1
}

dir=
agents=
built=
link=
bin=
completions=
uninstall=
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
    --for)
        [ -n "${2:-}" ] || fail "--for needs an agent" "./install.sh --for claude-code"
        agents=$2
        shift 2
        ;;
    --for=?*)
        agents=${1#--for=}
        shift
        ;;
    --program)
        [ -n "${2:-}" ] || fail "--program needs a file" "./install.sh --program FILE"
        built=$2
        shift 2
        ;;
    --link)
        link=yes
        case ${2:-} in
        '' | -*) ;;
        *)
            bin=$2
            shift
            ;;
        esac
        shift
        ;;
    --link=?*)
        link=yes
        bin=${1#--link=}
        shift
        ;;
    --completions)
        completions=yes
        shift
        ;;
    --uninstall)
        uninstall=yes
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
# Those of src/host/agent: a name that is none of them is refused before anything is installed.
known="claude-code codex copilot gemini qwen-code opencode cursor"
if [ -n "$agents" ]; then
    names=$(printf '%s' "$agents" | tr -s ', ' ' ' | sed 's/^ //; s/ $//')
    for agent in ${names:-none}; do
        case " $known " in
        *" $agent "*) ;;
        *) fail "$agent is not an agent" "the agents are $(printf '%s' "$known" | sed 's/ /, /g')" ;;
        esac
    done
    [ -z "$dir$uninstall" ] || fail "--for chooses the place itself" "leave out --dir and --uninstall"
    [ -n "${HOME:-}" ] || fail "HOME is not set, so there is no agent's configuration" "set HOME"
fi
case ${XDG_DATA_HOME:-} in
/*) data=$XDG_DATA_HOME ;;
*) data=${HOME:-}/.local/share ;;
esac
# The place of an installation without chibi.
own=$data/agent-skills
given=$dir
[ -n "$dir" ] || dir=${CHIBI_HOME:-$HOME/.chibi}/plugins/agent-skills
case $dir in
*[![:space:]]*) ;;
*) fail "--dir needs a directory" "./install.sh --dir DIR" ;;
esac
case $dir in
/*) ;;
*) dir=$PWD/$dir ;;
esac
[ -n "$bin" ] || [ -z "${HOME:-}" ] || bin=$HOME/.local/bin
[ -n "$bin" ] || [ -z "$link" ] || fail "HOME is not set" "say where to link it: ./install.sh --link DIR"
case $bin in
/* | '') ;;
*) bin=$PWD/$bin ;;
esac
# Whether this is where an installation for other agents has its program. A file of that name
# without our data is somebody else's.
is_own() { [ -n "$bin" ] && [ -d "$own/skills" ] && [ -f "$bin/agent-skills" ] && [ ! -L "$bin/agent-skills" ]; }
is_plugin() { [ -f "$dir/agent-skills" ] && [ -d "$dir/skills" ]; }
file=$dir/agent-skills
shared=
if [ -n "$agents" ] && is_plugin && ! is_own; then
    shared=yes link=yes
elif [ -n "$agents" ] || { [ -n "$uninstall" ] && [ -z "$given" ] && ! is_plugin && is_own; }; then
    dir=$own file=$bin/agent-skills
fi
# Whether the link is there that this script makes. Nothing else in its place is ever touched.
is_linked() { [ -L "$bin/agent-skills" ] && [ "$(readlink "$bin/agent-skills")" = "$dir/agent-skills" ]; }

source=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
bash_completion=$data/bash-completion/completions/agent-skills
zsh_completion=$data/zsh/site-functions/_agent-skills
fish_completion=${XDG_CONFIG_HOME:-${HOME:-}/.config}/fish/completions/agent-skills.fish

# Takes this program out of the configuration of agents, some of which block every call without it:
# out of all of them, or out of none and nothing is uninstalled.
disconnect() {
    connected=
    for record in "$dir"/hosts/*.json; do
        [ -f "$record" ] || continue
        name=${record##*/}
        path=$(sed -n 's/^ *"path": "\(.*\)",$/\1/p' "$record")
        case $name in
        *-user-*) connected="$connected ${name%-user-*}" ;;
        *)
            agent=${name%-*-*}
            [ ! -f "$path" ] || fail "$agent is still connected by $path" "there: $file hosts remove $agent"
            ;;
        esac
    done
    [ -n "$connected" ] || return 0
    # shellcheck disable=SC2086 # names of agents, without blanks
    remove() { AGENT_SKILLS_HOME=$dir "$file" hosts remove $connected --scope user "$1"; }
    { remove --dry-run >/dev/null && remove --yes; } ||
        fail "still connected:$connected" "in a terminal that no agent started: ./install.sh --uninstall"
}

if [ -n "$uninstall" ]; then
    [ -d "$dir" ] || fail "there is no $dir" "say where it is: ./install.sh --uninstall --dir DIR"
    if ! [ -f "$file" ] || ! [ -d "$dir/skills" ]; then
        fail "$dir is no installation of agent-skills" "say where it is: ./install.sh --uninstall --dir DIR"
    fi
    disconnect
    rm -f "$file" || fail "could not remove $file" "check its permissions"
    if is_linked; then rm -f "$bin/agent-skills"; fi
    # Regenerated when needed, or used only by running sessions.
    rm -rf "$dir/cache" "$dir/staging" "$dir/jobs" "$dir/index"
    rm -rf "$dir/hooks" "$dir/hosts" "$dir/signed"
    rm -f "$dir/state.json" "$dir/told" "$dir"/*.lock "$dir"/.*.lock "$dir"/.*.tmp "$dir/refusals" "$dir/.agent-skills.new."*
    # Only files that identify themselves as ours.
    for file in "$bash_completion" "$zsh_completion" "$fish_completion"; do
        if [ -n "${HOME:-}" ] && [ -f "$file" ] && grep -q 'agent\\\{0,1\}-skills' "$file"; then
            rm -f "$file"
        fi
    done
    for skill in example-skill skill-author; do
        bundled=$dir/skills/$skill
        if [ -d "$bundled" ] && diff -r "$source/skills/$skill" "$bundled" >/dev/null 2>&1; then
            rm -rf "$bundled"
        fi
    done
    rmdir "$dir/skills" 2>/dev/null || true
    if rmdir "$dir" 2>/dev/null; then
        say "agent-skills is removed; nothing of yours was in $dir"
    else
        say "agent-skills is removed. What is yours stays in $dir:"
        # shellcheck disable=SC2012 # names for a person to read
        ls -A "$dir" | sed 's/^/  /'
        if [ "$dir" = "$own" ]; then
            say "note: to be rid of your skills too: rm -r '$dir'"
        else
            say "note: chibi warns of a plugin directory without a program; to be rid of it and of your"
            say "      skills: rm -r '$dir'"
        fi
    fi
    exit 0
fi

if [ "$dir" = "$own" ]; then
    # Here the program itself is in that place.
    link=
    if ! is_own && { [ -e "$file" ] || [ -L "$file" ]; }; then
        fail "$file is there, and this script did not make it" "remove it, or install elsewhere: ./install.sh --for $agents --link DIR"
    fi
fi
if [ -n "$link" ] && ! is_linked && { [ -e "$bin/agent-skills" ] || [ -L "$bin/agent-skills" ]; }; then
    fail "$bin/agent-skills is not a link to $dir/agent-skills" "remove it, or link elsewhere: ./install.sh --link DIR"
fi
command -v git >/dev/null 2>&1 ||
    fail "git was not found, and skills are installed with it" "install git with your package manager"

if [ -n "$shared" ]; then
    say "chibi has agent-skills in $dir; it serves other agents too"
    built=$file
fi
# In a release the program is next to this script.
if [ -z "$built" ] && [ ! -f "$source/Cargo.toml" ] && [ -f "$source/agent-skills" ]; then
    built=$source/agent-skills
fi
if [ -n "$built" ]; then
    [ -f "$built" ] || fail "there is no program $built" "./install.sh builds one"
    case $built in
    /*) ;;
    *) built=$PWD/$built ;;
    esac
    cd "$source"
else
    command -v cargo >/dev/null 2>&1 ||
        fail "cargo was not found" "install Rust from https://rustup.rs and open a new terminal"
    command -v rustc >/dev/null 2>&1 ||
        fail "rustc was not found" "install Rust from https://rustup.rs and open a new terminal"
    cd "$source"
    target=${CARGO_TARGET_DIR:-target}
    host=$(rustc -vV | sed -n 's/^host: //p')

    # Link statically: on Linux the dynamic loader costs more than the program itself, at every
    # hook. Use musl, because glibc starts by querying all processor features, which is slow in a
    # virtual machine.
    has_target() {
        library=$(rustc --print target-libdir --target "$1" 2>/dev/null) && [ -d "$library" ]
    }
    case $host in
    *-linux-*)
        musl=$(printf '%s' "$host" | sed 's/-gnu/-musl/')
        if ! has_target "$musl" && command -v rustup >/dev/null 2>&1; then
            say "Adding Rust's target $musl, for a start three times as quick"
            rustup target add "$musl" || :
        fi
        if ! has_target "$musl"; then
            say "note: this Rust has no target $musl; building with the system's C library"
        else
            say "Building (static, with musl)"
            # Named even where it is the host's: .cargo/config.toml is not for programs of the build.
            if cargo build --release --locked --target "$musl"; then
                built=$target/$musl/release/agent-skills
            else
                say "note: no build with musl is possible here; building without"
            fi
        fi
        ;;
    esac
    if [ -z "$built" ]; then
        say "Building"
        cargo build --release --locked || fail "the build failed" "the messages above say why"
        built=$target/release/agent-skills
    fi
fi

program=$file
on_path() {
    case :$PATH: in
    *:"$bin":*) program="agent-skills" ;;
    *)
        say "note: $bin is not on your PATH; add this line to ~/.bashrc or ~/.zshrc:"
        say "      export PATH=\"$bin:\$PATH\""
        ;;
    esac
}

mkdir -p "$dir/skills" "${file%/*}" || fail "could not create $dir" "check its permissions, or use --dir"
# Rename the new file into place, so that a running host keeps the old one. The system would refuse
# to write into a running program.
new=${file%/*}/.agent-skills.new.$$
[ -n "$shared" ] || { cp "$built" "$new" && chmod 755 "$new" && mv -f "$new" "$file"; } || {
    rm -f "$new"
    fail "could not write $file" "check permissions and free space"
}
[ -n "$agents" ] || for skill in example-skill skill-author; do
    if [ -e "$dir/skills/$skill" ]; then
        say "The skill $skill is there already and was left as it is"
        continue
    fi
    # Copy next to skills/ first: every entry in skills/ is a skill and must be complete.
    rm -rf "$dir/.$skill.new"
    { cp -R "skills/$skill" "$dir/.$skill.new" && mv "$dir/.$skill.new" "$dir/skills/$skill"; } ||
        fail "could not copy the skill $skill" "check permissions and free space"
done
if [ "$dir" = "$own" ]; then
    say "Installed as $file, with its data in $dir"
    on_path
elif [ -z "$shared" ]; then
    say "Installed in $dir"
    if is_own; then
        say "note: $bin/agent-skills is another installation, with its own skills in $own"
    fi
fi
case $dir in
*/plugins/agent-skills | "$own") ;;
*)
    say "note: chibi loads plugins from plugins/agent-skills in its home, and the program looks for"
    say "      its skills there: to use this copy, set AGENT_SKILLS_HOME='$dir'"
    ;;
esac

if [ -n "$link" ]; then
    is_linked || { mkdir -p "$bin" && ln -s "$dir/agent-skills" "$bin/agent-skills"; } ||
        fail "could not link $bin/agent-skills" "check permissions, or link elsewhere: ./install.sh --link DIR"
    say "Linked as $bin/agent-skills"
    on_path
fi

# Writes the program's output to a file, completely or not at all.
write() { # file, arguments of the program
    to=$1
    shift
    { mkdir -p "$(dirname "$to")" && "$file" "$@" >"$to.new" && mv -f "$to.new" "$to"; } ||
        fail "could not write $to" "check permissions and free space"
    say "Installed $to"
}
if [ -n "$completions" ]; then
    [ -n "${HOME:-}" ] || fail "HOME is not set, so there is no place for it" "set HOME"
    write "$bash_completion" completions bash
    write "$zsh_completion" completions zsh
    write "$fish_completion" completions fish
    say "note: zsh finds its file if ~/.zshrc has, before compinit: fpath+=('${zsh_completion%/*}')"
    [ -n "$link$agents" ] || say "      completion works for \`agent-skills\` on your PATH: ./install.sh --link"
fi

# One conversation as the host would run it: each call is a separate process. It uses a temporary
# directory, so that the user's skills and settings have no effect.
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
hook() { printf '%s' "$2" | CHIBI_HOOK=$1 "$file"; }
tool() { printf '%s' "$2" | CHIBI_TOOL_NAME=$1 "$file"; }
expect() { # step, required part of the answer, answer
    case $3 in
    *"$2"*) printf '  ok  %s\n' "$1" ;;
    *)
        printf '  FAILED  %s\n  answered: %s\n' "$1" "$3" >&2
        fail "the installed program does not answer as it should" "please report this"
        ;;
    esac
}
expect "--schema lists the tool skill_example-skill" '"name":"skill_example-skill"' \
    "$("$file" --schema)"
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
if [ -n "$agents" ]; then
    unset AGENT_SKILLS_HOME AGENT_SKILLS_SESSION
    left=
    for agent in $names; do
        "$file" hosts add "$agent" --yes || left="$left $agent"
    done
    [ -z "$left" ] || fail "not connected:$left" "$program hosts add$left"
    say "Next: $program install owner/skill"
    say "      $program doctor"
    exit 0
fi
say "Next: chibi \"Use the example skill to greet Ada\""
say "      $program doctor"
