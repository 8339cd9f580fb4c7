//! `jq` as a filter (docs/spec/restriction.md#program-filters): one program that reads only its
//! input, and no file.

use skill_text::Names;

/// Words of a program that access the environment, modules or file names.
const REACHES_OUT: Names =
    Names::new("env ENV input_filename modulemeta import include get_search_list");

/// Whether no word anywhere in a program accesses something outside.
pub fn stays_inside(program: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !program.is_empty()
        && program
            .split(|c| !is_part(c))
            .all(|word| !REACHES_OUT.has(word))
}

#[cfg(test)]
#[rustfmt::skip]
mod tests {
    use crate::shell::reading_programs;
    use crate::shell::word::Word;

    fn is_filter(arguments: &[Word]) -> bool {
        reading_programs::is_filter(&[&[Word::literal("jq")], arguments].concat())
    }

    fn filters(arguments: &[&str]) -> bool {
        let words: Vec<_> = arguments.iter().map(|text| Word::literal(text)).collect();
        is_filter(&words)
    }

    #[test]
    fn programs_that_use_only_their_input_are_harmless() {
        for arguments in [
            &["."][..], &["-r", ".a[0].b"], &[".a", "-r"], &["-rc", ".[] | {id, name}"],
            &["-e", "-s", "-n", "-S", "-j", "-M", "[inputs]"], &["--arg", "v", "--rawfile", "$v"],
            &["--argjson", "n", "3", ".[:$n]"], &["-r", ".[] | \"\\(.a)\\t\\(.b)\""], &["to_entries[] | select(.value > 1)"],
            &["{\n  a,\n  b: .c\n}"], &[".environment"],
        ] {
            assert!(filters(arguments), "{arguments:?}");
        }
    }

    #[test]
    fn what_reads_files_modules_or_the_environment() {
        for arguments in [
            &[][..], &["-r"], &[""], &[".", "x.json"], &["-f", "x.jq"], &["--from-file", "x.jq"], &["-fr", "x"],
            &["-L", ".", "."], &["-L.", "."], &["--slurpfile", "a", "/etc/passwd", "$a"],
            &["--rawfile", "a", "/etc/passwd", "$a"], &["--argfile", "a", "/etc/passwd", "$a"], &["--args", ".", "a"],
            &["--jsonargs", ".", "1"], &["--arg", "v"], &["--arg", "v", "1"],
            &["--arg", "v", "1", ".", "x.json"], &["env.HOME"], &["env"], &["$ENV.HOME"], &["$ENV"], &["\"\\(env.HOME)\""],
            &["$\nENV"], &["input_filename"], &["import \"a\" as a; a::x"], &["include \"a\"; x"], &["\"a\" | modulemeta"],
            &["get_search_list"], &["--seq", "."], &["--stream", "."], &["-", "."], &["-h"],
        ] {
            assert!(!filters(arguments), "{arguments:?}");
        }
        let hole = Word::unknown();
        assert!(!is_filter(&[Word::literal("."), hole.clone()]));
        assert!(!is_filter(std::slice::from_ref(&hole)));
        let named = ["--arg", "v"].map(Word::literal).to_vec();
        assert!(!is_filter(
            &[named, vec![hole, Word::literal(".")]].concat()
        ));
    }
}
