//! Options that do not go together, or that an engine does not have.
//!
//! In: the options of `check`. Out: a message, or nothing. Never here: what an option does.

use super::args::{self, Engine, LtlEngine, Order, Por, Proviso, Store, Symmetry};
use super::stores;

/// Options that an engine does not have are refused, never ignored.
pub fn not_available(args: &args::Check) -> Option<String> {
    if let Some(message) = not_for_sets(args).or_else(|| not_for_clauses(args)) {
        return Some(message);
    }
    if let Some(message) = without_effect(args) {
        return Some(message);
    }
    let plain = args.engine.and_then(Engine::plain_word);
    if let Some(engine) = plain {
        if args.order != Order::Bfs {
            return Some(format!("--order: the {engine} engine searches breadth first only"));
        }
        if args.store != Store::Exact {
            return Some(format!("--store: the {engine} engine keeps exact states only"));
        }
        if args.symmetry != Symmetry::Off {
            return Some(format!("--symmetry: the {engine} engine visits every state"));
        }
        // The symbolic engines take as many workers as they have use for; bmc, kind and ic3 have use for one.
        let evaluates = matches!(args.engine, Some(Engine::Evaluate | Engine::Reference));
        if args.workers.is_some_and(|n| n > 1) && evaluates {
            return Some(format!("--workers: the {engine} engine has one worker"));
        }
    }
    if args.por != Por::Off {
        if matches!(args.symmetry, Symmetry::Marker | Symmetry::MarkerClassic) {
            return Some(
                "--por with --symmetry: a marker does not say which state stands for its orbit, so the set chosen \
                 there would depend on the schedule; use --symmetry exact"
                    .into(),
            );
        }
        if let Some(engine) = plain {
            return Some(format!("--por: the {engine} engine does not reduce"));
        }
        if args.order != Order::Bfs {
            return Some("--por needs --order bfs: its counts must not depend on the schedule".into());
        }
    }
    if let Some(message) = stores::not_available(args) {
        return Some(message);
    }
    if args.cluster.is_some() {
        if let Some(engine) = plain {
            return Some(format!("--cluster: the {engine} engine searches on one machine"));
        }
        if args.via.is_some() {
            return Some("--cluster: a model behind --via is checked on one machine".into());
        }
        if args.certificate.is_some() {
            return Some("--cluster: a certificate is written by a search on one machine".into());
        }
    }
    if args.checkpoint.is_some() || args.resume.is_some() {
        if let Some(engine) = plain {
            return Some(format!("--checkpoint and --resume: the {engine} engine cannot save its search"));
        }
    } else if args.checkpoint_every.is_some() {
        return Some("--checkpoint-every: says how often to save, and --checkpoint DIR where".into());
    }
    None
}

/// Options that say how something is done that was not asked for.
fn without_effect(args: &args::Check) -> Option<String> {
    let formulas = !args.ltl.is_empty() || args.ltl_file.is_some() || args.ltl_assertions;
    let given = [
        (
            "--proviso",
            args.proviso != Proviso::Topo && args.por == Por::Off,
            "for --por on and --por ample only",
        ),
        (
            "--ltl-engine",
            args.ltl_engine != LtlEngine::Automaton && !formulas,
            "for --ltl, --ltl-file and --ltl-assertions only",
        ),
    ];
    let wrong = given.iter().find(|(_, given, _)| *given);
    wrong.map(|(option, _, why)| format!("{option}: {why}"))
}

/// Options that only some symbolic engines have.
fn not_for_clauses(args: &args::Check) -> Option<String> {
    use Engine::*;
    let elsewhere = matches!(args.engine, Some(Evaluate | Reference | Bdd)) || args.via.is_some();
    let proofs = [("--proof-info", args.proof_info.is_some()), ("--paranoid", args.paranoid)];
    if let Some((option, _)) = proofs.iter().find(|(_, given)| *given && elsewhere) {
        return Some(format!("{option}: for the explicit engine and the symbolic ones only"));
    }
    let given: [(&str, bool, &[Engine]); 5] = [
        ("--max-depth", args.max_depth.is_some(), &[Bmc, BmcPath, Kind, Ic3, Portfolio]),
        ("--max-k", args.max_k.is_some(), &[Kind, Portfolio]),
        ("--frames", args.frames.is_some(), &[Ic3, Portfolio]),
        ("--width", args.width.is_some(), &[Bmc, BmcPath, Kind, Ic3, Portfolio]),
        ("--no-simple-path", args.no_simple_path, &[Kind, Portfolio]),
    ];
    let wrong = given
        .iter()
        .find(|(_, given, engines)| *given && !args.engine.is_some_and(|engine| engines.contains(&engine)))?;
    let words: Vec<&str> = wrong.2.iter().filter_map(|engine| engine.plain_word()).collect();
    Some(format!("{}: for --engine {} only", wrong.0, words.join(", ")))
}

/// Options that only an engine on sets of states has, and those that it has not.
fn not_for_sets(args: &args::Check) -> Option<String> {
    let of_sets = matches!(args.symmetry, Symmetry::Generators | Symmetry::Orbits);
    if args.engine != Some(Engine::Bdd) {
        let given = [
            ("--hint", !args.hint.is_empty()),
            ("--generators", args.generators.is_some()),
            ("--nodes", args.nodes.is_some()),
            ("--sigma-rounds", args.sigma_rounds.is_some()),
            ("--liveness", args.liveness.is_some()),
            ("--symmetry generators and --symmetry orbits", of_sets),
        ];
        let wrong = given.iter().find(|(_, given)| *given);
        return wrong.map(|(option, _)| format!("{option}: for --engine bdd only"));
    }
    let given = [
        ("--por", args.por != Por::Off, "sets of states are not reduced by partial orders"),
        ("--store", args.store != Store::Exact, "sets of states are exact"),
        ("--order", args.order != Order::Bfs, "sets of states have no such order"),
        ("--checkpoint", args.checkpoint.is_some() || args.resume.is_some(), "its search cannot be saved"),
        ("--cluster", args.cluster.is_some(), "sets of states are searched on one machine"),
        ("--ltl-engine", args.ltl_engine != LtlEngine::Automaton, "formulas are decided by fixpoints there"),
        ("--symmetry", args.symmetry != Symmetry::Off && !of_sets, "use generators or orbits"),
        (
            "--generators",
            args.generators.is_some() && !of_sets,
            "use --symmetry generators or orbits with it",
        ),
        (
            "--sigma-rounds",
            args.sigma_rounds.is_some() && !of_sets,
            "use --symmetry generators or orbits with it",
        ),
        ("--liveness", args.liveness.is_some() && !of_sets, "use --symmetry generators or orbits with it"),
    ];
    let wrong = given.iter().find(|(_, given, _)| *given);
    wrong.map(|(option, _, why)| format!("{option} with --engine bdd: {why}"))
}
