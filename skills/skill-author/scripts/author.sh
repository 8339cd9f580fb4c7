#!/usr/bin/env bash
# The commands of agent-skills with which a model may write a skill: none runs code that the model
# wrote, and none writes outside the working directory. The rest is for the user.
set -euo pipefail

refuse() {
    printf 'author.sh: %s\n' "$1" >&2
    exit 2
}

case ${1-} in
new | validate | try) ;;
*) refuse "give one of: new NAME --description TEXT, validate PATH, try PATH. Everything else is for the user to run" ;;
esac
for word in "$@"; do
    case $word in
    --layer* | --dir* | --fix*) refuse "$word is for the user to run; leave it out" ;;
    esac
done
case $PWD/ in
"${SKILL_DIR:-/nowhere}"/*) refuse "run it with workdir: project, so that nothing is written into this skill" ;;
esac

program=${SKILL_DIR:-$(dirname "$0")/..}/../../agent-skills
[ -x "$program" ] || program=$(command -v agent-skills) ||
    refuse "agent-skills was not found; ask the user to put it on the PATH"
exec "$program" "$@"
