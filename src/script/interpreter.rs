//! Which program runs a script: its shebang says so, else its file extension, never the
//! executable bit (CORPUS.md §6: three of four real scripts lack it). It starts nothing.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::manifest;
use super::needs::system_install;
use super::shebang::Shebang;
use crate::error::{Error, Result};
use crate::sys::{Env, files, limits};

/// A program and the arguments that come before the script's own path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interpreter {
    /// Absolute path of the program.
    pub program: PathBuf,
    /// Arguments before the script's path.
    pub args: Vec<OsString>,
}

/// Programs that run an extension, best first, with the arguments each needs.
type Candidates = &'static [(&'static str, &'static [&'static str])];

const PYTHON: Candidates = &[("python3", &[]), ("python", &[])];
/// Deno asks before it grants anything, and nobody is there to answer: it gets the powers that a
/// script has under every other interpreter.
const TYPESCRIPT: Candidates = &[
    ("bun", &["run"]),
    ("deno", &["run", "--allow-all"]),
    ("tsx", &[]),
    ("node", &[]),
];
/// A script with a PEP 723 block declares its own dependencies, which `uv` provides.
const UV: (&str, &[&str]) = ("uv", &["run", "--script"]);

fn by_extension(extension: &str) -> Option<Candidates> {
    Some(match extension.to_ascii_lowercase().as_str() {
        "py" => PYTHON,
        "sh" | "bash" => &[("bash", &[])],
        "js" | "mjs" | "cjs" => &[("node", &[])],
        "ts" | "mts" | "cts" => TYPESCRIPT,
        "rb" => &[("ruby", &[])],
        "pl" => &[("perl", &[])],
        "ps1" => &[("pwsh", &["-NoProfile", "-NonInteractive", "-File"])],
        "r" => &[("Rscript", &[])],
        _ => return None,
    })
}

/// Whether a file's name says that it is a script.
pub fn is_script(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| by_extension(&extension.to_string_lossy()).is_some())
}

/// Whether a file's name or its first line says what runs it, whatever is installed here.
pub fn says_how_to_run(script: &Path) -> bool {
    let shebang = || head(script, "").is_ok_and(|head| Shebang::parse(&head).is_some());
    is_script(script) || shebang()
}

/// The interpreter for the regular file `script` of the skill in `skill_dir`, which the caller
/// knows as `label`; programs are looked for on the `PATH` of `env`.
///
/// # Errors
/// When the file cannot be read or is not a regular one, nothing says how to run it, or the
/// interpreter is not installed.
pub fn choose(script: &Path, skill_dir: &Path, label: &str, env: &Env) -> Result<Interpreter> {
    let head = head(script, label)?;
    let search = Search {
        script,
        skill_dir,
        head: &head,
        label,
        env,
    };
    match Shebang::parse(&head) {
        Some(shebang) => search.by_shebang(&shebang),
        None => search.by_name(),
    }
}

/// The program that would run a bundled file; `None` for one whose name says that it is no script.
pub fn program_of(
    script: &Path,
    skill_dir: &Path,
    label: &str,
    env: &Env,
) -> Option<Result<PathBuf>> {
    let chosen = || choose(script, skill_dir, label, env);
    is_script(script).then(|| chosen().map(|interpreter| interpreter.program))
}

struct Search<'a> {
    script: &'a Path,
    skill_dir: &'a Path,
    head: &'a [u8],
    label: &'a str,
    env: &'a Env,
}

fn head(script: &Path, label: &str) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    files::open_regular(script)
        .and_then(|file| file.take(limits::SCRIPT_HEAD).read_to_end(&mut head))
        .map_err(|source| Error::io("run", Path::new(label), &source))?;
    Ok(head)
}

impl Search<'_> {
    fn by_shebang(&self, shebang: &Shebang) -> Result<Interpreter> {
        let name = shebang.name();
        let is_python = name.starts_with("python");
        if is_python && let Some(uv) = self.uv() {
            return Ok(uv);
        }
        let given = Path::new(&shebang.program);
        let program = if given.is_absolute() && is_executable(given) {
            Some(given.to_owned())
        } else {
            // Another machine's absolute path, or the usual name looked up as `env` does.
            let any_python = || is_python.then(|| find("python3", self.env)).flatten();
            find(name, self.env).or_else(any_python)
        };
        let program = program.ok_or_else(|| missing(self.label, name, name))?;
        Ok(Interpreter {
            program,
            args: shebang.args.iter().map(OsString::from).collect(),
        })
    }

    fn by_name(&self) -> Result<Interpreter> {
        let extension = self
            .script
            .extension()
            .unwrap_or_default()
            .to_string_lossy();
        let Some(candidates) = by_extension(&extension) else {
            return Err(unknown(self.label, self.head));
        };
        if candidates == PYTHON
            && let Some(uv) = self.uv()
        {
            return Ok(uv);
        }
        let mut found = candidates.iter();
        let found = found.find_map(|candidate| installed(*candidate, self.env));
        found.ok_or_else(|| {
            let names: Vec<_> = candidates.iter().map(|(name, _)| *name).collect();
            missing(self.label, &names.join("` or `"), names[0])
        })
    }

    /// uv, where it is installed and there are packages to provide: those that the script itself
    /// declares, else those that its directory names.
    fn uv(&self) -> Option<Interpreter> {
        if declares_dependencies(self.head) {
            return installed(UV, self.env);
        }
        let packages = manifest::python_packages(self.script, self.skill_dir)?;
        let mut args: Vec<OsString> = vec!["run".into(), "--no-project".into()];
        args.extend(packages);
        args.push("python".into());
        Some(Interpreter {
            program: find("uv", self.env)?,
            args,
        })
    }
}

fn installed((name, args): (&str, &[&str]), env: &Env) -> Option<Interpreter> {
    let program = find(name, env)?;
    Some(Interpreter {
        program,
        args: args.iter().map(OsString::from).collect(),
    })
}

/// The program of that name on the `PATH` of `env`.
pub fn find(name: &str, env: &Env) -> Option<PathBuf> {
    let path = env
        .os("PATH")
        .unwrap_or("/usr/local/bin:/usr/bin:/bin".as_ref());
    // Absolute, because the script will have another working directory than we have.
    let dirs = std::env::split_paths(path).filter(|dir| dir.is_absolute());
    let mut programs = dirs.map(|dir| dir.join(name));
    programs.find(|program| is_executable(program))
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

fn missing(label: &str, names: &str, first: &str) -> Error {
    let how = system_install(first);
    Error::new(format!(
        "`{label}` needs `{names}`, which was not found on PATH"
    ))
    .hint(format!(
        "tell the user that it has to be installed for this script: {how}"
    ))
}

fn unknown(label: &str, head: &[u8]) -> Error {
    let reason = if head.contains(&0) {
        "it is a binary file, and programs are not run because of their executable bit alone"
    } else {
        "it has no `#!` line and no extension of a known script language"
    };
    Error::new(format!("no interpreter is known for `{label}`: {reason}")).hint(
        "run a file that ends in .py, .sh, .js, .ts, .rb, .pl, .ps1 or .R, or has a `#!` line",
    )
}

/// Whether there is a PEP 723 block: `# /// script`, comment lines, `# ///`.
fn declares_dependencies(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let mut lines = text
        .lines()
        .skip_while(|line| line.trim_end() != "# /// script")
        .skip(1);
    lines
        .by_ref()
        .map(str::trim_end)
        .find(|line| *line == "# ///" || !line.starts_with('#'))
        == Some("# ///")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    const BLOCK: &str = "# /// script\r\n# dependencies = [\"rich\"]\r\n# ///\r\nprint(1)\n";

    /// What runs a file of that name and content where only `programs` are installed, as
    /// `name args…`.
    fn chosen(name: &str, content: &str, programs: &[&str]) -> Result<String, String> {
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("bin");
        fs::create_dir(&bin).unwrap();
        for program in programs {
            let file = bin.join(program);
            fs::write(&file, "").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let script = dir.path().join(name);
        fs::write(&script, content).unwrap();
        if name == "listed.py" {
            fs::write(dir.path().join("requirements.txt"), "rich").unwrap();
        }
        let env = Env::new([("PATH", &bin)], dir.path());
        let script = script.canonicalize().unwrap();
        let interpreter =
            choose(&script, dir.path(), name, &env).map_err(|error| error.to_string())?;
        let program = interpreter
            .program
            .strip_prefix(&bin)
            .unwrap_or(&interpreter.program);
        let mut words = vec![program.display().to_string()];
        words.extend(
            interpreter
                .args
                .iter()
                .map(|arg| arg.to_string_lossy().into_owned()),
        );
        Ok(words.join(" "))
    }

    #[test]
    fn the_shebang_comes_before_the_extension() {
        let all = ["python3", "bash", "node", "bun", "uv", "npx"];
        for (name, content, expected) in [
            ("a.py", "#!/usr/bin/env bash\n", "bash"),
            ("a", "#!/usr/bin/env python3\r\n", "python3"),
            ("a", "\u{feff}#!/usr/bin/env node", "node"),
            (
                "a.py",
                "#!/usr/bin/env -S uv run --script --python 3.14\n",
                "uv run --script --python 3.14",
            ),
            ("a.ts", "#!/usr/bin/env npx tsx\n", "npx tsx"),
            ("a", "#! /bin/sh -e\r\n", "/bin/sh -e"),
            ("a", "#!/home/someone/.venv/bin/python3\n", "python3"),
            ("a", "#!/home/someone/.venv/bin/python -u\n", "python3 -u"),
            ("a.js", "#!/usr/bin/env bun\n", "bun"),
        ] {
            assert_eq!(
                chosen(name, content, &all).as_deref(),
                Ok(expected),
                "{content}"
            );
        }
    }

    #[test]
    fn without_one_the_extension_decides() {
        for (name, programs, expected) in [
            ("a.py", &["python3", "python"][..], "python3"),
            ("a.py", &["python"], "python"),
            ("a.sh", &["bash"], "bash"),
            ("a.mjs", &["node", "bun"], "node"),
            ("a.ts", &["node", "tsx", "deno", "bun"], "bun run"),
            ("a.ts", &["node", "tsx", "deno"], "deno run --allow-all"),
            ("a.ts", &["node", "tsx"], "tsx"),
            ("a.ts", &["node"], "node"),
            ("a.rb", &["ruby"], "ruby"),
            ("a.pl", &["perl"], "perl"),
            ("a.ps1", &["pwsh"], "pwsh -NoProfile -NonInteractive -File"),
            ("a.R", &["Rscript"], "Rscript"),
        ] {
            assert_eq!(
                chosen(name, "x", programs).as_deref(),
                Ok(expected),
                "{name}"
            );
        }
    }

    #[test]
    fn python_with_declared_dependencies_runs_under_uv_where_there_is_uv() {
        let uv = Ok("uv run --script");
        let both = ["uv", "python3"];
        let with_shebang = format!("#!/usr/bin/env python3\n{BLOCK}");
        assert_eq!(chosen("a.py", BLOCK, &both).as_deref(), uv);
        assert_eq!(chosen("a", &with_shebang, &both).as_deref(), uv);
        assert_eq!(
            chosen("a.py", BLOCK, &["python3"]).as_deref(),
            Ok("python3")
        );
        for no_block in [
            "# /// script\nx = 1\n# ///\n",
            "# /// script\n# a\n",
            "print('# ///')",
        ] {
            assert_eq!(
                chosen("a.py", no_block, &both).as_deref(),
                Ok("python3"),
                "{no_block}"
            );
        }
    }

    #[test]
    fn python_with_a_list_of_packages_beside_it_runs_under_uv_where_there_is_uv() {
        let listed = chosen("listed.py", "print(1)", &["uv", "python3"]).unwrap();
        let (start, end) = (
            "uv run --no-project --with-requirements /",
            "/requirements.txt python",
        );
        assert!(
            listed.starts_with(start) && listed.ends_with(end),
            "{listed}"
        );
        let own = chosen("listed.py", BLOCK, &["uv", "python3"]);
        assert_eq!(
            own.as_deref(),
            Ok("uv run --script"),
            "its own list comes first"
        );
        let without = chosen("listed.py", "print(1)", &["python3"]);
        assert_eq!(without.as_deref(), Ok("python3"));
    }

    #[test]
    fn a_missing_interpreter_is_named() {
        for (name, content, expected) in [
            (
                "a.py",
                "#!/usr/bin/env no-such-thing\n",
                "needs `no-such-thing`",
            ),
            ("a.rb", "", "needs `ruby`"),
            ("a.ts", "", "needs `bun` or `deno` or `tsx` or `node`"),
        ] {
            let error = chosen(name, content, &[]).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn neither_an_unknown_extension_nor_a_native_program_is_run() {
        let error = chosen("notes.txt", "hello", &["bash"]).unwrap_err();
        assert!(error.contains("no `#!` line"), "{error}");
        let error = chosen("tool", "\x7fELF\x02\x01\0\0", &["bash"]).unwrap_err();
        assert!(error.contains("executable bit alone"), "{error}");
    }
}
