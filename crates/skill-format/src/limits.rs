//! What the content of one `SKILL.md` may cost, each with its reason. Sizes are bytes.

/// The YAML block of one `SKILL.md`. The largest real one is 9.6 KB. The parser is quadratic in
/// nesting, so its input is bounded first.
pub const FRONTMATTER: usize = 64 * 1024;
/// Nesting depth of `[` and `{` in the frontmatter.
pub const FRONTMATTER_DEPTH: usize = 64;
/// Total number of `[` and `{` in the frontmatter. The depth alone is not enough, because closing
/// brackets in comments and quotes close nothing; 64 KiB of nesting takes the parser seconds.
pub const FRONTMATTER_BRACKETS: usize = 1000;
/// Tokens of instructions above which the author is warned; 1.5 % of real skills have more.
pub const MANY_TOKENS: usize = 8000;
/// What all placeholders together may add to a skill's instructions: enough to use any argument
/// that fits a prompt once, not two thousand times.
pub const FILLED_IN: usize = 256 * 1024;
/// Skills that one skill can require.
pub const REQUIRED_SKILLS: usize = 20;
