//! Whole commands, tested with generated git repositories that are reached over `file://`.

mod change;
mod install;
mod landing;
mod names;

use crate::marketplace::testing::{World, skill};

/// The repository `o/skills` with two skills; returns its commit.
fn two_skills(world: &World) -> String {
    let (pdf, ocr) = (skill("pdf"), skill("pdf-ocr"));
    world.commit(
        "o/skills",
        &[("skills/pdf/SKILL.md", &pdf), ("skills/ocr/SKILL.md", &ocr)],
    )
}
