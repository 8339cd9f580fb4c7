//! The caps on what other people's data and a hang can cost, each with its reason. Other constants
//! stand where they are used; docs/spec/limits.md lists all of them. Sizes are bytes unless the name
//! says otherwise.

use std::time::Duration;

/// Standard input of a hook or a tool call. The host was seen to send 3 MB. A script's `stdin`
/// argument of 100 MB arrives here too, as JSON, where a byte may take six.
pub const REQUEST: u64 = 640 * 1024 * 1024;
/// A hook that decides on a call, from start to answer; after that the call is refused. Deciding
/// takes milliseconds, and waiting for a lock at most 2 seconds.
pub const DECISION_DEADLINE: Duration = Duration::from_secs(5);
/// Any other call: 3 seconds below the host's limit, at which the host loses the answer or ends the
/// run (docs/hosts.md#time-limits).
pub const CALL_DEADLINE: Duration = Duration::from_secs(27);
/// One `SKILL.md`. The largest of 21,698 real ones is 293 KB.
pub const SKILL_FILE: u64 = 2 * 1024 * 1024;
/// The index of the catalog: five times what 20,000 skills of 2 KB each take.
pub const CATALOG_INDEX: u64 = 200 * 1024 * 1024;
/// Answers kept in one index: the schema, and the prompts of the last few contexts.
pub const CATALOG_ANSWERS: usize = 6;
/// Entries read in one skills directory.
pub const CATALOG_ENTRIES: usize = 20_000;
/// Bundled files listed at activation; 99 % of real skills have at most 35.
pub const LISTED_RESOURCES: usize = 50;
/// Characters of one description shown to the model: 1.5 times the specification's limit. 22 of
/// 21,698 real ones are longer.
pub const DESCRIPTION_CHARS: usize = 1536;
/// Files visited in a walk through a skill's directory; the largest real skill has 1,379.
pub const WALKED_FILES: usize = 10_000;
/// Depth of a walk through a skill or a repository: 99.4 % of real `SKILL.md` files are at depth 7
/// or less.
pub const WALK_DEPTH: usize = 8;
/// The largest resource that can be read.
pub const RESOURCE_FILE: u64 = 64 * 1024 * 1024;
/// The beginning of a script, read to find out how to run it: shebang and PEP 723 block.
pub const SCRIPT_HEAD: u64 = 64 * 1024;
/// What may still be read of a script's output after it has ended: more than a pipe holds (at most
/// 1 MiB), but bounded, because an unkillable process may keep writing.
pub const SCRIPT_REST: usize = 4 * 1024 * 1024;
/// The maximum of the configured seconds: less than the time for which a job is kept.
pub const SCRIPT_SECONDS_MOST: f64 = 12.0 * 3600.0;
/// Seconds after which a call of the newer host answers even if its script still runs: at 30 the
/// host kills the call and loses the answer (docs/hosts.md#time-limits).
pub const HOST_CALL_SECONDS: u64 = 25;
/// A file of a job, other than its output.
pub const JOB_FILE: u64 = 64 * 1024;
/// How long to wait for a killed process tree. Only processes of another user survive the kill.
pub const REAP: Duration = Duration::from_secs(2);
/// Waiting for a lock in a hook. A hook that hangs aborts the host's run.
pub const HOOK_LOCK: Duration = Duration::from_secs(2);
/// Waiting for a lock to install or remove, while another command may be installing.
pub const INSTALL_LOCK: Duration = Duration::from_mins(1);
/// All scripts that run when a skill is activated: less than the 30 seconds after which the host
/// gives up a call.
pub const PRE_HOOKS: Duration = Duration::from_secs(20);
/// The record of one activation with hooks; most of it is a path.
pub const HOOK_RECORD: u64 = 16 * 1024;
/// Directories of a project that may hold skills, from the working directory up to the root: each
/// is looked at in every call, at a cost that grows with its depth.
pub const HOLDERS: usize = 32;
/// The state file. Each live host process has an entry of about 1 KB.
pub const STATE_FILE: u64 = 8 * 1024 * 1024;
/// A record of refused calls or of notices shown to the user, for 4,000 of them.
pub const SEEN_FILE: u64 = 32_000;
/// A file of signers or of revoked keys: some thousand keys.
pub const SIGNERS: u64 = 4 * 1024 * 1024;
/// The manifest of a skill, or its signature: [`ARCHIVE_FILES`] lines of 200 bytes, five times.
pub const MANIFEST: u64 = 1024 * 1024;
/// The lockfile; an entry is about 500 bytes.
pub const LOCKFILE: u64 = 8 * 1024 * 1024;
/// How deep the requirements of required skills are followed.
pub const REQUIRES_DEPTH: usize = 5;
/// Files of one installed skill. With [`INSTALL_BYTES`], this rejects no real skill except one with
/// a committed build directory.
pub const INSTALL_FILES: usize = 10_000;
/// The total size of one installed skill, see [`INSTALL_FILES`].
pub const INSTALL_BYTES: u64 = 50 * 1024 * 1024;
/// Seconds for one git command run for a person, which may download a repository.
pub const GIT_SECONDS: u64 = 300;
/// A file that a program makes which fetches for us, such as a pack of git.
pub const FETCHED_FILE: u64 = 1024 * 1024 * 1024;
/// A downloaded archive, or all files of a skill from a site, as transferred.
pub const DOWNLOAD: u64 = 10 * 1024 * 1024;
/// An unpacked archive.
pub const UNPACKED: u64 = 25 * 1024 * 1024;
/// Files in an archive, or of a skill from a site.
pub const ARCHIVE_FILES: usize = 1000;
/// What is scanned of one file: all that may be of a `SKILL.md`.
pub const SCANNED_FILE: u64 = SKILL_FILE;
/// The listing of a site or a marketplace.
pub const INDEX: u64 = 8 * 1024 * 1024;
/// A configuration or policy file.
pub const CONFIG_FILE: u64 = 1024 * 1024;
/// Output of one git command that lists refs or files: 64 MiB is 500,000 files.
pub const GIT_LISTING: u64 = 64 * 1024 * 1024;
/// Files and directories searched for skills in one repository or local directory.
pub const TREE_ENTRIES: usize = 500_000;
/// Directories of a path in a repository, an archive or a local source: what a digest covers. Each
/// directory is entered from the root, so the work grows with the square of the depth.
pub const TREE_DEPTH: usize = DIGEST_DEPTH;
/// Such a path; systems take 4,096 bytes, with the directory that holds it.
pub const TREE_PATH: usize = 1024;
/// `SKILL.md` files read in one repository; the largest collection found has 4,000.
pub const TREE_SKILLS: usize = 10_000;
/// The files of several skills of one repository, as far as git hands them out in one answer.
pub const BROUGHT: u64 = 256 * 1024 * 1024;
/// All `SKILL.md` files and links of one repository together.
pub const TREE_SKILL_BYTES: u64 = 256 * 1024 * 1024;
/// Links followed for one path; the kernel's own limit.
pub const LINK_HOPS: usize = 40;
/// A reference as the user typed it.
pub const REFERENCE: usize = 2048;
/// The cached catalog of one source.
pub const SOURCE_CACHE: u64 = 16 * 1024 * 1024;
/// Files, directories and links visited where links are followed, which can multiply a few of them.
pub const WALK_STEPS: usize = 2 * INSTALL_FILES;
/// Depth of the directories that a digest covers. It ends a loop of links.
pub const DIGEST_DEPTH: usize = 24;
/// The records of trust and of approvals, for about 20,000 directories.
pub const TRUST_FILE: u64 = 4 * 1024 * 1024;
/// The digests kept for one project: about a hundred bytes for each file they cover.
pub const DIGEST_CACHE: u64 = 16 * 1024 * 1024;
/// Rotated audit logs that are kept.
pub const AUDIT_KEPT: usize = 4;
/// Justification, evidence and each comment of a proposal, which a person reads.
pub const PROPOSAL_TEXT: usize = 4 * 1024;
/// Pending proposals. A user with this many undecided will not miss another.
pub const PROPOSALS: usize = 100;
/// Decided proposals that are kept, the latest.
pub const DECIDED_PROPOSALS: usize = 100;
/// The file of a proposal: its texts and its diff, of which a byte may take six in JSON.
pub const PROPOSAL_FILE: u64 = 1024 * 1024;
/// A recorded conversation that tests a skill.
pub const CONVERSATION: u64 = 4 * 1024 * 1024;
