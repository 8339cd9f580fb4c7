//! Orders tags that name versions. Pure.

/// The letters before a tag's numbers, the numbers, and the text after them: `v1.2-rc1` is `v`, 1 and
/// 2, and `-rc1`.
fn parts(tag: &str) -> Option<(&str, Vec<u64>, &str)> {
    let (before, rest) = tag.split_at(tag.find(|c: char| c.is_ascii_digit())?);
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (numbers, after) = rest.split_at(end.unwrap_or(rest.len()));
    let numbers = numbers.trim_end_matches('.').split('.').map(str::parse);
    let mut numbers: Vec<u64> = numbers.collect::<Result<_, _>>().ok()?;
    // 1.2 and 1.2.0 are the same version.
    while numbers.len() > 1 && numbers.last() == Some(&0) {
        numbers.pop();
    }
    Some((before, numbers, after))
}

/// The tags that name later versions than `tag`, oldest first. Prereleases are left out, and so are
/// tags with another prefix, which belong to something else.
pub fn later<'t>(tag: &str, tags: impl IntoIterator<Item = &'t str>) -> Vec<String> {
    let Some((own_before, own, own_after)) = parts(tag) else {
        return Vec::new();
    };
    let is_later = |tag: &'t str| {
        let (before, numbers, after) = parts(tag)?;
        let is_newer = numbers > own || numbers == own && !own_after.is_empty();
        (before == own_before && after.is_empty() && is_newer).then_some((numbers, tag))
    };
    let mut later: Vec<(Vec<u64>, &str)> = tags.into_iter().filter_map(is_later).collect();
    later.sort_by(|(a, _), (b, _)| a.cmp(b));
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
