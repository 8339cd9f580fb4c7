//! Orders tags that name versions. Pure.

/// A tag split into letters and numbers: `pdf-v1.2` is `pdf-v` and 1, 2.
#[derive(Debug, PartialEq, Eq)]
struct Version<'t> {
    before: &'t str,
    numbers: Vec<u64>,
    /// The text after the numbers, as in `1.2-rc1`.
    after: &'t str,
}

impl<'t> Version<'t> {
    fn parse(tag: &'t str) -> Option<Self> {
        let (before, rest) = tag.split_at(tag.find(|c: char| c.is_ascii_digit())?);
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (numbers, after) = rest.split_at(end);
        let numbers = numbers.trim_end_matches('.').split('.').map(str::parse);
        let mut numbers: Vec<u64> = numbers.collect::<Result<_, _>>().ok()?;
        // 1.2 and 1.2.0 are the same version.
        while numbers.len() > 1 && numbers.last() == Some(&0) {
            numbers.pop();
        }
        Some(Self {
            before,
            numbers,
            after,
        })
    }
}

/// The tags that name later versions than `tag`, oldest first. Prereleases are left out, and so are
/// tags with another prefix, which belong to something else.
pub fn later<'t>(tag: &str, tags: impl IntoIterator<Item = &'t str>) -> Vec<String> {
    let Some(own) = Version::parse(tag) else {
        return Vec::new();
    };
    let parsed = tags
        .into_iter()
        .filter_map(|tag| Some((Version::parse(tag)?, tag)));
    let mut later: Vec<(Version, &str)> = parsed
        .filter(|(other, _)| {
            let released = own.numbers == other.numbers && !own.after.is_empty();
            other.before == own.before
                && other.after.is_empty()
                && (other.numbers > own.numbers || released)
        })
        .collect();
    later.sort_by(|(a, _), (b, _)| a.numbers.cmp(&b.numbers));
    later.into_iter().map(|(_, tag)| tag.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_versions_are_those_with_larger_numbers() {
        let tags = [
            "v1.10", "v1.2", "v1.2.0", "v1.3", "v0.9", "v2.0-rc1", "2.0", "pdf-v3", "x",
            "v1.2-rc1", "v",
        ];
        assert_eq!(later("v1.2", tags), ["v1.3", "v1.10"]);
        assert_eq!(later("v1.2-rc1", ["v1.2"]), ["v1.2"]);
        assert_eq!(later("pdf-v2", tags), ["pdf-v3"]);
        assert_eq!(later("main", tags), Vec::<String>::new());
        assert_eq!(later("1.99999999999999999999", tags), Vec::<String>::new());
    }
}
