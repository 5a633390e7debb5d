//! What does not go together with a store: options are refused, never ignored.
//!
//! In: the arguments of `check`. Out: why they are refused, if they are.
//! Never here: which engine has which options.

use super::args::{self, Engine, Order, Por, Store, Symmetry};

/// Why these arguments cannot be meant.
pub(super) fn not_available(args: &args::Check) -> Option<String> {
    not_on_disk(args).or_else(|| not_without_parents(args))
}

/// What a search with its states on disk does not do.
fn not_on_disk(args: &args::Check) -> Option<String> {
    if args.store != Store::Disk {
        return args.store_dir.as_ref().map(|_| "--store-dir: for --store disk only".into());
    }
    let given = [
        ("--order", args.order != Order::Bfs, "states on disk are searched breadth first"),
        ("--symmetry", args.symmetry != Symmetry::Off, "states on disk are not told apart up to symmetry"),
        ("--por", args.por != Por::Off, "a search on disk is not reduced"),
        ("--cluster", args.cluster.is_some(), "several machines keep their states in memory"),
        (
            "--checkpoint and --resume",
            args.checkpoint.is_some() || args.resume.is_some(),
            "a search on disk is not saved",
        ),
    ];
    let wrong = given.iter().find(|(_, given, _)| *given);
    wrong.map(|(option, _, why)| format!("{option} with --store disk: {why}"))
}

/// Where a path cannot be found by a second search.
fn not_without_parents(args: &args::Check) -> Option<String> {
    let given = [
        ("--engine", args.engine.and_then(Engine::plain_word).is_some(), "the engine keeps no predecessors"),
        ("--order", args.order != Order::Bfs, "only a breadth-first search is done again the same way"),
        ("--por", args.por != Por::Off, "a reduced search keeps predecessors"),
        ("--cluster", args.cluster.is_some(), "several machines keep predecessors only where they need them"),
        (
            "--checkpoint and --resume",
            args.checkpoint.is_some() || args.resume.is_some(),
            "a search that is saved keeps predecessors",
        ),
    ];
    let wrong = given.iter().find(|(_, given, _)| args.no_trace && *given);
    wrong.map(|(option, _, why)| format!("--no-trace with {option}: {why}"))
}
