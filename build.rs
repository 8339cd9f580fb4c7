//! Lays the release build out by `link.ld`: the functions that run in a hook stand together, on
//! few pages, and what unwinding would need is left out, because `panic = "abort"`. Only where the
//! linker can do it, which that of rustc on x86-64 Linux can; elsewhere nothing is changed.

#![allow(clippy::print_stdout)]

use std::path::Path;
use std::process::{Command, Stdio};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=link.ld");
    let var = |name| std::env::var(name).unwrap_or_default();
    if var("PROFILE") != "release" || var("CARGO_CFG_TARGET_OS") != "linux" {
        return;
    }
    let script = Path::new(&var("CARGO_MANIFEST_DIR")).join("link.ld");
    let arguments = [
        format!("-Wl,-T,{}", script.display()),
        "-Wl,--no-eh-frame-hdr".to_owned(),
        "-Wl,--icf=all".to_owned(),
    ];
    if can_link(&arguments, &var) {
        for argument in arguments {
            println!("cargo::rustc-link-arg-bins={argument}");
        }
    }
}

/// Whether an empty program can be linked so.
fn can_link(arguments: &[String], var: &dyn Fn(&'static str) -> String) -> bool {
    let out = Path::new(&var("OUT_DIR")).join("probe");
    let source = out.with_extension("rs");
    if std::fs::write(&source, "fn main() {}").is_err() {
        return false;
    }
    let mut probe = Command::new(var("RUSTC"));
    probe.arg(&source).arg("-o").arg(&out);
    probe.args(["--target", &var("TARGET"), "-Cpanic=abort"]);
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
