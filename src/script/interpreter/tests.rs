//! Which program runs which file.

use super::*;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const BLOCK: &str = "# /// script\r\n# dependencies = [\"rich\"]\r\n# ///\r\nprint(1)\n";

/// What runs a file of that name and content when only `programs` are installed, as `name args…`.
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
    if name.starts_with("x-") {
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    }
    if name == "listed.py" {
        fs::write(dir.path().join("requirements.txt"), "rich").unwrap();
    }
    let env = Env::new([("PATH", &bin)], dir.path());
    let script = script.canonicalize().unwrap();
    let interpreter = choose(&script, dir.path(), name, &env).map_err(|error| error.to_string())?;
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
    // The script is always last, as the program or as an argument.
    assert_eq!(words.pop().as_deref(), script.to_str());
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
            "uv run --quiet --script --python 3.14",
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
        ("a.lua", &["lua"], "lua"),
        ("a.php", &["php"], "php"),
        ("a.awk", &["awk"], "awk -f"),
        ("a.tcl", &["tclsh"], "tclsh"),
        ("a.jl", &["julia"], "julia"),
        ("a.zsh", &["zsh"], "zsh"),
        ("a.fish", &["fish"], "fish"),
    ] {
        assert_eq!(
            chosen(name, "x", programs).as_deref(),
            Ok(expected),
            "{name}"
        );
    }
}

#[test]
fn python_with_declared_dependencies_runs_under_uv() {
    let uv = Ok("uv run --quiet --script");
    let both = ["uv", "python3"];
    let with_shebang = format!("#!/usr/bin/env python3\n{BLOCK}");
    assert_eq!(chosen("a.py", BLOCK, &both).as_deref(), uv);
    assert_eq!(chosen("a", &with_shebang, &both).as_deref(), uv);
    let itself = "#!/usr/bin/env -S uv run --script\n";
    assert_eq!(chosen("a", itself, &both).as_deref(), uv);
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
fn python_with_a_list_of_packages_runs_under_uv() {
    let listed = chosen("listed.py", "print(1)", &["uv", "python3"]).unwrap();
    let (start, end) = (
        "uv run --quiet --no-project --with-requirements /",
        "/requirements.txt python",
    );
    assert!(
        listed.starts_with(start) && listed.ends_with(end),
        "{listed}"
    );
    let own = chosen("listed.py", BLOCK, &["uv", "python3"]);
    assert_eq!(
        own.as_deref(),
        Ok("uv run --quiet --script"),
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
fn an_executable_runs_as_a_shell_would_run_it() {
    let machine = "\x7fELF\x02\x01\0\0";
    for (name, content, expected) in [
        ("x-tool", machine, ""),
        ("x-tool.bin", machine, ""),
        ("x-tool.sh", machine, ""),
        ("x-tool", "#!/usr/bin/env python3\n", "python3"),
        ("x-tool.lua", "print(1)", "lua"),
        ("x-tool", "echo 1", "sh"),
        ("x-notes.txt", "echo 1", "sh"),
    ] {
        let all = ["python3", "lua", "sh"];
        let chosen = chosen(name, content, &all);
        assert_eq!(chosen.as_deref(), Ok(expected), "{name} {content}");
    }
}

#[test]
fn unknown_files_and_programs_run_only_if_executable() {
    let error = chosen("notes.txt", "hello", &["bash", "sh"]).unwrap_err();
    assert!(error.contains("no `#!` line"), "{error}");
    let error = chosen("tool", "\x7fELF\x02\x01\0\0", &["bash", "sh"]).unwrap_err();
    assert!(error.contains("binary file, and not executable"), "{error}");
}

#[test]
fn a_package_is_named_only_if_it_is_known() {
    for (program, package) in [
        ("jq", Some("`sudo apt install jq` or `brew install jq`")),
        (
            "Rscript",
            Some("`sudo apt install r-base` or `brew install r`"),
        ),
        ("pwsh", None),
        ("their-tool", None),
    ] {
        let told = super::system_install(program);
        assert_eq!(told.contains("apt"), package.is_some(), "{told}");
        assert!(told.contains(package.unwrap_or("another name")), "{told}");
    }
}
fn skill(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap().join("skill");
    fs::create_dir_all(root.join("scripts")).unwrap();
    for (name, content) in files {
        fs::write(root.join(name), content).unwrap();
    }
    (dir, root)
}

fn packages(files: &[(&str, &str)]) -> Option<String> {
    let (_dir, root) = skill(files);
    let args = python_packages(&root.join("scripts/a.py"), &root)?;
    let words: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
    Some(words.join(" ").replace(root.to_str().unwrap(), "SKILL"))
}

#[test]
fn the_nearest_list_of_packages_inside_the_skill_counts() {
    let near = ("scripts/requirements.txt", "");
    let far = ("requirements.txt", "");
    let project = (
        "pyproject.toml",
        "[project]\ndependencies = [\"a>=1\", \"b\"]\n",
    );
    for (files, expected) in [
        (
            &[far][..],
            Some("--with-requirements SKILL/requirements.txt"),
        ),
        (
            &[near, far],
            Some("--with-requirements SKILL/scripts/requirements.txt"),
        ),
        (
            &[far, project],
            Some("--with-requirements SKILL/requirements.txt"),
        ),
        (&[project], Some("--with a>=1 --with b")),
        (&[("pyproject.toml", "[project]\nname = \"x\"\n")], None),
        (&[("pyproject.toml", "not toml [")], None),
        (&[("../requirements.txt", "outside")], None),
        (&[], None),
    ] {
        assert_eq!(packages(files).as_deref(), expected, "{files:?}");
    }
}
