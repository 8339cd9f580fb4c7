//! Getting skills: what a reference means (`reference`), reading places (`fetch`), finding and
//! choosing skills there (`source`), scanning them (`scan`), staged and atomic changes (`install`),
//! and what is installed (`lock`). It does not know hosts, sessions or terminals: it returns data
//! and passes notes to a callback. Open `market.rs` first.

mod fetch;
mod install;
mod lock;
mod market;
mod options;
mod reference;
mod scan;
mod source;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use fetch::past::Commit;
pub use install::add::{Installed, Status};
pub use install::difference::Difference;
pub use install::improve::check_kept;
pub use install::plan::{Plan, Planned};
pub use install::remove::Removed;
pub use install::swap::SKILLS;
pub use install::update::{Change, Edited, UpdateOptions, Updated};
pub use lock::history::{Earlier, History, Tag};
pub use lock::installed_name::InstalledName;
pub use lock::lockfile::{Kind, LockEntry};
pub use lock::verify::{State, Verified};
pub use market::Market;
pub use options::{Confirm, InstallOptions};
pub use reference::parse::As;
pub use reference::pin::{Ancestry, Reach};
pub use scan::{Finding, Severity, scan as scan_directory};
pub use source::listing::Listed;
pub use source::origin::Provenance;
pub use source::sources::{Source, within_sources};
