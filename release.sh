#!/bin/sh
# Builds the release archive. The same commit and the same Rust give the same bytes on every
# machine; --check builds twice in different directories and compares.
set -eu

usage() {
    cat <<'TEXT'
usage: ./release.sh [--check] [--out DIR]

  --check     build twice, in different directories, and compare
  --out DIR   where the archive goes (default: dist)
TEXT
}

fail() {
    printf 'release.sh: %s\n' "$1" >&2
    [ $# -lt 2 ] || printf 'hint: %s\n' "$2" >&2
    exit 1
}

check=
out=dist
while [ $# -gt 0 ]; do
    case $1 in
    --check)
        check=yes
        shift
        ;;
    --out)
        [ -n "${2:-}" ] || fail "--out needs a directory" "./release.sh --out DIR"
        out=$2
        shift 2
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

cd "$(dirname -- "$0")"
[ -z "$(git status --porcelain)" ] ||
    fail "there are changes that are in no commit" "commit them: what is released has a name"
# Later commits belong to another release.
commit=$(git rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct "$commit")
export SOURCE_DATE_EPOCH
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
host=$(rustc -vV | sed -n 's/^host: //p')
# On Linux the program depends on nothing of the system it runs on.
case $host in
*-linux-*)
    target=$(printf '%s' "$host" | sed 's/-gnu/-musl/')
    [ -d "$(rustc --print target-libdir --target "$target")" ] || rustup target add "$target" ||
        fail "Rust's target $target is missing" "rustup target add $target"
    ;;
*) target=$host ;;
esac
name=agent-skills-$version-$target
mkdir -p "$out"
out=$(CDPATH='' cd -- "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Keep paths of this machine out of the program. Beside what .cargo/config.toml has.
flags() { # build directory
    printf "target.%s.rustflags = ['--remap-path-prefix=%s=/agent-skills'" "$target" "$1"
    printf ", '--remap-path-prefix=%s=/cargo'" "${CARGO_HOME:-$HOME/.cargo}"
    printf ", '--remap-path-prefix=%s=/rust']" "$(rustc --print sysroot)"
}

build() { # new directory; prints the program's path
    { git clone -q --no-hardlinks . "$1" && git -C "$1" checkout -q --detach "$commit"; } ||
        fail "could not copy the repository to $1" "check free space there"
    (
        cd "$1"
        unset CARGO_TARGET_DIR CARGO_BUILD_TARGET_DIR
        cargo build --config "$(flags "$1")" --quiet --release --locked --target "$target" >&2
    ) || fail "the build failed" "the messages above say why"
    printf '%s' "$1/target/$target/release/agent-skills"
}

sum() {
    if command -v sha256sum >/dev/null 2>&1; then sha256sum "$@"; else shasum -a 256 "$@"; fi
}

program=$(build "$work/first")
if [ -n "$check" ]; then
    again=$(build "$work/a/second/time")
    cmp "$program" "$again" || fail "two builds of one commit differ" "diffoscope shows where"
    echo "two builds of $commit are the same"
fi

stage=$work/$name
mkdir "$stage"
cp "$program" "$stage/agent-skills"
cp -R install.sh README.md LICENSE-MIT LICENSE-APACHE skills docs "$stage/"
find "$stage" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} + 2>/dev/null || :
if tar --version 2>/dev/null | grep -q GNU; then
    tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
        --mtime="@$SOURCE_DATE_EPOCH" -cf "$work/archive.tar" "$name"
else
    echo "note: without GNU tar the archive's dates are this machine's; the program's bytes are not"
    tar -C "$work" -cf "$work/archive.tar" "$name"
fi
gzip -n -9 -c "$work/archive.tar" >"$out/$name.tar.gz"
(cd "$out" && sum "$name.tar.gz" | tee "$name.tar.gz.sha256")
