#!/bin/sh
# Makes link.ld: which functions stand together at the front of the executable. They are those that
# run in the calls which benches/callgrind.sh makes, named without the hash that changes with every
# build. A list that is out of date costs nothing but time: what it does not name comes after it.
#
# usage: benches/layout.sh EXECUTABLE... >link.ld.new; mv link.ld.new link.ld
# The executables must be static, with symbols (CARGO_PROFILE_RELEASE_STRIP=false).
set -eu

names=$(mktemp)
trap 'rm -f "$names" "$names.rust" "$names.libc"' EXIT
for executable in "$@"; do
    NAMES=$names "$(dirname "$0")/callgrind.sh" "$executable" >&2
done
libcs=$(cc -print-file-name=libc.a)
musl=$(rustc --print target-libdir --target "$(rustc -vV | sed -n 's/^host: //p' | sed 's/-gnu/-musl/')" 2>/dev/null || :)
[ ! -f "$musl/self-contained/libc.a" ] || libcs="$libcs $musl/self-contained/libc.a"

cat <<'TEXT'
/* Made by benches/layout.sh; used by build.rs. */
SECTIONS {
    /* What unwinding would need. */
    /DISCARD/ : { *(.eh_frame .eh_frame.* .gcc_except_table .gcc_except_table.*) }
}
INSERT AFTER .rodata;
SECTIONS {
    /* What runs in a hook, on few pages. */
    .text.hot : {
TEXT
# A function's name without what changes with the build or the compiler.
rust_names() {
    sed -n -e 's/^\(_ZN.*17h\)[0-9a-f]\{16\}E.*/\1/p' -e '/^_R/{s/Cs[0-9A-Za-z]*_/Cs*_/g;p;}'
}
# What runs in most calls comes first; names that many functions share come last.
{
    rust_names <"$names" | LC_ALL=C sort | uniq -c
    for executable in "$@"; do
        nm -S --defined-only "$executable" | sed -n 's/^[0-9a-f]* [0-9a-f]* [tT] //p' |
            rust_names | sed 's/^/many /'
    done
} | awk '
    $1 == "many" { share[$2]++; next }
    { runs[$2] = $1 }
    END {
        for (name in runs)
            printf "%d %s\n", (share[name] > 4 ? 0 : runs[name]), "*(.text." name "*)"
    }' >"$names.rust"
# The C library has one section for each of its files.
{
    sort "$names" | uniq -c
    # shellcheck disable=SC2086 # each is one word
    nm -A --defined-only $libcs 2>/dev/null | sed -n 's/^[^:]*:\([^:]*\):.* [tTwWi] \(.*\)/in \1 \2/p'
} | awk '
    $1 == "in" { if ($3 in runs && runs[$3] > most[$2]) most[$2] = runs[$3]; next }
    { runs[$2] = $1 }
    END { for (file in most) printf "%d %s\n", most[file], "*libc.a:" file "(.text .text.*)" }
' >"$names.libc"
LC_ALL=C sort -k1,1nr -k2 "$names.libc" "$names.rust" | sed 's/^[0-9]* /        /'
cat <<'TEXT'
    }
}
INSERT BEFORE .text;
TEXT
