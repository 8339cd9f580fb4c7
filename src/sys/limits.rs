//! Every cap in one place, each with its reason; docs/spec/limits.md has the same list. Sizes are
//! bytes unless the name says otherwise.

use std::time::Duration;

/// Standard input of a hook or tool call. The host was seen to pass 3 MB; a script's `stdin`
/// argument of 100 MB travels this way too, as JSON, where a byte may take six.
pub const REQUEST: u64 = 640 * 1024 * 1024;
/// Silence on standard input after which its end is no longer waited for. The host writes a
/// request in one go and closes; whoever does not close must not hang us.
pub const STDIN_SILENCE: Duration = Duration::from_secs(5);
/// All of standard input, below the 30 seconds after which the host gives up on a call.
pub const STDIN_TOTAL: Duration = Duration::from_secs(20);
/// The same for a hook that decides about a call.
pub const STDIN_DECISION: Duration = Duration::from_secs(4);
/// A hook that decides about a call, from its start to its answer: then it is refused. It takes
/// milliseconds, and waits 2 seconds for a lock at most.
pub const DECISION_DEADLINE: Duration = Duration::from_secs(5);
/// Any other call, 3 seconds below the host's limit, at which it loses the answer or ends the run
/// (docs/spec/hosts.md#time-limits).
pub const CALL_DEADLINE: Duration = Duration::from_secs(27);
/// What a call takes besides waiting for a script: as much as by default.
pub const BESIDES_SCRIPT: Duration = Duration::from_secs(2);
/// One `SKILL.md`. The largest of 21,698 real ones is 293 KB.
pub const SKILL_FILE: u64 = 2 * 1024 * 1024;
/// The YAML block of one `SKILL.md`. The largest real one is 9.6 KB; the parser is quadratic in
/// nesting, so its input is bounded before it sees it.
pub const FRONTMATTER: usize = 64 * 1024;
/// Open `[` and `{` in the frontmatter at one point.
pub const FRONTMATTER_DEPTH: usize = 64;
/// `[` and `{` in the frontmatter altogether. Closing ones in comments and quotes close nothing,
/// so they cannot be trusted to bound the depth; 64 KiB of nesting takes the parser seconds.
pub const FRONTMATTER_BRACKETS: usize = 1000;
/// Bytes of a name that a like one is looked for.
pub const SUGGESTED_FOR: usize = 200;
/// The catalog's index: five times the 2 KB that each of 20,000 skills takes.
pub const CATALOG_INDEX: u64 = 200 * 1024 * 1024;
/// Answers kept in one index: the schema, and the prompts of so many contexts.
pub const CATALOG_ANSWERS: usize = 6;
/// Bytes of what an answer depends on that are kept as they are, and not as their digest.
pub const ANSWER_NAME: usize = 2048;
/// Indexes that are kept, one for each set of skills directories: one for each project with skills.
pub const CATALOG_INDEXES: usize = 50;
/// Entries looked at in one skills directory.
pub const CATALOG_ENTRIES: usize = 20_000;
/// Bundled files listed at activation; 99 % of real skills have at most 35.
pub const LISTED_RESOURCES: usize = 50;
/// Characters of one description that the model is shown: half as many again as the
/// specification allows. 22 of 21,698 real ones are longer.
pub const DESCRIPTION_CHARS: usize = 1536;
/// Characters below which the beginning of a description says nothing.
pub const SHORTEST_DESCRIPTION: usize = 20;
/// Skills with a tool each, unless configured: models take at most 128 tools, and the host and
/// other plugins bring theirs.
pub const SKILL_TOOLS: usize = 32;
/// Characters of the catalog in the system prompt, unless configured: about 3,000 tokens.
pub const PROMPT_CHARS: usize = 12_000;
/// The record of what the user was told: 20 digests.
pub const TOLD_FILE: u64 = 4096;
/// Installed skills that a search answers.
pub const FOUND_SKILLS: usize = 10;
/// Tokens of instructions above which their author should know; 1.5 % of real skills have more.
pub const MANY_TOKENS: usize = 8000;
/// Files looked at when a skill's directory is walked; the largest real skill has 1,379.
pub const WALKED_FILES: usize = 10_000;
/// Depth of a walk, below a skill or through a repository: 99.4 % of real `SKILL.md` files lie at 7
/// or less.
pub const WALK_DEPTH: usize = 8;
/// What `read_skill_file` answers in one call unless asked for less.
pub const READ_ANSWER: usize = 256 * 1024;
/// The largest resource that is opened at all.
pub const RESOURCE_FILE: u64 = 64 * 1024 * 1024;
/// One stream of a script's output; the middle of anything longer is dropped.
pub const SCRIPT_OUTPUT: usize = 64 * 1024;
/// What is read of a script to see how it wants to be run: shebang and PEP 723 block.
pub const SCRIPT_HEAD: u64 = 64 * 1024;
/// What may still be read of a script's output after its end: more than a pipe holds (1 MiB at
/// most), for a process that could not be killed may go on writing.
pub const SCRIPT_REST: usize = 4 * 1024 * 1024;
/// Seconds a script may take altogether, unless configured otherwise.
pub const SCRIPT_SECONDS: f64 = 120.0;
/// The most that can be configured for it: less than a job is kept.
pub const SCRIPT_SECONDS_MOST: f64 = 12.0 * 3600.0;
/// Seconds after which a call under the newer host answers by itself: the host kills at 30 and
/// loses the answer (docs/spec/hosts.md#time-limits).
pub const HOST_CALL_SECONDS: u64 = 25;
/// One stream of a job's output on disk: its beginning and its end.
pub const JOB_OUTPUT: u64 = 1024 * 1024;
/// Jobs running at once. Each is a supervisor, a script and whatever that starts.
pub const JOBS: usize = 32;
/// How long a job is kept after its end.
pub const JOB_AGE: Duration = Duration::from_hours(24);
/// One file of a job besides its output.
pub const JOB_FILE: u64 = 64 * 1024;
/// How long a killed process tree is waited for. Only processes of another user outlive a kill.
pub const REAP: Duration = Duration::from_secs(2);
/// A lock in a hook: a hook that hangs aborts the host's run.
pub const HOOK_LOCK: Duration = Duration::from_secs(2);
/// A lock taken for an install or a removal, where another one may be running.
pub const INSTALL_LOCK: Duration = Duration::from_mins(1);
/// Characters of the skills that are always on in one context, unless configured: some 10,000
/// tokens in every system prompt. 99 % of real skills have less than 39,000 bytes.
pub const ALWAYS_ON_CHARS: usize = 40_000;
/// Scripts of one hook of a skill. Nobody needs so many.
pub const HOOK_SCRIPTS: usize = 8;
/// All scripts that run when a skill is activated, below the 30 seconds after which the host gives
/// up on a call.
pub const PRE_HOOKS: Duration = Duration::from_secs(20);
/// All scripts that run at the end of one activation; several may have to be fitted into
/// [`HOOKS_TOTAL`].
pub const POST_HOOKS: Duration = Duration::from_secs(10);
/// All that one hook of the host runs of what activations owe. The last may begin at 10 seconds,
/// and with the reaping is over long before the host gives up.
pub const HOOKS_TOTAL: Duration = Duration::from_secs(20);
/// What a skill's hooks print and the model is shown: a line or two are meant.
pub const HOOK_OUTPUT_CHARS: usize = 4000;
/// The record of one activation with hooks, which is mostly a path.
pub const HOOK_RECORD: u64 = 16 * 1024;
/// Such records that are looked at; there is one for each that is active now.
pub const HOOK_RECORDS: usize = 1000;
/// The state file. One entry is about 1 KB and there is one per live host process.
pub const STATE_FILE: u64 = 8 * 1024 * 1024;
/// How long one call goes by the state that it read, if the file looks the same.
pub const STATE_SEEN: Duration = Duration::from_millis(100);
/// The record of refused calls: 4,000 of them.
pub const REFUSALS_FILE: u64 = 32_000;
/// The lockfile; an entry is about 500 bytes.
pub const LOCKFILE: u64 = 8 * 1024 * 1024;
/// Skills activated in one session. Nobody needs so many; each costs a parse at every call.
pub const SESSION_SKILLS: usize = 200;
/// Conversations of which active skills are kept: each is read at every call, at about 1 KB.
pub const CONTEXTS: usize = 100;
/// Skills active at the same time, unless configured otherwise: more instructions than that
/// contradict each other.
pub const ACTIVE_SKILLS: usize = 5;
/// Arguments of an activation that are kept with it. The record is read at every call, and five
/// skills in each of a hundred conversations fit it.
pub const KEPT_ARGUMENTS: usize = 8 * 1024;
/// Instructions of active skills that are put into the system prompt again, altogether.
pub const REINJECTED: usize = 256 * 1024;
/// What arguments may add to a skill's instructions in all their places: once for any that fit a
/// prompt, and not a skill's two thousand times over.
pub const FILLED_IN: usize = 256 * 1024;
/// How far the requirements of required skills are followed.
pub const REQUIRES_DEPTH: usize = 5;
/// Required skills that are named, and names that are not found.
pub const REQUIRED_SKILLS: usize = 20;
/// Names in one call of `skill_session`.
pub const SESSION_NAMES: usize = 100;
/// A session named by `AGENT_SKILLS_SESSION` has no process whose end could be seen.
pub const NAMED_SESSION_AGE: Duration = Duration::from_hours(7 * 24);
/// Files of one installed skill, and their bytes together (rejects nothing real but a committed
/// build directory).
pub const INSTALL_FILES: usize = 10_000;
/// See [`INSTALL_FILES`].
pub const INSTALL_BYTES: u64 = 50 * 1024 * 1024;
/// One git command of a person's, which may download a repository.
pub const GIT_SECONDS: u64 = 300;
/// One file of the web, which is 10 MiB at most.
pub const DOWNLOAD_SECONDS: u64 = 120;
/// An archive, or all files of a skill of a site, as they travel.
pub const DOWNLOAD: u64 = 10 * 1024 * 1024;
/// An archive unpacked.
pub const UNPACKED: u64 = 25 * 1024 * 1024;
/// Files in an archive, and of a skill of a site.
pub const ARCHIVE_FILES: usize = 1000;
/// What is kept of one repository; above it, fetching anew costs less than keeping.
pub const REPOSITORY_CACHE: u64 = 1024 * 1024 * 1024;
/// What is scanned of one file; the largest script of the corpus has a quarter of that.
pub const SCANNED_FILE: u64 = 1024 * 1024;
/// The list of what a site or a marketplace has.
pub const INDEX: u64 = 8 * 1024 * 1024;
/// A configuration or policy file.
pub const CONFIG_FILE: u64 = 1024 * 1024;
/// What git may print for one command that lists refs or files: 64 MiB is 500,000 files.
pub const GIT_LISTING: u64 = 64 * 1024 * 1024;
/// Files and directories of one repository or local directory that skills are looked for in.
pub const TREE_ENTRIES: usize = 500_000;
/// `SKILL.md` files read in one repository; the largest collection found has 4,000.
pub const TREE_SKILLS: usize = 10_000;
/// All `SKILL.md` files and links of one repository together.
pub const TREE_SKILL_BYTES: u64 = 256 * 1024 * 1024;
/// Links followed for one path; the kernel's own limit.
pub const LINK_HOPS: usize = 40;
/// A reference as typed.
pub const REFERENCE: usize = 2048;
/// The cached catalog of one source.
pub const SOURCE_CACHE: u64 = 16 * 1024 * 1024;
/// A block message (docs/spec/restriction.md#block-message).
pub const BLOCK_MESSAGE_CHARS: usize = 600;
/// Depth at which the directories that a digest covers are given up on; a link in a circle gets
/// there at once.
pub const DIGEST_DEPTH: usize = 24;
/// Files of a trusted skill of which each is recorded, to say which changed: with more, a trust record
/// of some hundred skills would no longer be small.
pub const TRUSTED_FILES: usize = 200;
/// The records of trust and of approvals: some 20,000 directories.
pub const TRUST_FILE: u64 = 4 * 1024 * 1024;
/// One audit log before it is put aside, unless configured; 10 MiB are about 25,000 events.
pub const AUDIT_FILE: u64 = 10 * 1024 * 1024;
/// Audit logs that were put aside and are kept.
pub const AUDIT_KEPT: usize = 4;
/// The end of an audit log that is looked through for when a session was last heard of: 500 events.
pub const AUDIT_END: u64 = 256 * 1024;
/// One text in an audit event.
pub const AUDIT_TEXT: usize = 500;
/// One audit event, so that a line never needs more than one write.
pub const AUDIT_EVENT: usize = 64 * 1024;
/// The lock for putting an audit log aside. Not a reason to keep a hook waiting.
pub const AUDIT_LOCK: Duration = Duration::from_millis(50);
/// Entries of a skill that are tried alone to name the one that granted a call.
pub const AUDIT_ENTRIES: usize = 32;
/// The diff of a proposal, or the text of a skill that is to be made. A diff that nobody can read is
/// no proposal; 99 % of real `SKILL.md` files are smaller.
pub const PROPOSAL: usize = 64 * 1024;
/// Justification, evidence and each comment of a proposal, which a person reads.
pub const PROPOSAL_TEXT: usize = 4 * 1024;
/// Proposals that wait. A user who left so many undecided will not miss one more.
pub const PROPOSALS: usize = 100;
/// Comments on one proposal.
pub const PROPOSAL_COMMENTS: usize = 20;
/// A proposal's file: the diff, where JSON may need six bytes for one, and the texts.
pub const PROPOSAL_FILE: u64 = 1024 * 1024;
/// Lines compared to find where a diff applies: a tenth of a second. Blank lines in a file of
/// blank lines would take hours.
pub const PATCH_EFFORT: usize = 10_000_000;
/// Lines of a body beyond which `validate` advises to move details to files (specification).
pub const BODY_LINES: usize = 500;
/// Characters of the field `compatibility` (specification).
pub const COMPATIBILITY: usize = 500;
/// A conversation that tests a skill.
pub const CONVERSATION: u64 = 4 * 1024 * 1024;
/// One call of a simulated host: longer than any script may run.
pub const SIMULATED_CALL: Duration = Duration::from_secs(150);
/// What one call may answer a simulated host.
pub const SIMULATED_ANSWER: u64 = 16 * 1024 * 1024;
/// What `doctor` reads of a program's answer: a schema of thousands of skills.
pub const DOCTOR_ANSWER: u64 = 8 * 1024 * 1024;
/// How long `doctor` waits for a program that should answer in milliseconds.
pub const DOCTOR_SECONDS: u64 = 5;
/// How long a lock may be held before `doctor` mentions it; a hook holds one for about 1 ms.
pub const DOCTOR_LOCK: Duration = Duration::from_millis(500);
/// The age from which a temporary file is one that nobody will rename any more.
pub const LITTER_AGE: Duration = Duration::from_hours(1);
