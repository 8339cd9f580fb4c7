//! How the release build is linked on Linux, as far as the linker there can do it; elsewhere nothing
//! is changed. Each call of the host is a start of this program, so all of it is about the start:
//!
//! - laid out by `link.ld`: the functions that run in a hook stand together, on few pages, and what
//!   unwinding would need is left out, because `panic = "abort"`;
//! - at a fixed address, so that nothing has to be relocated;
//! - with no shared library but the C library: each more costs a tenth of an empty program's run.

#![allow(clippy::print_stdout)]

use std::path::Path;
use std::process::{Command, Stdio};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=link.ld");
    if var("PROFILE") != "release" || var("CARGO_CFG_TARGET_OS") != "linux" {
        return;
    }
    let script = Path::new(&var("CARGO_MANIFEST_DIR")).join("link.ld");
    let layout = [
        format!("-Wl,-T,{}", script.display()),
        "-Wl,--no-eh-frame-hdr".to_owned(),
        "-Wl,--icf=all".to_owned(),
    ];
    // For some targets rustc takes the system's linker although it brings its own.
    let own_linker = [
        "-fuse-ld=lld".to_owned(),
        format!("-B{}/lib/rustlib/{}/bin/gcc-ld", sysroot(), var("HOST")),
    ];
    let is_static = var("CARGO_CFG_TARGET_FEATURE")
        .split(',')
        .any(|feature| feature == "crt-static");
    for linker in [&[][..], &own_linker] {
        let mut arguments = [&layout, linker].concat();
        if !can_link(&arguments, None) {
            continue;
        }
        if !is_static {
            let fixed = [&arguments[..], &["-no-pie".to_owned()]].concat();
            if can_link(&fixed, Some(UNWINDER)) {
                arguments = fixed;
                println!("cargo::rustc-link-lib={UNWINDER}");
            }
        }
        for argument in arguments {
            println!("cargo::rustc-link-arg-bins={argument}");
        }
        return;
    }
}

/// What the standard library would load a shared library for: it takes backtraces, of which there
/// are none without tables.
const UNWINDER: &str = "static:-bundle=gcc_eh";

fn var(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// Where the compiler is installed.
fn sysroot() -> String {
    let printed = Command::new(var("RUSTC"))
        .args(["--print", "sysroot"])
        .output();
    let text = printed.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&text).trim().to_owned()
}

/// Whether an empty program can be linked so.
#[allow(clippy::disallowed_methods, reason = "a place of the build's own")]
fn can_link(arguments: &[String], library: Option<&str>) -> bool {
    let out = Path::new(&var("OUT_DIR")).join("probe");
    let source = out.with_extension("rs");
    if std::fs::write(&source, "fn main() {}").is_err() {
        return false;
    }
    let mut probe = Command::new(var("RUSTC"));
    probe.arg(&source).arg("-o").arg(&out);
    probe.args(["--target", &var("TARGET"), "-Cpanic=abort"]);
    probe.args(library.map(|library| format!("-l{library}")));
    let linker = var("RUSTC_LINKER");
    if !linker.is_empty() {
        probe.arg(format!("-Clinker={linker}"));
    }
    let flags = var("CARGO_ENCODED_RUSTFLAGS");
    probe.args(flags.split('\x1f').filter(|flag| !flag.is_empty()));
    probe.args(
        arguments
            .iter()
            .map(|argument| format!("-Clink-arg={argument}")),
    );
    let status = probe.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}
