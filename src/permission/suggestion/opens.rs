//! What an entry opens, in plain words, for the person who decides about it.

use super::programs::{Shape, shape, takes_code};
use super::words::{is_assignment, is_option};

/// The first words of commands and what an entry for them opens; longer ones first.
#[rustfmt::skip]
const COMMANDS: &[(&str, &str)] = &[
    ("git push", "any branch of any remote may be changed, also with `--force`"),
    ("git reset", "changes that are not committed may be lost"),
    ("git clean", "files that are not committed may be deleted"),
    ("git checkout", "changes that are not committed may be lost"),
    ("git config", "git may be told to run other programs"),
    ("git clone", "any repository may be fetched"),
    ("npm publish", "packages may be published in your name"),
    ("npm install", "any npm package may be installed, whose install scripts run"),
    ("npm i", "any npm package may be installed, whose install scripts run"),
    ("npm ci", "the project's npm packages are installed, and their install scripts run"),
    ("yarn add", "any npm package may be installed, whose install scripts run"),
    ("pnpm add", "any npm package may be installed"),
    ("bun add", "any npm package may be installed"),
    ("pip install", "any Python package may be installed, whose setup code runs"),
    ("pip3 install", "any Python package may be installed, whose setup code runs"),
    ("uv pip install", "any Python package may be installed, whose setup code runs"),
    ("uv add", "any Python package may be installed, whose setup code runs"),
    ("docker run", "any container may run, and may have any of your files"),
    ("docker exec", "any command may run in your containers"),
    ("docker compose", "the project's containers are controlled, and may have any of your files"),
    ("kubectl", "your clusters may be read or changed by this"),
    ("terraform apply", "your infrastructure may be changed"),
    ("terraform destroy", "your infrastructure may be destroyed"),
    ("gh api", "GitHub may be asked and changed in your name"),
    ("gh", "GitHub is used in your name"),
    ("aws", "your AWS account is used"),
    ("gcloud", "your Google Cloud account is used"),
    ("az", "your Azure account is used"),
    ("brew install", "any Homebrew formula may be installed"),
    ("apt-get install", "any system package may be installed"),
    ("apt install", "any system package may be installed"),
    ("curl", "any address may be fetched, and any file of yours sent there"),
    ("wget", "any address may be fetched, and the answer written anywhere"),
    ("ssh", "exactly this command reaches another machine"),
    ("mv", "any file may be moved or overwritten"),
    ("cp", "any file may be copied or overwritten"),
    ("tee", "any file may be written"),
    ("sed", "any file may be read, with `-i` changed"),
    ("awk", "any file may be read and other programs run"),
    ("tar", "archives may be packed, and unpacked over any file"),
    ("unzip", "archives may be unpacked over any file"),
    ("find", "any directory may be searched; what `-exec` runs needs an entry of its own"),
    ("mkdir", "directories may be made anywhere"),
    ("touch", "empty files may be made anywhere"),
    ("cat", "any file may be read"),
    ("grep", "any file may be searched"),
    ("rg", "any file may be searched"),
    ("ls", "any directory may be listed"),
    ("jq", "any JSON file may be read"),
    ("open", "any file, program or address may be opened"),
    ("make", "what the project's Makefile says runs"),
];

/// What an entry opens, as a clause.
pub fn opens(entry: &str) -> String {
    let (name, body) = match entry.split_once('(') {
        Some((name, body)) => (name, Some(body.strip_suffix(')').unwrap_or(body))),
        None => (entry, None),
    };
    match (name, body) {
        ("Bash", Some(body)) => command(body),
        ("WebSearch", None) => "the web may be searched for anything".to_owned(),
        ("Task", None) => "sub-agents may be started with any task".to_owned(),
        ("Skill", Some(skill)) => format!("the skill `{skill}` may be activated"),
        ("WebFetch", Some(domain)) => {
            let domain = domain.trim_start_matches("domain:");
            format!("any address of {domain} may be fetched, and data be sent in it")
        }
        (_, Some(path)) => file(name, path),
        (_, None) => format!("`{name}` with any arguments"),
    }
}

fn file(name: &str, path: &str) -> String {
    let may = match name {
        "Write" => "be written, with any content",
        "Edit" => "be changed",
        "Grep" => "be searched",
        "Glob" | "LS" => "be listed",
        _ => "be read",
    };
    let root = |path: &str| {
        let rest = path.strip_prefix('/');
        rest.filter(|rest| rest.starts_with('/')).map(str::to_owned)
    };
    if let Some(dir) = path.strip_suffix("/**") {
        let dir = root(dir).unwrap_or_else(|| dir.to_owned());
        return format!("any file in `{dir}` may {may}");
    }
    let file = path.strip_prefix('/').unwrap_or(path);
    format!("the file `{file}` may {may}")
}

fn command(body: &str) -> String {
    let (start, is_open) = match body.strip_suffix(":*") {
        Some(start) => (start, true),
        None => (body, false),
    };
    let words: Vec<&str> = start.split(' ').collect();
    let lead = words.iter().take_while(|word| is_assignment(word)).count();
    said(&words[lead..], is_open)
}

fn said(words: &[&str], is_open: bool) -> String {
    let Some(program) = words.first() else {
        return "every command".to_owned();
    };
    let start = words.join(" ");
    let with_any = format!("`{start}` with any arguments");
    let last = words.last().copied().unwrap_or_default();
    match shape(program) {
        Shape::Elevating => return format!("as root: {}", said(&words[1..], is_open)),
        Shape::Package if words.len() == 1 => return format!("any {} may run", package(program)),
        Shape::Package => {
            let kind = package(program);
            return format!("the {kind} `{last}` may run; it is downloaded if it is not there");
        }
        Shape::Interpreter => return interpreted(program, words),
        Shape::Shell => return format!("the script `{last}` may run with any arguments"),
        _ => {}
    }
    if let Some(inner) = words
        .iter()
        .position(|word| *word == "run" || *word == "exec")
    {
        let script =
            ["npm", "pnpm", "yarn", "bun"].contains(program) && words.get(inner + 1).is_some();
        if script && words[inner] == "run" {
            return format!("the script `{last}` of package.json may run");
        }
        if ["uv", "poetry", "pipenv", "bundle"].contains(program) && words.len() > inner + 1 {
            return said(&words[inner + 1..], is_open);
        }
    }
    let mut known = COMMANDS.iter();
    let is_it = |begin: &str| {
        let rest = start.strip_prefix(begin);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    match known.find(|(begin, _)| is_it(begin)) {
        _ if !is_open => format!("exactly the command `{start}`"),
        Some((begin, opens)) if *begin == start => (*opens).to_owned(),
        Some((_, opens)) => format!("{with_any}: {opens}"),
        None => with_any,
    }
}

fn package(program: &str) -> &'static str {
    match program {
        "uvx" => "Python package",
        _ => "npm package",
    }
}

fn interpreted(program: &str, words: &[&str]) -> String {
    let name = program.rsplit('/').next().unwrap_or(program);
    let language = match name {
        "node" | "ts-node" | "tsx" => "JavaScript",
        "perl" => "Perl",
        "php" => "PHP",
        "ruby" => "Ruby",
        _ => "Python",
    };
    let last = words.last().copied().unwrap_or_default();
    let module = words.iter().position(|word| *word == "-m");
    match module.map(|at| &words[at + 1..]) {
        Some([module]) => format!("the {language} module `{module}` may run with any arguments"),
        Some(inner @ [_, ..]) => said(inner, true),
        _ if words.len() == 1 || takes_code(last) || is_option(last) => {
            format!("any {language} code may run")
        }
        _ => format!("the script `{last}` may run with any arguments"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_says_in_plain_words_what_it_opens() {
        for (entry, expected) in [
            ("Bash(npx:*)", "any npm package may run"),
            (
                "Bash(npx -y prettier:*)",
                "the npm package `prettier` may run; it is downloaded if it is not there",
            ),
            ("Bash(python3 -c:*)", "any Python code may run"),
            ("Bash(python3)", "any Python code may run"),
            ("Bash(node -e:*)", "any JavaScript code may run"),
            (
                "Bash(python3 scripts/a.py:*)",
                "the script `scripts/a.py` may run with any arguments",
            ),
            (
                "Bash(python -m pip install:*)",
                "any Python package may be installed, whose setup code runs",
            ),
            (
                "Bash(python -m pytest:*)",
                "the Python module `pytest` may run with any arguments",
            ),
            (
                "Bash(git push:*)",
                "any branch of any remote may be changed, also with `--force`",
            ),
            ("Bash(git log:*)", "`git log` with any arguments"),
            (
                "Bash(kubectl get:*)",
                "`kubectl get` with any arguments: your clusters may be read or changed by this",
            ),
            (
                "Bash(sudo curl:*)",
                "as root: any address may be fetched, and any file of yours sent there",
            ),
            ("Bash(rm -rf build)", "exactly the command `rm -rf build`"),
            (
                "Bash(A=1 make test:*)",
                "`make test` with any arguments: what the project's Makefile says runs",
            ),
            (
                "Bash(npm run lint:*)",
                "the script `lint` of package.json may run",
            ),
            ("Bash(uv run python -c:*)", "any Python code may run"),
            (
                "Write(out/**)",
                "any file in `out` may be written, with any content",
            ),
            ("Read(//etc/ssl/**)", "any file in `/etc/ssl` may be read"),
            ("Edit(/a.md)", "the file `a.md` may be changed"),
            (
                "WebFetch(domain:a.org)",
                "any address of a.org may be fetched, and data be sent in it",
            ),
            ("my_tool", "`my_tool` with any arguments"),
        ] {
            assert_eq!(opens(entry), expected, "{entry}");
        }
    }
}
