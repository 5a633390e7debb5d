//! Arguments as typed. One table of options; their meaning is settled in `run`.

use crate::base::text::parse_size;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Parser, Debug)]
#[command(name = "bombus", version, about = "A parallel model checker for B-family specifications", long_about = None)]
#[command(
    after_help = "Exit status of check: 0 verified, 1 violated, 2 model or command line rejected, 3 incomplete,\n4 internal error, 130 interrupted (the result so far is printed)."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Explore every reachable state of a model and check its properties
    Check(Box<Check>),
    /// Evaluate an expression or a predicate
    Eval(Eval),
    /// Show what a model consists of: sets and sizes, constants, variables, events, definitions
    Info(Info),
    /// Run many checks from a jobs file; go on where it was after a kill
    Batch(super::batch::Batch),
    /// Start a check on several machines, or make a secret for them
    Cluster(super::cluster::Launch),
    /// Measure how a check speeds up with more workers
    Scale(super::scale::Scale),
    /// Re-run a trace against a model, step by step
    Replay(super::animate::Replay),
    /// Step through a model by hand, on stdin and stdout
    Animate(super::animate::Animate),
    /// Look at a model in the browser: states, steps, history, formulas, pictures
    Serve(super::serve::Serve),
    /// Walk through a model at random, on all cores
    Simulate(super::simulate::Simulate),
    /// Write shortest traces that reach every event, every part of a guard, or given predicates
    Tests(super::test_traces::Tests),
    /// Serve check, eval, replay and simulate to an agent: Model Context Protocol on stdin and stdout
    Mcp(super::mcp::Mcp),
    /// Serve an editor: Language Server Protocol on stdin and stdout
    Lsp(super::lsp::Lsp),
    /// Print the completions of a shell
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print the manual page, in roff
    Manual,
}

/// Where names and sizes come from; shared by all commands that load a model.
#[derive(Args, Debug, Clone, Default, PartialEq)]
pub struct Loading {
    /// Size of a deferred set, as NAME=N (repeatable)
    #[arg(long = "set", value_name = "NAME=N", value_parser = parse_set)]
    pub sets: Vec<(String, u32)>,
    /// Size of deferred sets without a stated size [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub set_size: Option<u32>,
    /// Value of MAXINT [default: 3]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub maxint: Option<i64>,
    /// Value of MININT [default: -1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub minint: Option<i64>,
    /// Take MININT..MAXINT for all integers where nothing bounds a parameter, constant or other choice; the verdict
    /// then holds for this scope. Without it such a choice makes the verdict incomplete
    #[arg(long)]
    pub integers_in_scope: bool,
    /// Set up all valuations of the constants, also those that differ only in the names of elements
    /// of deferred sets
    #[arg(long)]
    pub all_constants: bool,
    /// Also look for machines and definition files here (repeatable)
    #[arg(long = "include", value_name = "DIR")]
    pub include: Vec<PathBuf>,
    /// Let formulas of the model read files below this directory too, not only below its own (repeatable)
    #[arg(long = "allow-files", value_name = "DIR")]
    pub allow_files: Vec<PathBuf>,
    /// Which machine of an Event-B project to load (default: the most refined one)
    #[arg(long, value_name = "NAME")]
    pub machine: Option<String>,
    /// How many abstractions of a refinement are followed together with it (default: all)
    #[arg(long = "abstract-levels", value_name = "N")]
    pub abstract_levels: Option<usize>,
    /// Convergent events of Event-B must decrease the variant, anticipated ones must not increase it
    #[arg(long)]
    pub variants: bool,
    /// A schema of Z that is an operation although another schema refers to it (repeatable)
    #[arg(long = "operation", value_name = "NAME")]
    pub operations: Vec<String>,
    /// Do not read the file bombus.toml beside the model
    #[arg(long)]
    pub no_config: bool,
}

impl Loading {
    /// The arguments that these options were parsed from, for a run of their own.
    pub fn arguments(&self) -> Vec<OsString> {
        // A new field does not compile until it stands here.
        let Loading {
            sets,
            set_size,
            maxint,
            minint,
            integers_in_scope,
            all_constants,
            include,
            allow_files,
            machine,
            abstract_levels,
            variants,
            operations,
            no_config,
        } = self;
        let mut line: Vec<OsString> = Vec::new();
        let mut option = |name: &str, value: OsString| line.extend([name.into(), value]);
        for (set, size) in sets {
            option("--set", format!("{set}={size}").into());
        }
        for dir in include {
            option("--include", dir.into());
        }
        for dir in allow_files {
            option("--allow-files", dir.into());
        }
        for schema in operations {
            option("--operation", schema.into());
        }
        let values = [
            ("--set-size", set_size.map(|n| n.to_string())),
            ("--maxint", maxint.map(|n| n.to_string())),
            ("--minint", minint.map(|n| n.to_string())),
            ("--machine", machine.clone()),
            ("--abstract-levels", abstract_levels.map(|n| n.to_string())),
        ];
        for (name, value) in values {
            if let Some(value) = value {
                option(name, value.into());
            }
        }
        let flags = [
            ("--integers-in-scope", integers_in_scope),
            ("--all-constants", all_constants),
            ("--variants", variants),
            ("--no-config", no_config),
        ];
        line.extend(flags.into_iter().filter(|(_, given)| **given).map(|(name, _)| name.into()));
        line
    }
}

#[derive(Args, Debug, Clone)]
pub struct Check {
    /// The model: a machine, refinement or implementation file, an Event-B package, a Rodin project, Z in
    /// LaTeX (.tex, .zed), CSP-M (.csp, .cspm), a Petri net (.pnml), a table of transitions (.etf), or a compiled model of LTSmin's kind (.so, .spins, .dve2C)
    #[arg(value_name = "MODEL")]
    pub model: Option<PathBuf>,
    /// More models, checked one after the other. A folder stands for every model in it, - for standard input
    #[arg(value_name = "MODELS")]
    pub more: Vec<PathBuf>,
    /// Check again whenever a text of the model changes, until an interrupt
    #[arg(long, conflicts_with_all = ["via", "open", "checkpoint", "resume", "cluster"])]
    pub watch: bool,
    /// Ask the process that CMD starts for states and transitions, one process for each worker, instead of
    /// reading a model (the protocol stands in the documentation of the module `via`)
    #[arg(long, value_name = "CMD", conflicts_with = "model")]
    pub via: Option<String>,
    /// With --via: the check fails if an answer takes longer [default: 10]
    #[arg(long, value_name = "S", value_parser = parse_seconds)]
    pub via_limit: Option<f64>,
    #[command(flatten)]
    pub loading: Loading,

    /// Which evaluator runs the model
    #[arg(long, value_enum, value_name = "ENGINE")]
    pub engine: Option<Engine>,
    /// Symbolic engines: the longest path that is looked at by unrolling, in operations [default: 100]
    #[arg(long, value_name = "N")]
    pub max_depth: Option<usize>,
    /// kind: the greatest number of good states in a row that a proof may ask for, less one [default: 30]
    #[arg(long, value_name = "N")]
    pub max_k: Option<usize>,
    /// ic3: the greatest number of frames [default: 200]
    #[arg(long, value_name = "N")]
    pub frames: Option<usize>,
    /// Symbolic engines: the greatest number of bits of an integer that nothing bounds [default: 128]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(8..=4096))]
    pub width: Option<u32>,
    /// kind: do not ask for distinct states in a row
    #[arg(long)]
    pub no_simple_path: bool,
    /// Which proofs that an event keeps a conjunct of the invariant count, so that it is not checked again [default: free]
    #[arg(long, value_enum, value_name = "WHOSE")]
    pub proof_info: Option<ProofInfo>,
    /// Check every claim of --proof-info; one that is false is an internal error
    #[arg(long)]
    pub paranoid: bool,
    /// Do not translate events into machine code: slower, for comparison and for systems that forbid it
    #[arg(long)]
    pub no_native: bool,
    /// Threads at most [default: all cores]; bmc, kind and ic3 have use for one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub workers: Option<u32>,
    /// With --engine bdd: a state predicate that says which states are expanded first (repeatable)
    #[arg(long, value_name = "PRED")]
    pub hint: Vec<String>,
    /// With --engine bdd --symmetry: a file of further permutations, `swap SET a b` or `perm SET (a b c)` on each line;
    /// with one that is not known to be a symmetry nothing is verified
    #[arg(long, value_name = "FILE")]
    pub generators: Option<PathBuf>,
    /// With --engine bdd: nodes of all diagrams [default: 8388608]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1000..=1 << 30))]
    pub nodes: Option<u32>,
    /// With --engine bdd --symmetry: rounds of each closure under the symmetry [default: until it is closed]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub sigma_rounds: Option<u32>,
    /// With --engine bdd --symmetry: how temporal formulas are decided [default: representatives]
    #[arg(long, value_enum, value_name = "HOW")]
    pub liveness: Option<Liveness>,
    /// Order of exploration
    #[arg(long, value_enum, default_value_t = Order::Bfs)]
    pub order: Order,
    /// Count states as one that differ by a permutation of deferred sets, told apart up to it:
    #[arg(long, value_enum, default_value_t = Symmetry::Off)]
    pub symmetry: Symmetry,
    /// Partial order reduction
    #[arg(long, value_enum, default_value_t = Por::Off)]
    pub por: Por,
    /// How partial order reduction keeps anything from being put off for ever
    #[arg(long, value_enum, default_value_t = Proviso::Topo)]
    pub proviso: Proviso,
    /// How visited states are kept
    #[arg(long, value_enum, default_value_t = Store::Exact)]
    pub store: Store,
    /// With --store disk: the folder in which the files of the search are made and removed [default: the system's folder for such files]
    #[arg(long, value_name = "DIR")]
    pub store_dir: Option<PathBuf>,
    /// Keep no predecessors of states; a trace is found by a second search
    #[arg(long)]
    pub no_trace: bool,

    /// Look for deadlocks alone; a reduced search then keeps nothing else
    #[arg(long, conflicts_with_all = ["no_deadlock", "goal", "ltl", "ltl_file", "ltl_assertions", "ctl"])]
    pub only_deadlock: bool,
    /// Do not look for deadlocks
    #[arg(long)]
    pub no_deadlock: bool,
    /// Do not check the invariant
    #[arg(long)]
    pub no_invariant: bool,
    /// Do not check the assertions
    #[arg(long)]
    pub no_assertions: bool,
    /// Do not look for the states of a GOAL definition
    #[arg(long)]
    pub no_goal: bool,
    /// Look for a state that satisfies this predicate
    #[arg(long, value_name = "PRED")]
    pub goal: Option<String>,
    /// Report undefined expressions in guards as findings too
    #[arg(long)]
    pub strict_wd: bool,
    /// Check an LTL formula (repeatable)
    #[arg(long, value_name = "FORMULA")]
    pub ltl: Vec<String>,
    /// Check the LTL formulas of a file: one on each line, which may use the patterns it defines
    #[arg(long, value_name = "FILE")]
    pub ltl_file: Option<PathBuf>,
    /// Check the ASSERT_LTL and ASSERT_CTL definitions of the model
    #[arg(long)]
    pub ltl_assertions: bool,
    /// Check a CTL formula (repeatable)
    #[arg(long, value_name = "FORMULA")]
    pub ctl: Vec<String>,
    /// How LTL formulas are decided
    #[arg(long, value_name = "ENGINE", default_value = "automaton")]
    pub ltl_engine: LtlEngine,

    /// Which process of a CSP script to check [default: MAIN]
    #[arg(long, value_name = "NAME")]
    pub main: Option<String>,
    /// A CSP script whose process guides the machine: a channel named like an operation moves both
    #[arg(long, value_name = "FILE")]
    pub csp: Option<PathBuf>,
    /// An operation that may happen although the process does not mention it (repeatable)
    #[arg(long = "csp-free", value_name = "OP")]
    pub csp_free: Vec<String>,

    /// Explore everything, count all findings, show the first one of each property
    #[arg(long)]
    pub keep_going: bool,
    /// Stop after so many states (the verdict is then incomplete)
    #[arg(long, value_name = "N")]
    pub max_states: Option<u64>,
    /// Stop after so many seconds (the verdict is then incomplete)
    #[arg(long, value_name = "S", value_parser = parse_seconds)]
    pub time_limit: Option<f64>,
    /// Stop when so much memory is used, such as 512M or 8G (the verdict is then incomplete)
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub memory_limit: Option<u64>,

    /// Print one JSON object on stdout (text goes to stderr), or write it to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    pub json: Option<Option<PathBuf>>,
    /// Write the counterexample: .prob2trace, .json, .txt, .html, or as a sequence diagram .mmd or .svg, by extension
    /// (repeatable)
    #[arg(long, value_name = "FILE")]
    pub trace: Vec<PathBuf>,
    /// Write findings, or the messages that reject a model, in the SARIF format
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
    /// Open the counterexample in the browser, as `bombus serve` shows it
    #[arg(long)]
    pub open: bool,
    #[command(flatten)]
    pub pictures: super::pictures::Pictures,
    /// Write a certificate there, which `bombus-oracle check DIR` checks without the engines: all states of a verified
    /// model, the trace of a violated one (docs/certificates.md)
    #[arg(long, value_name = "DIR", conflicts_with_all = ["via", "csp", "main"])]
    pub certificate: Option<PathBuf>,
    /// Save the search there now and then, to go on after a crash
    #[arg(long, value_name = "DIR")]
    pub checkpoint: Option<PathBuf>,
    /// Go on from a search saved there, and keep saving it there. With the same --checkpoint DIR: start if none is saved
    #[arg(long, value_name = "DIR")]
    pub resume: Option<PathBuf>,
    /// Seconds between two savings [default: 60, more if saving takes long]
    #[arg(long, value_name = "S", value_parser = parse_seconds)]
    pub checkpoint_every: Option<f64>,
    /// Share the search with other machines: a list with address:port and a weight on each line, or `slurm`
    #[arg(long, value_name = "HOSTS")]
    pub cluster: Option<PathBuf>,
    /// Which machine of the list this one is, from 0 on [default: what srun or mpirun says]
    #[arg(long, value_name = "N")]
    pub rank: Option<usize>,
    /// The secret that all machines know: a file that only you can read, or - for standard input
    #[arg(long, value_name = "FILE")]
    pub cluster_secret: Option<PathBuf>,
    /// Seconds after which a machine that does not come or does not answer counts as lost [default: 60]
    #[arg(long, value_name = "S", value_parser = parse_seconds)]
    pub cluster_timeout: Option<f64>,
    /// Rank 0 gathers a graph for temporal formulas up to this size, such as 8G, and what trimming leaves of a larger one
    /// [default: what its memory limit leaves]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub cluster_gather: Option<u64>,
    /// Print the verdict alone
    #[arg(long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print coverage of all events and details of the engine
    #[arg(long)]
    pub verbose: bool,
    /// A live line while exploring
    #[arg(long, value_enum, default_value_t = Progress::Auto)]
    pub progress: Progress,
    /// Whether the result is coloured
    #[arg(long, value_enum, alias = "color", default_value = "auto")]
    pub colour: super::colour::Colour,
}

#[derive(Args, Debug)]
pub struct Eval {
    /// The formula
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    pub formula: String,
    /// Names of this model may be used; its variables have the values of the first initial state
    #[arg(long, value_name = "MODEL")]
    pub model: Option<PathBuf>,
    /// In the last state of this trace instead of the first initial state; without --model, of the model beside it
    #[arg(long, value_name = "TRACE")]
    pub at: Option<PathBuf>,
    /// Give up after so many seconds
    #[arg(long, value_name = "S", value_parser = parse_seconds)]
    pub time_limit: Option<f64>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub loading: Loading,
}

#[derive(Args, Debug)]
pub struct Info {
    /// The model
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    #[command(flatten)]
    pub loading: Loading,
    /// Relations between instances of events, as matrices or as a graph of what may enable what
    #[arg(long, value_enum, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    pub relations: Option<RelationForm>,
    /// The register code of the first valuation of the constants
    #[arg(long, conflicts_with = "relations")]
    pub code: bool,
    /// The machine in the core language that the oracle reads (`bombus-oracle explore FILE`)
    #[arg(long, conflicts_with_all = ["relations", "code"])]
    pub core: bool,
    /// Print one JSON object
    #[arg(long, conflicts_with_all = ["relations", "code", "core"])]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RelationForm {
    Text,
    Dot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Proviso {
    /// Two phases, on the edges of reduced states
    Topo,
    /// During the search, by levels; needs no edges
    Level,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// Compiled, on all cores (the default)
    #[value(alias = "compiled")]
    Explicit,
    /// Values instead of compiled code, one worker
    Evaluate,
    /// The oracle's own search: slow and obvious, one worker, small models only
    Reference,
    /// Bounded model checking: a SAT solver looks for the shortest violation
    Bmc,
    /// The same, one sequence of events after the other
    BmcPath,
    /// k-induction: a SAT solver looks for a proof, also of infinite state spaces
    Kind,
    /// IC3: a SAT solver looks for an inductive invariant
    Ic3,
    /// explicit, kind, ic3 and bmc side by side: the first answer counts
    Portfolio,
    /// Sets of states as decision diagrams: counts what no list of states could hold
    Bdd,
}

impl Engine {
    /// The word of an engine with one worker that knows no reduction; none for the explicit engine.
    pub fn plain_word(self) -> Option<&'static str> {
        match self {
            Engine::Explicit | Engine::Bdd => None,
            Engine::Evaluate => Some("evaluate"),
            Engine::Reference => Some("reference"),
            Engine::Bmc => Some("bmc"),
            Engine::BmcPath => Some("bmc-path"),
            Engine::Kind => Some("kind"),
            Engine::Ic3 => Some("ic3"),
            Engine::Portfolio => Some("portfolio"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProofInfo {
    /// None
    Off,
    /// The event does not write what the conjunct reads
    Free,
    /// Free proofs, and queries of our own with a small limit
    Own,
    /// Free proofs, and what Rodin has discharged
    Rodin,
    /// All of these
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LtlEngine {
    /// Automaton, product, components
    Automaton,
    /// The tableau of the LTL paper: slow and obvious
    Tableau,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Order {
    /// Level by level: a shortest trace, the same in every run, resumed or not
    Bfs,
    /// Newest states first: stops at the first fault that any worker meets; which one, its trace and the counts until
    /// then may differ from run to run, resumed or not. What sees all states counts as bfs does
    Dfs,
    /// Newest or oldest states by the toss of a coin; stops as dfs does
    Mixed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Symmetry {
    /// Every state counts by itself
    Off,
    /// By 128-bit markers: fast; "verified" only where no two elements are related to each other
    Marker,
    /// By the markers of the literature, to the letter
    MarkerClassic,
    /// By canonical forms
    Exact,
    /// By all permutations of each state: slow, for comparison
    Flood,
    /// With --engine bdd: images of states that were seen are not expanded
    Generators,
    /// With --engine bdd: one state of each orbit is expanded
    Orbits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Liveness {
    /// LTL on paths of representatives: violations are genuine, and nothing is verified (Live_Rep)
    Representatives,
    /// LTL and CTL on orbits, if formula and symmetry are proved to fit each other
    Quotient,
    /// The same by the relation of representatives and their images, grown from the representatives (Create_xi)
    CreateXi,
    /// The same with that relation taken from the one of all orbits: slower, for comparison (Orbit_To_xi)
    OrbitToXi,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Por {
    Off,
    /// Stubborn sets of event instances
    On,
    /// Ample sets of whole events, to compare
    Ample,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Store {
    /// Whole states, in memory
    Exact,
    /// Hashes of 80 bits, with the probability that a state was missed
    Hash,
    /// Whole states, in files: slower, for more states than memory holds
    Disk,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Progress {
    Auto,
    Off,
}

pub(super) fn parse_set(text: &str) -> Result<(String, u32), String> {
    let (name, size) = text.split_once('=').ok_or("expected NAME=N, such as PID=3")?;
    let size: u32 = size.trim().parse().map_err(|_| format!("'{size}' is not a size"))?;
    if size == 0 {
        return Err("a deferred set has at least one element".into());
    }
    if name.trim().is_empty() {
        return Err("expected NAME=N, such as PID=3".into());
    }
    Ok((name.trim().to_string(), size))
}

pub(super) fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(s) if s.is_finite() && s > 0.0 && s < 1e9 => Ok(s),
        _ => Err("expected a positive number of seconds".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_load_a_model_are_the_same_after_a_round_trip_through_arguments() {
        let all = Loading {
            sets: vec![("PID".into(), 3), ("T".into(), 1)],
            set_size: Some(4),
            maxint: Some(-2),
            minint: Some(-9),
            integers_in_scope: true,
            all_constants: true,
            include: vec!["a b".into(), "c".into()],
            allow_files: vec!["d e".into(), "f".into()],
            machine: Some("M2".into()),
            abstract_levels: Some(0),
            variants: true,
            operations: vec!["Op".into()],
            no_config: true,
        };
        for loading in [all, Loading::default()] {
            let line =
                ["bombus", "check", "m.mch"].map(OsString::from).into_iter().chain(loading.arguments());
            let Command::Check(check) = Cli::try_parse_from(line).expect("the arguments are valid").command
            else {
                panic!("another command");
            };
            assert_eq!(check.loading, loading);
        }
    }

    #[test]
    fn a_set_size_needs_a_name_and_a_positive_number() {
        assert_eq!(parse_set("PID=3"), Ok(("PID".into(), 3)));
        assert!(parse_set("PID").is_err());
        assert!(parse_set("PID=0").is_err());
        assert!(parse_set("=3").is_err());
    }
}
