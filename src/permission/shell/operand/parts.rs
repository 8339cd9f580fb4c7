//! The parts of a word that may each be a path.

const SEPARATORS: [char; 4] = ['=', ':', ',', '@'];
/// The limit of letters in front of an option's value.
const LETTERS: usize = 16;

/// The word, the value behind each letter of clustered options (`-so.claude/x`), and what stands
/// between and behind `=`, `:`, `,` and `@`. Linear in the word's length.
pub fn parts(text: &str) -> impl Iterator<Item = &str> {
    let cluster = text.strip_prefix('-').unwrap_or_default();
    let letters = cluster.bytes().take_while(u8::is_ascii_alphanumeric);
    let letters = letters.count().min(LETTERS);
    let values = (1..=letters).filter_map(move |at| cluster.get(at..));
    // Without a separator it would be the whole text again.
    let splits = text
        .split(SEPARATORS)
        .filter(|part| part.len() < text.len());
    // A path may hold such signs itself.
    let after = SEPARATORS
        .into_iter()
        .filter_map(|sign| text.split_once(sign).map(|(_, rest)| rest));
    std::iter::once(text)
        .chain(values)
        .chain(splits)
        .chain(after)
        // No place has a line end in its name.
        .filter_map(|part| part.lines().next())
        .filter(|part| !part.is_empty() && !part.starts_with('-'))
}
