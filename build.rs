//! Links the program to a fixed address where that is known to work: relocating a program that may stand anywhere touches 200 pages more
//! in every run (`perf/lessons.md`).

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = |what: &str| env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    let is_linked_by_gcc = target("OS") == "linux" && target("ENV") == "gnu" && target("ARCH") == "x86_64";
    if is_linked_by_gcc && !target("FEATURE").contains("crt-static") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
