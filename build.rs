//! Lays the release build out by `link.ld`: the functions that run in a hook stand together, on
//! few pages, and what unwinding would need is left out, because `panic = "abort"`. Only where the
//! linker can do it, which lld can, that of the system or the one that comes with rustc; elsewhere
//! nothing is changed.

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
    let layout = [
        format!("-Wl,-T,{}", script.display()),
        "-Wl,--no-eh-frame-hdr".to_owned(),
        "-Wl,--icf=all".to_owned(),
    ];
    // For some targets rustc takes the system's linker although it brings its own.
    let own = [
        "-fuse-ld=lld".to_owned(),
        format!("-B{}/lib/rustlib/{}/bin/gcc-ld", sysroot(&var), var("HOST")),
    ];
    let with_own = layout.iter().chain(&own).cloned().collect();
    for arguments in [layout.to_vec(), with_own] {
        if can_link(&arguments, &var) {
            for argument in arguments {
                println!("cargo::rustc-link-arg-bins={argument}");
            }
            return;
        }
    }
}

/// Where the compiler is installed.
fn sysroot(var: &dyn Fn(&'static str) -> String) -> String {
    let printed = Command::new(var("RUSTC"))
        .args(["--print", "sysroot"])
        .output();
    let text = printed.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&text).trim().to_owned()
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
