//! Options as people find them: under headings, with short forms, with examples.
//!
//! In: the table of `args`. Out: the same commands, arranged. Never here: what an option means.

use super::args::Cli;
use clap::{Arg, Command, CommandFactory};
use std::io::Write;

/// Headings of `check`, in the order of the help, each with the names of its options.
const HEADINGS: [(&str, &[&str]); 10] = [
    (
        "Scope",
        &[
            "sets",
            "set_size",
            "maxint",
            "minint",
            "integers_in_scope",
            "all_constants",
            "include",
            "allow_files",
            "machine",
            "abstract_levels",
            "variants",
            "operations",
            "no_config",
        ],
    ),
    (
        "What to check",
        &["only_deadlock", "no_deadlock", "no_invariant", "no_assertions", "no_goal", "goal", "strict_wd"],
    ),
    ("Temporal formulas", &["ltl", "ltl_file", "ltl_assertions", "ctl", "ltl_engine"]),
    ("Processes", &["main", "csp", "csp_free", "via", "via_limit"]),
    (
        "Search and reductions",
        &[
            "watch",
            "engine",
            "no_native",
            "workers",
            "order",
            "symmetry",
            "por",
            "proviso",
            "store",
            "store_dir",
            "no_trace",
        ],
    ),
    (
        "Symbolic engines and sets of states",
        &[
            "max_depth",
            "max_k",
            "frames",
            "width",
            "no_simple_path",
            "proof_info",
            "paranoid",
            "hint",
            "generators",
            "nodes",
            "sigma_rounds",
            "liveness",
        ],
    ),
    ("Several machines", &["cluster", "rank", "cluster_secret", "cluster_timeout", "cluster_gather"]),
    (
        "Limits and long runs",
        &[
            "keep_going",
            "max_states",
            "time_limit",
            "memory_limit",
            "checkpoint",
            "resume",
            "checkpoint_every",
        ],
    ),
    (
        "Pictures and coverage",
        &["open", "graph", "project", "graph_states", "coverage", "require_coverage", "coverage_states"],
    ),
    ("Output", &["json", "trace", "sarif", "certificate", "quiet", "verbose", "progress", "colour"]),
];

/// Short forms of the options that are typed most.
const SHORT: [(&str, char); 8] = [
    ("workers", 'j'),
    ("quiet", 'q'),
    ("verbose", 'v'),
    ("trace", 't'),
    ("keep_going", 'k'),
    ("goal", 'g'),
    ("sets", 's'),
    ("include", 'I'),
];

const EXAMPLES: &str = "Examples:
  bombus check Lock.mch                         check a model
  bombus check Lock.mch -s PID=3 --maxint 10    for other sizes
  bombus check models/                          every model of a folder
  bombus check Lock.mch -k -t all.html          every property that fails, on one page
  bombus check Lock.mch --ltl 'G ([ask] => F [enter])'
  bombus check Lock.mch --goal 'card(inside)=2' look for a state

Exit status: 0 verified, 1 violated, 2 model or command line rejected, 3 incomplete, 4 internal error,
130 interrupted.";

/// The commands as they are parsed, shown and completed.
pub fn command() -> Command {
    let mut command = Cli::command();
    let names: Vec<String> = command.get_subcommands().map(|c| c.get_name().to_string()).collect();
    for name in names {
        command = command.mut_subcommand(&name, |c| c.mut_args(arranged));
    }
    command.mut_subcommand("check", |c| c.after_help(EXAMPLES))
}

/// The manual page: the program, then each command with its options.
pub fn manual() -> std::io::Result<String> {
    let command = command();
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for sub in command.get_subcommands().filter(|c| c.get_name() != "help") {
        writeln!(page, ".SH \"BOMBUS {}\"", sub.get_name().to_uppercase())?;
        let man = clap_mangen::Man::new(sub.clone());
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
    }
    Ok(String::from_utf8_lossy(&page).into_owned())
}

fn arranged(arg: Arg) -> Arg {
    let id = arg.get_id().as_str().to_string();
    let heading =
        HEADINGS.iter().find(|(_, names)| names.contains(&id.as_str())).map(|(heading, _)| *heading);
    let short = SHORT.iter().find(|(name, _)| *name == id).map(|(_, c)| *c);
    let is_option = arg.get_long().is_some();
    let arg = match heading.filter(|_| is_option) {
        Some(heading) => arg.help_heading(heading),
        None => arg,
    };
    match short.filter(|_| is_option && arg.get_short().is_none()) {
        Some(short) => arg.short(short),
        None => arg,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_of_check_stands_under_a_heading_and_every_name_of_the_table_is_an_option() {
        let command = command();
        let check = command.find_subcommand("check").expect("the command");
        let options: Vec<&Arg> = check.get_arguments().filter(|a| a.get_long().is_some()).collect();
        let bare: Vec<&str> = options
            .iter()
            .filter(|a| a.get_help_heading().is_none() && a.get_id() != "help")
            .map(|a| a.get_id().as_str())
            .collect();
        assert!(bare.is_empty(), "no heading: {bare:?}");
        for name in HEADINGS.iter().flat_map(|(_, names)| names.iter()) {
            assert!(options.iter().any(|a| a.get_id() == *name), "no such option: {name}");
        }
    }

    #[test]
    fn the_arranged_commands_are_well_formed() {
        command().debug_assert();
    }
}
