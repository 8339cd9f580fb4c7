//! What most files of this room use of the rooms below it, and of references.

pub use crate::error::{Error, Result, past};
pub use crate::marketplace::reference::{
    Ancestry, CommitId, OciDigest, OciReference, OciRepo, Pin, Reachability, Reading, Reference,
    ReferenceForm, RepoUrl, RepositoryPart, Revision, SourceKind, SourceLocation, SubPath, WebUrl,
    is_local,
};
pub use crate::skill::{Runner, Skill, SkillName, brief, has_bit, one_line, visible};
pub use crate::sys::text::{did_you_mean, has_any, listed};
pub use crate::sys::{
    Base, Dir, Durable, EntryKind, EntryName, EntryPath, Env, FileLock, HomeFile, Progress,
    UnixMillis, files, limits,
};
