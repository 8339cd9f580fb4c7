//! The only table of the file extensions of scripts and the programs that run them.

/// The programs that can run a file, best first, each with its arguments.
pub type Candidates = &'static [(&'static str, &'static [&'static str])];

/// The programs that run Python.
pub const PYTHON: Candidates = &[("python3", &[]), ("python", &[])];
/// Deno would ask for permissions, and nobody is there to answer, so it gets those that scripts
/// have under every other interpreter.
const TYPESCRIPT: Candidates = &[
    ("bun", &["run"]),
    ("deno", &["run", "--allow-all"]),
    ("tsx", &[]),
    ("node", &[]),
];
/// The programs that run files with this extension; `None` if it is not a script's.
pub fn by_extension(extension: &str) -> Option<Candidates> {
    Some(match extension.to_ascii_lowercase().as_str() {
        "py" => PYTHON,
        "sh" | "bash" => &[("bash", &[])],
        "js" | "mjs" | "cjs" => &[("node", &[])],
        "ts" | "mts" | "cts" => TYPESCRIPT,
        "rb" => &[("ruby", &[])],
        "pl" => &[("perl", &[])],
        "ps1" => &[("pwsh", &["-NoProfile", "-NonInteractive", "-File"])],
        "r" => &[("Rscript", &[])],
        "lua" => &[("lua", &[]), ("lua5.4", &[]), ("luajit", &[])],
        "php" => &[("php", &[])],
        "awk" => &[("awk", &["-f"])],
        "tcl" => &[("tclsh", &[])],
        "jl" => &[("julia", &[])],
        "zsh" => &[("zsh", &[])],
        "fish" => &[("fish", &[])],
        "ksh" => &[("ksh", &[])],
        "nu" => &[("nu", &[])],
        "exs" => &[("elixir", &[])],
        "raku" => &[("raku", &[])],
        "hs" => &[("runghc", &[])],
        _ => return None,
    })
}
