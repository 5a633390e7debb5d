//! What the arguments of `check` mean: options and limits for the driver.
//!
//! In: arguments as typed. Out: `CheckOptions` and a `Budget`, or a message.
//! Never here: options that do not go together (`refusals`), running anything.

use super::args::{self, Engine, LtlEngine, Order, Por, Store, Symmetry};
use super::cluster;
use crate::base::Int;
use crate::base::budget::Budget;
use crate::bdd;
use crate::driver::{self, CheckOptions, SymmetryMode};
use crate::explore;
use crate::ltl;
use crate::model::LoadOptions;
use std::path::PathBuf;
use std::time::Duration;

/// How far a check may go.
pub(super) fn budget(args: &args::Check) -> Budget {
    let mut budget = Budget::unlimited();
    budget.time_limit = args.time_limit.map(Duration::from_secs_f64);
    budget.max_states = args.max_states;
    budget.max_memory = args.memory_limit;
    budget
}

/// What to check, and how.
pub(super) fn options(args: &args::Check) -> Result<CheckOptions, String> {
    Ok(CheckOptions {
        loading: loading(&args.loading),
        engine: engine(args),
        no_native: args.no_native,
        workers: args.workers.map_or_else(cores, |n| n as usize),
        order: match args.order {
            Order::Bfs => explore::Order::Bfs,
            Order::Dfs => explore::Order::Dfs,
            Order::Mixed => explore::Order::Mixed,
        },
        store: match args.store {
            Store::Exact => explore::Store::Exact,
            Store::Hash => explore::Store::Hash,
            Store::Disk => explore::Store::Disk,
        },
        store_dir: (args.store == Store::Disk)
            .then(|| args.store_dir.clone().unwrap_or_else(std::env::temp_dir)),
        no_trace: args.no_trace,
        symmetry: match args.symmetry {
            Symmetry::Off | Symmetry::Generators | Symmetry::Orbits => None,
            Symmetry::Marker => Some(SymmetryMode::Marker),
            Symmetry::MarkerClassic => Some(SymmetryMode::MarkerClassic),
            Symmetry::Exact => Some(SymmetryMode::Exact),
            Symmetry::Flood => Some(SymmetryMode::Flood),
        },
        no_deadlock: args.no_deadlock,
        no_invariant: args.no_invariant || args.only_deadlock,
        no_assertions: args.no_assertions || args.only_deadlock,
        no_goal: args.no_goal || args.only_deadlock,
        deadlock_only: args.only_deadlock,
        goal: args.goal.clone(),
        strict_wd: args.strict_wd,
        keep_going: args.keep_going,
        por: match args.por {
            Por::Off => driver::Reduce::Off,
            Por::On => driver::Reduce::Stubborn,
            Por::Ample => driver::Reduce::Ample,
        },
        level_proviso: args.proviso == args::Proviso::Level,
        temporal: driver::Asked {
            ltl: args.ltl.clone(),
            ltl_file: text_of("--ltl-file", args.ltl_file.as_ref())?,
            assertions: args.ltl_assertions,
            ctl: args.ctl.clone(),
            engine: match args.ltl_engine {
                LtlEngine::Automaton => ltl::Engine::Automaton,
                LtlEngine::Tableau => ltl::Engine::Tableau,
            },
        },
        process: driver::Process {
            main: args.main.clone(),
            guide: args.csp.clone(),
            free: args.csp_free.clone(),
        },
        bdd: of_sets(args)?,
        checkpoint: driver::Checkpoint {
            save: args.checkpoint.clone().or_else(|| args.resume.clone()),
            resume: args.resume.clone(),
            or_start: args.checkpoint.is_some() && args.checkpoint == args.resume,
            every: args.checkpoint_every.map(Duration::from_secs_f64),
            end: Default::default(),
            ended: Default::default(),
        },
        cluster: cluster::settle(args)?,
        certificate: driver::Certificate::at(args.certificate.clone()),
        proofs: driver::Proofs::asked(args.proof_info.map(proof_level), args.paranoid),
        ..CheckOptions::default()
    })
}

/// The text of a file that an option names, with its name.
fn text_of(option: &str, path: Option<&PathBuf>) -> Result<Option<(String, String)>, String> {
    let Some(path) = path else { return Ok(None) };
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some((path.display().to_string(), text))),
        Err(e) => Err(format!("{option}: cannot read {}: {e}", path.display())),
    }
}

fn engine(args: &args::Check) -> driver::Engine {
    match args.engine {
        Some(Engine::Bmc) => symbolic(args, driver::Method::Bmc),
        Some(Engine::BmcPath) => symbolic(args, driver::Method::BmcPath),
        Some(Engine::Kind) => symbolic(args, driver::Method::Kind),
        Some(Engine::Ic3) => symbolic(args, driver::Method::Ic3),
        Some(Engine::Portfolio) => symbolic(args, driver::Method::Portfolio),
        Some(Engine::Reference) => driver::Engine::Reference,
        Some(Engine::Evaluate) => driver::Engine::Evaluate,
        Some(Engine::Bdd) => driver::Engine::Bdd,
        Some(Engine::Explicit) | None => driver::Engine::Explicit,
    }
}

fn of_sets(args: &args::Check) -> Result<driver::AskedOfSets, String> {
    Ok(driver::AskedOfSets {
        symmetry: match args.symmetry {
            Symmetry::Generators => bdd::Symmetry::Generators,
            Symmetry::Orbits => bdd::Symmetry::Orbits,
            _ => bdd::Symmetry::Off,
        },
        generators: text_of("--generators", args.generators.as_ref())?,
        hints: args.hint.clone(),
        nodes: args.nodes.map(|n| n as usize),
        sigma_rounds: args.sigma_rounds.map(u64::from),
        liveness: match args.liveness {
            Some(args::Liveness::Quotient) => bdd::Liveness::Quotient,
            Some(args::Liveness::CreateXi) => bdd::Liveness::Xi(bdd::Way::Create),
            Some(args::Liveness::OrbitToXi) => bdd::Liveness::Xi(bdd::Way::FromOrbits),
            _ => bdd::Liveness::Representatives,
        },
    })
}

fn symbolic(args: &args::Check, method: driver::Method) -> driver::Engine {
    driver::Engine::Symbolic(driver::SymbolicSettings {
        method,
        max_depth: args.max_depth.unwrap_or(100),
        max_k: args.max_k.unwrap_or(30),
        frames: args.frames.unwrap_or(200),
        width: args.width.unwrap_or(128) as usize,
        simple_path: !args.no_simple_path,
    })
}

fn proof_level(asked: args::ProofInfo) -> driver::ProofLevel {
    use driver::ProofLevel as Level;
    match asked {
        args::ProofInfo::Off => Level::Off,
        args::ProofInfo::Free => Level::Free,
        args::ProofInfo::Own => Level::Own,
        args::ProofInfo::Rodin => Level::Rodin,
        args::ProofInfo::All => Level::All,
    }
}

pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

pub(super) fn loading(args: &args::Loading) -> LoadOptions {
    LoadOptions {
        set_sizes: args.sets.iter().map(|(n, s)| (n.clone(), *s as usize)).collect(),
        default_set_size: args.set_size.map(|n| n as usize),
        maxint: args.maxint.map(Int::from),
        minint: args.minint.map(Int::from),
        integers_in_scope: args.integers_in_scope,
        include: args.include.clone(),
        allow_files: args.allow_files.clone(),
        machine: args.machine.clone(),
        abstract_levels: args.abstract_levels,
        variants: args.variants,
        operations: args.operations.clone(),
        all_constants: args.all_constants,
        unsaved: Default::default(),
    }
}
