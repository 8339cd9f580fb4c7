//! Redirections and here-documents.

use super::Grammar;

impl Grammar {
    pub(super) fn heredoc(&mut self) -> String {
        let program = self.pick(&[
            "git a", "cat", "git commit -F -", "head -3", "bash", "sh", "git a |", "cat > out/h",
        ]);
        let (open, close) = [
            ("'E'", "E"),
            ("E", "E"),
            ("\"E\"", "E"),
            ("-E", "E"),
            ("\\E", "E"),
            ("'E'", "E "),
            ("E", ""),
        ][self.below(7)];
        let body = self.pick(&[
            "text", "it's \"quoted\" (x", "$x ${x}", "$(rm x)", "`rm x`", "${x:-$(rm x)}", "a \\",
            "$((x))", "rm x", "E x", "\tE", "$'x'", "<(rm x)", "don't", "#", "\\$(rm x)", "${x@P}",
            "\\`rm x\\`",
        ]);
        format!("{program} <<{open}\n{body}\n{close}\n")
    }

    pub(super) fn redirect(&mut self, depth: usize) -> String {
        if !self.chance(12) {
            return String::new();
        }
        if self.chance(10) && depth > 0 {
            return format!(" < <({})", self.list(depth - 1));
        }
        if self.chance(10) {
            let behind = [" &>out/z rm x", " &>> out/z git b", " > out/y rm x", " &> out/z 2>&1 evil", " &>out/z x=1 evil", " 2>&1 rm"];
            return self.pick(&behind).to_owned();
        }
        self.pick(&[
            " 2>&1", "2>&1-", " >&1-", " <&0-", " > /dev/null", " 2>/dev/null", " > out/x", " >> out/y", " < in/data",
            " > canary", " < canary", " &> out/z", " > ../x", " > ~/x", " > $x", " > \"out/$x\"",
            " <<< text", " > sub/x", " >| canary", " <> canary", " >&2", " 2>&-",
            " > out/../canary", " < in/../canary", " >& canary", " {x}> canary", " 3>&1",
            " > out/{a,b}", " > 'out/x y'", " < ../secret", " 2> out/e", " >&out/both", " <&0",
            " 1>&2 2>canary",
        ])
        .to_owned()
    }
}
