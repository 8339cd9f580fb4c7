//! Runs the user's own `git` in such a way that it never prompts, runs hooks or trusts the
//! configuration of a repository (docs/spec/references.md#git). It knows nothing about skills.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use crate::marketplace::fetch::{FailureKind, FetchFailure, Permit, Programs};
use crate::marketplace::reference::{CommitId, RepoUrl, is_authority};
use crate::sys::{files, limits};

/// Settings that no repository may override, since it may be hostile.
const SETTINGS: [&str; 9] = [
    "protocol.ext.allow=never",
    "protocol.file.allow=user",
    "core.symlinks=false",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    // Nothing is checked out, and what is read of a tree is checked where it is read. An old commit
    // with a bad date stops nobody.
    "fetch.fsckObjects=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
];

/// Variables that would point git at another repository.
const REPOSITORY: &str = "GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY \
     GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_CONFIG GIT_NAMESPACE GIT_PREFIX \
     GIT_SHALLOW_FILE GIT_GRAFT_FILE GIT_REPLACE_REF_BASE GIT_QUARANTINE_PATH \
     GIT_TEMPLATE_DIR GIT_EXTERNAL_DIFF GIT_PAGER GIT_EDITOR GIT_DEFAULT_HASH";

/// Git, and how to run it during one of our commands.
#[derive(Debug, Clone, Copy)]
pub struct Git<'a> {
    /// Runs it.
    pub tool: Programs<'a>,
    /// The bare repository to work on.
    repo: Option<&'a Path>,
    /// Settings of each call, as `name=value`.
    settings: &'a [String],
}

impl<'a> Git<'a> {
    /// Git without a repository and settings.
    pub fn new(tool: Programs<'a>) -> Self {
        Self {
            tool,
            repo: None,
            settings: &[],
        }
    }

    /// The same with these settings.
    #[must_use]
    pub fn with(self, settings: &'a [String]) -> Self {
        Self { settings, ..self }
    }

    /// The same in a bare repository.
    #[must_use]
    pub fn at(self, repo: &'a Path) -> Self {
        let repo = Some(repo);
        Self { repo, ..self }
    }

    /// Creates an empty bare repository for commits with ids like this one.
    pub fn init(&self, repo: &Path, like: &CommitId) -> Result<(), FetchFailure> {
        let format = like.object_format();
        let args = ["init", "--quiet", "--bare", "--template=", format];
        self.at(repo).text(&args).map(drop)
    }

    /// Runs a subcommand with its arguments, of which those from the user come after `--`. Returns
    /// its standard output, at most `max` bytes, as a file positioned at its start.
    pub fn run(&self, args: &[&str], input: &str, max: u64) -> Result<File, FetchFailure> {
        let ran = self.tool.run(self.command(args), input, max)?;
        if ran.status.success() {
            return Ok(ran.output);
        }
        Err(self.tool.tried(FetchFailure::from_stderr(&ran.errors)))
    }

    /// As [`Git::run`], but reads the output into memory.
    pub fn read(&self, args: &[&str], input: &str) -> Result<Vec<u8>, FetchFailure> {
        let output = self.run(args, input, limits::GIT_LISTING)?;
        files::read_all_capped(output, limits::GIT_LISTING).map_err(|e| self.tool.local(&e))
    }

    /// As [`Git::read`], but as text.
    pub fn text(&self, args: &[&str]) -> Result<String, FetchFailure> {
        let output = self.read(args, "")?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }

    fn command(&self, args: &[&str]) -> Command {
        let Programs { env, scratch, .. } = self.tool;
        let mut command = self.tool.command("git");
        for (name, _) in env.vars() {
            let text = name.to_string_lossy();
            if REPOSITORY.split(' ').any(|one| one == text) || text.starts_with("GIT_TRACE") {
                command.env_remove(name);
            }
        }
        command.env("GIT_TERMINAL_PROMPT", "0");
        command.env("GIT_LFS_SKIP_SMUDGE", "1");
        command.env("GIT_OPTIONAL_LOCKS", "0");
        // The plugin directory may lie inside an unrelated git repository.
        let scratch = scratch.path();
        command.env(
            "GIT_CEILING_DIRECTORIES",
            scratch.parent().unwrap_or(scratch),
        );
        if env.os("GIT_SSH_COMMAND").is_none() && env.os("GIT_SSH").is_none() {
            command.env("GIT_SSH_COMMAND", "ssh -oBatchMode=yes");
        }
        let settings = self.settings.iter().map(String::as_str);
        for setting in SETTINGS.into_iter().chain(settings) {
            command.args(["-c", setting]);
        }
        if let Some(repo) = self.repo {
            command.arg("--git-dir").arg(repo);
        }
        command.args(args);
        command
    }
}

/// The name of the remote in all our git calls, so that they all use the same address.
pub const NAME: &str = "agent-skills";
/// Arguments before a fetch that leaves out what is not asked for. Only a fetch gets them: for any
/// other command a missing object is then missing, whatever the version of git. With them git fetches
/// it by itself, or fails.
pub const PARTIAL: [&str; 4] = [
    "-c",
    "remote.agent-skills.promisor=true",
    "-c",
    "remote.agent-skills.partialclonefilter=blob:none",
];

/// A repository that may be contacted, as passed to git.
#[derive(Debug, Clone)]
pub struct Remote {
    /// Settings for each call that uses [`NAME`].
    pub settings: Vec<String>,
    /// The address that git uses, without user and password.
    pub address: String,
    rewritten: bool,
}

impl Remote {
    /// Asks git which address it uses for `address`, which is the repository `url` or its mirror.
    /// This needs no network.
    ///
    /// # Errors
    /// When git cannot be run, or the repository may not be contacted.
    pub fn find(
        git: &Git,
        permit: &Permit,
        address: &RepoUrl,
        url: &RepoUrl,
    ) -> Result<Self, FetchFailure> {
        let mut settings = vec![format!("remote.{NAME}.url={}", address.as_str())];
        let answer = git
            .with(&settings)
            .text(&["ls-remote", "--get-url", NAME])?;
        let answer = answer.trim_end_matches('\n');
        // A server may redirect git, but not to where anybody on the way can answer.
        let plain = ["http", "ftp", "ftps"].into_iter();
        let plain = plain.filter(|scheme| !answer.starts_with(&format!("{scheme}://")));
        settings.extend(plain.map(|scheme| format!("protocol.{scheme}.allow=never")));
        if !permit.git_redirects {
            settings.push("http.followRedirects=false".to_owned());
        }
        let not_known = || {
            let text = "by an address whose host is not certain";
            let text = format!("git's configuration replaces `{url}` {text}");
            FetchFailure::new(FailureKind::Other, text)
        };
        let remote = Self {
            rewritten: answer != url.as_str(),
            address: without_user(answer).ok_or_else(not_known)?,
            settings,
        };
        permit.check(url.as_str(), remote.elsewhere())?;
        Ok(remote)
    }

    /// The address that git uses, if it differs from the given one.
    pub fn elsewhere(&self) -> Option<&str> {
        self.rewritten.then_some(&self.address)
    }
}

/// The address as `scheme://host/path`, or the path of a directory. Tokens in the user's git
/// configuration must not get into a lockfile, and policies look at hosts and paths.
///
/// `None` if it is not certain which host that is: git, curl and ssh read some addresses
/// differently.
fn without_user(address: &str) -> Option<String> {
    let (scheme, authority, path) = match (address.split_once("://"), address.split_once(':')) {
        (Some((scheme, rest)), _) => {
            let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
            let path = path.split(['?', '#']).next().unwrap_or_default();
            (scheme, authority, path)
        }
        // This is ssh's `user@host:path`; with a slash before the colon it would be a path.
        (None, Some((authority, path))) if !authority.contains('/') && !path.starts_with(':') => {
            ("ssh", authority, path.trim_start_matches('/'))
        }
        _ => return Some(address.to_owned()),
    };
    let host = authority.rsplit('@').next().unwrap_or_default();
    let user = authority.strip_suffix(host).unwrap_or_default();
    let is_plain = !authority.contains(['%', '?', '#', '\\']) && !user.contains(['[', ']']);
    let is_one = host.is_empty() || is_authority(&host.to_ascii_lowercase());
    (is_plain && is_one).then(|| format!("{scheme}://{host}/{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marketplace::testing::World;
    use crate::sys::{Dir, Env};
    use std::time::{Duration, Instant};

    fn git_in<T>(vars: &[(&str, &str)], test: impl FnOnce(Git) -> T) -> T {
        let dir = tempfile::tempdir().unwrap();
        let path = std::env::var("PATH").unwrap();
        let vars = vars.iter().copied().chain([("PATH", path.as_str())]);
        let env = Env::new(
            vars.collect::<std::collections::HashMap<_, _>>(),
            dir.path(),
        );
        test(Git::new(Programs {
            env: &env,
            deadline: None,
            scratch: &Dir::anchor(dir.path()).unwrap(),
            progress: None,
        }))
    }

    fn alias(script: &str) -> Vec<String> {
        vec![format!("alias.x=!{script}")]
    }

    #[test]
    fn the_host_and_the_callers_repository_do_not_reach_git() {
        let vars = [
            ("GIT_DIR", "/x"),
            ("CHIBI_HOOK", "pre_tool"),
            ("GIT_TRACE2", "1"),
            ("KEPT", "k"),
        ];
        let settings = alias("env");
        let output = git_in(&vars, |git| git.with(&settings).read(&["x"], "")).unwrap();
        let output = String::from_utf8(output).unwrap();
        for gone in ["GIT_DIR=", "CHIBI_HOOK", "GIT_TRACE2"] {
            assert!(!output.contains(gone), "{gone} in {output}");
        }
        for there in [
            "KEPT=k",
            "LC_ALL=C",
            "GIT_TERMINAL_PROMPT=0",
            "ssh -oBatchMode=yes",
        ] {
            assert!(output.contains(there), "{there} not in {output}");
        }
    }

    #[test]
    fn a_git_that_does_not_finish_is_killed_with_its_children() {
        let settings = alias("sleep 50 & sleep 50");
        let started = Instant::now();
        let failure = git_in(&[], |git| {
            let deadline = Some(Instant::now() + Duration::from_millis(200));
            let git = Git::new(Programs {
                deadline,
                ..git.tool
            });
            git.with(&settings).run(&["x"], "", 10).unwrap_err()
        });
        assert_eq!(failure.class, FailureKind::TimedOut);
        assert!(started.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn endless_output_is_cut_off() {
        let settings = alias("yes");
        let failure = git_in(&[], |git| {
            git.with(&settings).run(&["x"], "", 1000).unwrap_err()
        });
        assert_eq!(failure.class, FailureKind::TooLarge);
    }

    #[test]
    fn a_missing_git_is_named() {
        let failure = git_in(&[("PATH", "/nowhere")], |git| {
            let env = Env::new([("PATH", "/nowhere")], git.tool.scratch.path());
            let tool = Programs {
                env: &env,
                ..git.tool
            };
            Git::new(tool).run(&[], "", 10).unwrap_err()
        });
        assert_eq!(failure.class, FailureKind::Missing);
    }

    #[test]
    fn no_credential_is_kept_of_an_address() {
        for (address, kept) in [
            ("https://h/o/r", "https://h/o/r"),
            ("https://me:secret@h/o/r.git", "https://h/o/r.git"),
            ("https://x-access-token:s@cret@h:1/o/r", "https://h:1/o/r"),
            ("https://h/o/r?token=secret", "https://h/o/r"),
            ("git@h:o/r.git", "ssh://h/o/r.git"),
            ("ssh://git@h:22/o/r", "ssh://h:22/o/r"),
            ("file:///srv/o/r", "file:///srv/o/r"),
            ("/srv/o:r", "/srv/o:r"),
            ("ext::sh -c x", "ext::sh -c x"),
        ] {
            assert_eq!(without_user(address).as_deref(), Some(kept), "{address}");
        }
        for address in [
            "ssh://git@evil.org%2frepos%2f@good.org/acme/x",
            "http://127.0.0.1:9?@good.org/acme/x",
            "http://127.0.0.1:9#@good.org/acme/x",
            "[git@h.org:22]:evil/x",
            "[git@h.org]:evil/x",
            "git@[h.org]:evil/x",
            "ssh://git@[h.org]/evil/x",
            "ssh://[git@h.org]:22/evil/x",
            "ssh://h%2eorg/evil/x",
        ] {
            assert_eq!(without_user(address), None, "{address}");
        }
    }

    #[test]
    fn what_the_users_configuration_makes_of_an_address_is_seen() {
        let world = World::new();
        let config = |text: &str| std::fs::write(world.path("gitconfig"), text).unwrap();
        let found = || {
            let url = RepoUrl::github("acme", "skills").unwrap();
            world.with_git(|git| Remote::find(&git, &Permit::any(), &url, &url).unwrap())
        };
        config("");
        assert_eq!(found().elsewhere(), None);
        for (text, address) in [
            (
                "[url \"file:///evil/\"]\n insteadOf = https://github.com/\n",
                "file:///evil/acme/skills",
            ),
            (
                "[url \"https://u:token@evil.example/x/\"]\n insteadOf = https://github.com/acme/\n",
                "https://evil.example/x/skills",
            ),
            (
                "[url \"git@github.com:\"]\n insteadOf = https://github.com/\n",
                "ssh://github.com/acme/skills",
            ),
            // A remote may have several addresses; git fetches from the first.
            (
                "[remote \"agent-skills\"]\n url = https://evil.example/x\n",
                "https://evil.example/x",
            ),
        ] {
            config(text);
            assert_eq!(found().elsewhere(), Some(address), "{text}");
        }
    }

    #[test]
    fn git_is_not_redirected_to_plain_http() {
        let world = World::new();
        let refused = |address: &str| {
            let url = RepoUrl::parse(address).unwrap();
            world.with_git(|git| {
                let remote = Remote::find(&git, &Permit::any(), &url, &url).unwrap();
                let git = git.with(&remote.settings);
                let asked = git.text(&["ls-remote", "http://127.0.0.1:1/x"]);
                let failure = asked.unwrap_err();
                format!("{failure:?}").contains("transport 'http' not allowed")
            })
        };
        assert!(refused("https://127.0.0.1/o/r.git"));
        assert!(!refused("http://127.0.0.1:1/o/r.git"));
    }
}
