//! The process that a simulated host is. It is not the test's own: whatever that starts is a
//! person's, in a shell beside the host.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::host::Ran;

/// Makes each call as a child of its own, until its input ends. The file `call` sets the child's
/// surroundings and makes it the program.
const HOST: &str = r#"while read -r dir; do
    (. "$dir/call") >"$dir/stdout" 2>"$dir/stderr"
    echo $?
done"#;

/// A running host.
pub struct HostProcess {
    shell: Child,
    statuses: BufReader<ChildStdout>,
}

impl HostProcess {
    pub fn start() -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", HOST]);
        shell.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = shell.spawn().unwrap();
        let statuses = BufReader::new(shell.stdout.take().unwrap());
        Self { shell, statuses }
    }

    pub fn id(&self) -> u32 {
        self.shell.id()
    }

    /// Starts `command` below it, with this standard input, or none.
    pub fn call(&mut self, command: &Command, stdin: &str) -> Ran {
        let scratch = tempfile::tempdir().unwrap();
        let at = |name: &str| scratch.path().join(name);
        fs::write(at("stdin"), stdin).unwrap();
        let stdin = match stdin {
            "" => "/dev/null".into(),
            _ => at("stdin"),
        };
        fs::write(at("call"), script(command, &stdin)).unwrap();
        let pipe = self.shell.stdin.as_mut().unwrap();
        writeln!(pipe, "{}", scratch.path().display()).unwrap();
        let mut status = String::new();
        self.statuses.read_line(&mut status).unwrap();
        Ran {
            stdout: fs::read_to_string(at("stdout")).unwrap(),
            stderr: String::from_utf8_lossy(&fs::read(at("stderr")).unwrap()).into_owned(),
            status: status.trim().parse().unwrap(),
        }
    }
}

impl Drop for HostProcess {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

/// What a shell does to become this command.
fn script(command: &Command, stdin: &Path) -> Vec<u8> {
    let mut script = Vec::new();
    for (name, value) in command.get_envs() {
        let (verb, assigned): (_, &[u8]) = match value {
            Some(_) => ("export ", b"="),
            None => ("unset ", b""),
        };
        script.extend([verb.as_bytes(), name.as_bytes(), assigned].concat());
        script.extend(
            value
                .map(|value| quoted(value.as_bytes()))
                .unwrap_or_default(),
        );
        script.push(b'\n');
    }
    let cwd = command.get_current_dir().unwrap_or(Path::new("."));
    script.extend([b"cd ", &quoted(cwd.as_os_str().as_bytes())[..], b"\nexec "].concat());
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    for word in words {
        script.extend(quoted(word.as_bytes()));
        script.push(b' ');
    }
    script.extend([b"<", &quoted(stdin.as_os_str().as_bytes())[..], b"\n"].concat());
    script
}

fn quoted(text: &[u8]) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for byte in text {
        match byte {
            b'\'' => quoted.extend(br"'\''"),
            byte => quoted.push(*byte),
        }
    }
    quoted.push(b'\'');
    quoted
}
