//! Checks whether chibi is installed, how it talks to plugins, which `agent-skills` a shell finds, and
//! that the plugin is where the host loads it: `<home>/plugins/X/X`, a separate program, not
//! a link out of `plugins/`, not disabled (docs/hosts.md#loading). An installation for other
//! agents only has no such place.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use super::check::{Check, ask};
use crate::cli::prelude::*;
use crate::host::release;

/// The host starts a program of this name in a directory of this name.
const NAME: &str = "agent-skills";
/// Programs larger than this are not compared, in bytes.
const LARGEST: u64 = 256 * 1024 * 1024;

const INSTALL: &str = "run agent-skills' ./install.sh again";
const SHARE: &str = "to share one: move its content into chibi's, remove this one with `./install.sh --uninstall`, then run ./install.sh --for with your agents again, which links to chibi's";

/// The checks of this area.
pub fn checks(facts: &Facts) -> Vec<Check> {
    if !has_chibi(&facts.run) {
        return without_chibi(&facts.run);
    }
    of_plugin(&facts.run)
}

/// The checks of an installation for other agents.
fn without_chibi(run: &RunContext) -> Vec<Check> {
    let (data, program) = (run.dirs.plugin.display(), run.env.exe.as_deref());
    let text = format!("skills and state are in `{data}`, for other agents than chibi");
    let mut checks = vec![Check::ok("program", text)];
    checks.extend(program.and_then(unsafe_mode));
    // The program that chibi loads, where that is another installation.
    let theirs = usual(run).map(|dir| dir.join(NAME));
    let theirs = theirs.filter(|program| program.is_file());
    checks.extend(theirs.map(|theirs| {
        let text = format!(
            "chibi loads `{}`, which has its own skills and not those here",
            theirs.display()
        );
        Check::warn("plugin-elsewhere", text, SHARE)
    }));
    checks
}

/// The plugin directory of chibi.
pub fn plugin_dir(run: &RunContext) -> PathBuf {
    let without = run.dirs.is_without_chibi(&run.env);
    let usual = without.then(|| usual(run)).flatten();
    usual.unwrap_or_else(|| run.dirs.plugin.clone())
}

/// The checks of chibi's plugin directory.
pub fn of_plugin(run: &RunContext) -> Vec<Check> {
    let dir = &plugin_dir(run);
    let file = dir.join(NAME);
    let mut checks: Vec<Check> = elsewhere(run).into_iter().collect();
    if let Some(wrong) = wrong_place(dir, &file) {
        checks.push(wrong);
        return checks;
    }
    checks.extend(unsafe_mode(&file));
    checks.push(answers(run, &file));
    checks.extend(other_build(run, &file));
    checks.extend(second_copies(dir));
    checks
}

/// The plugin directory that the host uses by default.
fn usual(run: &RunContext) -> Option<PathBuf> {
    let set = run.env.path("CHIBI_HOME");
    let home = set.or_else(|| Some(run.env.home()?.join(".chibi")))?;
    Some(run.env.cwd.join(home).join("plugins").join(NAME))
}

fn elsewhere(run: &RunContext) -> Option<Check> {
    let (here, usual) = (&run.dirs.plugin, usual(run)?);
    if real(here) == real(&usual) {
        return None;
    }
    let text = format!(
        "this program keeps its skills in `{}`, but chibi by default looks in `{}`",
        here.display(),
        usual.display()
    );
    let remedy = if here.ends_with("plugins/agent-skills") {
        let home = here.ancestors().nth(2).unwrap_or(here);
        format!("start chibi with `--home {}`", home.display())
    } else {
        "unset AGENT_SKILLS_HOME, unless chibi is started with it too".to_owned()
    };
    Some(Check::warn("plugin-elsewhere", text, remedy))
}

fn wrong_place(dir: &Path, file: &Path) -> Option<Check> {
    let shown = file.display();
    let disabled = dir.with_file_name(format!("{NAME}.disabled"));
    let Ok(metadata) = file.symlink_metadata() else {
        if disabled.exists() {
            let text = format!("the plugin is disabled: `{}`", disabled.display());
            let remedy = format!("mv {} {}", disabled.display(), dir.display());
            return Some(Check::fail("plugin-disabled", text, remedy));
        }
        let text = format!("there is no `{shown}`, so chibi loads nothing");
        return Some(Check::fail("plugin-missing", text, INSTALL));
    };
    let plugins = dir.parent().unwrap_or(dir).canonicalize().ok();
    let real = file.canonicalize().ok();
    if let Some((plugins, real)) = plugins.zip(real.as_ref())
        && !real.starts_with(&plugins)
    {
        let text = format!(
            "`{shown}` is a link to `{}`, but chibi skips links out of its plugin directory",
            real.display()
        );
        let remedy = "put a copy there: ./install.sh does that";
        return Some(Check::fail("plugin-linked", text, remedy));
    }
    if real.is_none() || !(metadata.is_file() || metadata.is_symlink()) {
        let text = format!("`{shown}` is not a program");
        return Some(Check::fail("plugin-missing", text, INSTALL));
    }
    let mode = mode(file);
    if mode & 0o111 == 0 {
        let text = format!("`{shown}` is not executable, and chibi ignores it");
        let remedy = format!("chmod +x {shown}");
        let fix = chmod(file, mode | 0o755, "is executable now");
        return Some(Check::fail("plugin-not-executable", text, remedy).fix(fix));
    }
    None
}

/// The permissions of a file; 0 if it is not there.
fn mode(file: &Path) -> u32 {
    file.metadata()
        .map_or(0, |metadata| metadata.permissions().mode())
}

fn chmod(file: &Path, mode: u32, done: &str) -> impl FnOnce() -> Result<String, Error> + 'static {
    let (file, done) = (file.to_owned(), format!("`{}` {done}", file.display()));
    move || {
        let permissions = fs::Permissions::from_mode(mode & 0o7777);
        let changed = files::open_regular(&file).and_then(|file| file.set_permissions(permissions));
        changed.map_err(|error| Error::io("change the mode of", &file, &error))?;
        Ok(done)
    }
}

fn unsafe_mode(file: &Path) -> Option<Check> {
    let (mode, shown) = (mode(file), file.display());
    let text = format!("other users can write to `{shown}`, which every call runs");
    let remedy = format!("chmod go-w {shown}");
    let fix = chmod(file, mode & !0o022, "is now writable only by its owner");
    (mode & 0o022 != 0).then(|| Check::warn("plugin-writable", text, remedy).fix(fix))
}

fn answers(run: &RunContext, file: &Path) -> Check {
    let shown = file.display();
    let answer = ask(file, "--schema", &run.env);
    let tools = answer.and_then(|text| match serde_json::from_str(&text) {
        Ok(Value::Array(tools)) => Ok(tools.len()),
        _ => Err("its answer is not a list of tools".to_owned()),
    });
    match tools {
        Ok(tools) => Check::ok("plugin", format!("`{shown}` offers chibi {tools} tools")),
        Err(why) => {
            let text = format!("`{shown} --schema` does not work: {why}");
            Check::fail("plugin-broken", text, INSTALL)
        }
    }
}

fn other_build(run: &RunContext, file: &Path) -> Option<Check> {
    let own = run.env.exe.as_deref()?;
    let (ours, theirs) = (own.metadata().ok()?, file.metadata().ok()?);
    let content = |path: &Path| files::read_capped(path, LARGEST).ok();
    let is_same_file = (ours.dev(), ours.ino()) == (theirs.dev(), theirs.ino());
    if is_same_file || (ours.len() == theirs.len() && content(own)? == content(file)?) {
        return None;
    }
    let text = format!(
        "`{}` is a different build from the one that chibi loads, `{}`",
        own.display(),
        file.display()
    );
    let remedy = format!("{INSTALL}, or run the other one");
    Some(Check::warn("plugin-other-build", text, remedy))
}

/// Other plugins that are copies of this one: their hooks would run, too.
fn second_copies(dir: &Path) -> Option<Check> {
    let plugins = dir.parent()?;
    let entries = files::entries(plugins).ok()?.into_iter();
    let is_second = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let inside = path.join(&*name);
        let program = if path.is_dir() { &inside } else { path };
        let is_other = name.contains(NAME) && name != NAME && !name.ends_with(".disabled");
        is_other && mode(program) & 0o111 != 0
    };
    let mut paths = entries.map(|(name, _)| plugins.join(name.as_os_str()));
    let second = paths.find(is_second)?;
    let shown = second.display();
    let text = format!("`{shown}` is loaded as a plugin too: every hook runs twice");
    let remedy = format!("rename it to end in `.disabled`, or remove it: rm -r {shown}");
    Some(Check::warn("plugin-twice", text, remedy))
}

/// The checks of this area.
pub fn host(facts: &Facts) -> Vec<Check> {
    let mut checks = vec![chibi(&facts.run)];
    checks.extend(duplicates(&facts.run));
    checks
}

fn chibi(run: &RunContext) -> Check {
    let Some(chibi) = find_program(PROGRAM, &run.env) else {
        let text = "`chibi` was not found on PATH";
        if !connected(run).is_empty() {
            return Check::ok("host-missing", format!("{text}, which only its users need"));
        }
        return Check::warn(
            "host-missing",
            text,
            "install chibi, or put it on PATH, if you use it: `agent-skills hosts` shows other agents",
        );
    };
    let at = chibi.display();
    let version = match ask(&chibi, "--version", &run.env) {
        Ok(answer) => answer,
        Err(why) => {
            let text = format!("`{at} --version` failed: {why}");
            return Check::fail("host-silent", text, "see whether `chibi --version` works");
        }
    };
    let told = version.trim();
    let Some(release) = release(&version) else {
        let text = format!("`{at}` does not print its version: `{told}`");
        let remedy = "plugins work with chibi 0.4 and later";
        return Check::warn("host-unknown", text, remedy);
    };
    let Some(generation) = Protocol::of(release) else {
        let text = format!("`{at}` is {told}, which loads no such plugins");
        return Check::fail("host-old", text, "install chibi 0.4 or later");
    };
    let text = format!("{told} ({at}) passes data {}", generation.way());
    if generation == Protocol::Stdin || run.env.path("CHIBI_HOME").is_none() {
        return Check::ok("host", text);
    }
    Check::warn(
        "host-home",
        format!("{text}, and ignores CHIBI_HOME: it looks in ~/.chibi"),
        "install into ~/.chibi: `CHIBI_HOME= ./install.sh`",
    )
}

/// Every `agent-skills` on the path, if they differ.
fn duplicates(run: &RunContext) -> Option<Check> {
    let mut seen = BTreeSet::new();
    let mut shown: Vec<String> = Vec::new();
    for dir in std::env::split_paths(run.env.os("PATH")?) {
        let program = run.env.cwd.join(dir).join("agent-skills");
        let is_program = program.is_file() && mode(&program) & 0o111 != 0;
        let target = program.canonicalize().ok().filter(|_| is_program);
        if target.is_some_and(|target| seen.insert(target)) {
            shown.push(format!("`{}`", program.display()));
        }
    }
    match &*shown {
        [] => None,
        [one] => Some(Check::ok(
            "path",
            format!("`agent-skills` on PATH is {one}"),
        )),
        _ => Some(Check::warn(
            "path-duplicates",
            format!("PATH has several agent-skills: {}", shown.join(", ")),
            "a shell runs the first: remove the others, or make them links to it",
        )),
    }
}
