//! Which program runs a script: the one in its shebang, else the one for its extension, else the
//! script itself if it is executable. Most are not: three of four real ones lack the bit
//! (docs/spec/skills.md#scripts). It starts nothing. The packages of a Python script are those that it
//! declares, or those listed in the nearest `requirements.txt` or `pyproject.toml` between it and its
//! skill's root.

use super::prelude::*;
use crate::skill::{Interpreters, PYTHON, Runner, Shebang};

/// A program, and the arguments with which it runs a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interpreter {
    /// Absolute path of the program.
    pub program: PathBuf,
    /// Arguments before the script's own; the last is the script's path, unless the script is the
    /// program.
    pub args: Vec<OsString>,
}

impl Interpreter {
    fn new(program: PathBuf, args: impl IntoIterator<Item: Into<OsString>>) -> Self {
        let args = args.into_iter().map(Into::into).collect();
        Self { program, args }
    }
}

/// The interpreter for the regular file `script` of the skill in `skill_dir`, which the caller
/// knows as `label`. Programs are searched on the `PATH` of `env`.
///
/// # Errors
/// When the file cannot be read or is not a regular one, nothing determines its interpreter, or the
/// interpreter is not installed.
pub fn choose(script: &Path, skill_dir: &Path, label: &str, env: &Env) -> Result<Interpreter> {
    let mut head = Vec::new();
    files::open_regular(script)
        .and_then(|file| file.take(limits::SCRIPT_HEAD).read_to_end(&mut head))
        .map_err(|source| Error::io("run", Path::new(label), &source))?;
    let runner = Runner::of(script, is_executable(script), &head);
    let runner = runner.ok_or_else(|| unknown(label, &head))?;
    let is_python = match &runner {
        Runner::Shebang(shebang) => shebang.name().starts_with("python"),
        Runner::Extension(candidates) => *candidates == PYTHON,
        Runner::Itself | Runner::Shell => false,
    };
    let uv = is_python.then(|| uv(script, skill_dir, &head, env));
    let mut interpreter = match (uv.flatten(), runner) {
        (Some(uv), _) => uv,
        (_, Runner::Itself) => return Ok(Interpreter::new(script.to_owned(), None::<OsString>)),
        (_, Runner::Shebang(shebang)) => by_shebang(&shebang, is_python, label, env)?,
        (_, Runner::Extension(candidates)) => among(candidates, label, env)?,
        (_, Runner::Shell) => among(&[("sh", &[])], label, env)?,
    };
    let verb = interpreter.args.first();
    if interpreter.program.ends_with("uv") && verb.is_some_and(|verb| verb == "run") {
        // What it installs is not what the script says.
        interpreter.args.insert(1, "--quiet".into());
    }
    // An absolute path: a file named `--help` cannot become an option of its interpreter.
    interpreter.args.push(script.into());
    Ok(interpreter)
}

/// The program that would run a bundled file; `None` if it is not meant to be run.
pub fn program_of(
    script: &Path,
    skill_dir: &Path,
    label: &str,
    env: &Env,
) -> Option<Result<PathBuf>> {
    Runner::is_meant_at(script)
        .then(|| choose(script, skill_dir, label, env).map(|chosen| chosen.program))
}

fn by_shebang(shebang: &Shebang, is_python: bool, label: &str, env: &Env) -> Result<Interpreter> {
    let (name, given) = (shebang.name(), Path::new(&shebang.program));
    let is_there = given.is_absolute() && is_executable(given);
    // An absolute path may come from another machine, so search for its name as `env` does.
    let program = is_there.then(|| given.to_owned());
    let program = program.or_else(|| find(name, env));
    let any_python = || is_python.then(|| find("python3", env)).flatten();
    let program = program.or_else(any_python);
    let program = program.ok_or_else(|| missing(label, name, name))?;
    Ok(Interpreter::new(program, &shebang.args))
}

fn among(candidates: Interpreters, label: &str, env: &Env) -> Result<Interpreter> {
    let installed = |(name, args): &(&str, &'static [&str])| {
        find(name, env).map(|program| Interpreter::new(program, *args))
    };
    candidates.iter().find_map(installed).ok_or_else(|| {
        let names: Vec<_> = candidates.iter().map(|(name, _)| *name).collect();
        missing(label, &names.join("` or `"), names[0])
    })
}

/// uv, if it is installed and there are packages to provide: those that the script declares in a
/// PEP 723 block, else those listed in its directory.
fn uv(script: &Path, skill_dir: &Path, head: &[u8], env: &Env) -> Option<Interpreter> {
    let args = if declares_dependencies(head) {
        vec!["run".into(), "--script".into()]
    } else {
        let packages = python_packages(script, skill_dir)?;
        [
            vec!["run".into(), "--no-project".into()],
            packages,
            vec!["python".into()],
        ]
        .concat()
    };
    Some(Interpreter::new(find("uv", env)?, args))
}

/// The arguments of `uv run` that provide a Python script's packages; `None` if no file near the
/// script lists any.
fn python_packages(script: &Path, skill_dir: &Path) -> Option<Vec<OsString>> {
    if let Some(file) = nearest(script, skill_dir, "requirements.txt") {
        return Some(vec!["--with-requirements".into(), file.into()]);
    }
    // uv does not accept a `pyproject.toml` as a list of requirements, and would write an
    // environment and a lockfile into the skill if it treated it as a project.
    let file = nearest(script, skill_dir, "pyproject.toml")?;
    let text = files::read_capped(&file, limits::SCRIPT_HEAD).ok()?;
    let project: toml::Table = toml::from_str(std::str::from_utf8(&text).ok()?).ok()?;
    let packages = project.get("project")?.get("dependencies")?.as_array()?;
    let with = packages.iter().filter_map(toml::Value::as_str);
    let args: Vec<OsString> = with
        .flat_map(|package| ["--with".into(), package.into()])
        .collect();
    (!args.is_empty()).then_some(args)
}

/// The nearest file of that name between a script and its skill's root.
fn nearest(script: &Path, skill_dir: &Path, name: &str) -> Option<PathBuf> {
    // The script's path is canonical; the skill's may not be.
    let root = skill_dir.canonicalize().ok()?;
    let above = script.ancestors().skip(1);
    let inside = above.take_while(|dir| dir.starts_with(&root));
    inside.map(|dir| dir.join(name)).find(|file| file.is_file())
}

/// The program of that name on the `PATH` of `env`.
pub fn find(name: &str, env: &Env) -> Option<PathBuf> {
    let path = env
        .os("PATH")
        .unwrap_or("/usr/local/bin:/usr/bin:/bin".as_ref());
    // Absolute, because the script's working directory differs from ours.
    let dirs = std::env::split_paths(path).filter(|dir| dir.is_absolute());
    let dirs = std::env::join_paths(dirs).ok()?;
    which::which_in(name, Some(dirs), "/").ok()
}

/// Whether this is a file that we may execute.
fn is_executable(path: &Path) -> bool {
    which::which_in(path, None::<&OsStr>, "/").is_ok()
}

fn missing(label: &str, names: &str, first: &str) -> Error {
    let text = format!("`{label}` needs `{names}`, which was not found on PATH");
    Error::new(text).hint(system_install(first))
}

fn unknown(label: &str, head: &[u8]) -> Error {
    let reason = if head.contains(&0) {
        "it is a binary file, and not executable"
    } else {
        "it has no `#!` line and no extension of a known script language, and is not executable"
    };
    Error::new(format!("no interpreter is known for `{label}`: {reason}")).hint(
        "run a file that ends in .py, .sh, .js, .ts, .rb, .pl, .lua, .php, …, has a `#!` line, or is \
         executable",
    )
}

/// Whether there is a PEP 723 block: `# /// script`, comment lines, `# ///`.
fn declares_dependencies(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let lines = text.lines().map(str::trim_end);
    let mut block = lines.skip_while(|line| *line != "# /// script").skip(1);
    block.find(|line| *line == "# ///" || !line.starts_with('#')) == Some("# ///")
}

/// Programs with the packages of Debian and of Homebrew that have them.
const PACKAGES: &str = "Rscript r-base r|awk gawk gawk|bash bash bash|convert imagemagick imagemagick|\
    curl curl curl|elixir elixir elixir|ffmpeg ffmpeg ffmpeg|fish fish fish|gh gh gh|git git git|\
    jq jq jq|lua lua5.4 lua|magick imagemagick imagemagick|make make make|node nodejs node|\
    npm npm node|pandoc pandoc pandoc|pdftotext poppler-utils poppler|perl perl perl|\
    php php-cli php|python3 python3 python|raku rakudo rakudo|rg ripgrep ripgrep|ruby ruby ruby|\
    runghc ghc ghc|soffice libreoffice libreoffice|tclsh tcl tcl-tk|wget wget wget|zsh zsh zsh";

/// How to install a program for which no command is declared.
pub fn system_install(program: &str) -> String {
    let how = "it is for the user to install, with the system's package manager";
    let mut rows = PACKAGES.split('|').map(|row| row.split(' '));
    let named = rows.find_map(|mut row| {
        (row.next()? == program).then_some(())?;
        Some(format!(
            "`sudo apt install {}` or `brew install {}`",
            row.next()?,
            row.next()?
        ))
    });
    match named {
        Some(named) => format!("{how}, for example {named}"),
        None => format!("{how}; its package may have another name"),
    }
}

#[cfg(test)]
mod tests;
