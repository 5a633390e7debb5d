//! Settings beside a model: the options that a file `bombus.toml` in its folder gives.
//!
//! In: the command line as typed and the place of a model. Out: the command line with the options of the file, those
//! as typed first. Never here: what an option means; options that write files, start programs or join machines,
//! which a folder from elsewhere must not bring along.

use super::args::Cli;
use super::options;
use clap::parser::ValueSource;
use clap::{ArgMatches, FromArgMatches};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

const FILE: &str = "bombus.toml";

/// What stands behind a name in the file.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// A number or a word.
    Value,
    /// One text or a list of texts.
    List,
    /// Folders or files, from the folder of the file on.
    Paths,
    /// true or false.
    Flag,
}

/// Options of every command that loads a model.
const OF_MODELS: [(&str, Kind); 10] = [
    ("set-size", Kind::Value),
    ("maxint", Kind::Value),
    ("minint", Kind::Value),
    ("machine", Kind::Value),
    ("abstract-levels", Kind::Value),
    ("integers-in-scope", Kind::Flag),
    ("all-constants", Kind::Flag),
    ("variants", Kind::Flag),
    ("operation", Kind::List),
    ("include", Kind::Paths),
];

/// Options of `check` alone.
const OF_CHECK: [(&str, Kind); 20] = [
    ("engine", Kind::Value),
    ("workers", Kind::Value),
    ("order", Kind::Value),
    ("symmetry", Kind::Value),
    ("por", Kind::Value),
    ("store", Kind::Value),
    ("max-depth", Kind::Value),
    ("max-k", Kind::Value),
    ("max-states", Kind::Value),
    ("time-limit", Kind::Value),
    ("memory-limit", Kind::Value),
    ("goal", Kind::Value),
    ("ltl", Kind::List),
    ("ctl", Kind::List),
    ("ltl-assertions", Kind::Flag),
    ("keep-going", Kind::Flag),
    ("strict-wd", Kind::Flag),
    ("no-deadlock", Kind::Flag),
    ("no-invariant", Kind::Flag),
    ("no-assertions", Kind::Flag),
];

/// The command line together with the settings beside a model, and a line that tells them; nothing if there are none.
pub fn joined(model: &Path) -> Result<Option<(Cli, String)>, String> {
    joined_with(std::env::args_os().collect(), model)
}

/// The same for a command line of which the first two words are the program and the command.
fn joined_with(mut line: Vec<OsString>, model: &Path) -> Result<Option<(Cli, String)>, String> {
    let Some(file) = beside(model) else { return Ok(None) };
    let first_line = |e: clap::Error| e.to_string().lines().next().unwrap_or_default().to_string();
    let matches = options::command().try_get_matches_from(&line).map_err(first_line)?;
    let Some((command, given)) = matches.subcommand() else { return Ok(None) };
    if given.try_get_one::<bool>("no_config").ok().flatten() != Some(&false) {
        return Ok(None);
    }
    let shown = file.display();
    let text = std::fs::read_to_string(&file).map_err(|e| format!("cannot read {shown}: {e}"))?;
    let table: Table =
        text.parse().map_err(|e: toml::de::Error| format!("{shown}: {}", e.to_string().trim()))?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let found = arguments(&table, model, folder, command, given).map_err(|e| format!("{shown}: {e}"))?;
    if found.is_empty() {
        return Ok(None);
    }
    let told: Vec<String> = found.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    line.splice(2..2, found);
    let matches = options::command()
        .try_get_matches_from(&line)
        .map_err(|e| format!("{shown}: {}", first_line(e).trim_start_matches("error: ")))?;
    let cli = Cli::from_arg_matches(&matches).map_err(first_line)?;
    Ok(Some((cli, format!("{shown}: {}", told.join(" ")))))
}

/// The file of settings in the folder of a model, or in the folder that is the model.
fn beside(model: &Path) -> Option<PathBuf> {
    let inside = model.is_dir().then(|| model.join(FILE));
    let folder = model.parent().map(|folder| folder.join(FILE));
    inside.into_iter().chain(folder).find(|file| file.is_file())
}

/// The options that the file gives and the command line does not.
fn arguments(
    table: &Table,
    model: &Path,
    folder: &Path,
    command: &str,
    given: &ArgMatches,
) -> Result<Vec<OsString>, String> {
    let name = model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut all = Table::new();
    for (key, value) in table.iter().filter(|(key, _)| *key != "models") {
        merge(&mut all, key, value);
    }
    if let Some(models) = table.get("models") {
        let models =
            models.as_table().ok_or("models: a table for each model is wanted, such as [models.Lock]")?;
        // Every table is read, so that a wrong name is found whichever model is checked first.
        for (of, own) in models {
            let own = own.as_table().ok_or_else(|| format!("models.{of}: a table of options is wanted"))?;
            options_of(own, folder, command, given).map_err(|e| format!("models.{of}: {e}"))?;
            if *of == name {
                own.iter().for_each(|(key, value)| merge(&mut all, key, value));
            }
        }
    }
    options_of(&all, folder, command, given)
}

/// What is said of one model counts more than what is said of all; sizes of sets are put together.
fn merge(all: &mut Table, key: &str, value: &Value) {
    let key = key.replace('_', "-");
    match (all.get_mut(&key), value) {
        (Some(Value::Table(old)), Value::Table(new)) => old.extend(new.clone()),
        _ => {
            all.insert(key, value.clone());
        }
    }
}

fn options_of(
    table: &Table,
    folder: &Path,
    command: &str,
    given: &ArgMatches,
) -> Result<Vec<OsString>, String> {
    let typed = |id: &str| {
        given.try_contains_id(id).is_ok() && given.value_source(id) == Some(ValueSource::CommandLine)
    };
    let mut line: Vec<OsString> = Vec::new();
    for (key, value) in table {
        let key = key.replace('_', "-");
        if key == "sets" {
            line.extend(sizes(value, given)?);
            continue;
        }
        let for_models = OF_MODELS.iter().find(|(name, _)| *name == key);
        let Some((_, kind)) = for_models.or_else(|| OF_CHECK.iter().find(|(name, _)| *name == key)) else {
            let known: Vec<&str> = OF_MODELS.iter().chain(&OF_CHECK).map(|(name, _)| *name).collect();
            return Err(format!("`{key}` is no setting: known are sets, models, {}", known.join(", ")));
        };
        let words = words(&key, value, *kind, folder)?;
        let id = if key == "operation" { "operations".to_string() } else { key.replace('-', "_") };
        if (for_models.is_some() || command == "check") && !typed(&id) {
            line.extend(words);
        }
    }
    Ok(line)
}

/// `--set NAME=N` for each set whose size the command line does not give.
fn sizes(value: &Value, given: &ArgMatches) -> Result<Vec<OsString>, String> {
    let wanted = "sets: a size for each set is wanted, such as PID = 3";
    let typed: Vec<&(String, u32)> =
        given.try_get_many("sets").ok().flatten().map(Iterator::collect).unwrap_or_default();
    let mut line = Vec::new();
    for (set, size) in value.as_table().ok_or(wanted)? {
        let size = size.as_integer().filter(|n| *n > 0).ok_or(wanted)?;
        if typed.iter().all(|(name, _)| name != set) {
            line.extend(["--set".into(), OsString::from(format!("{set}={size}"))]);
        }
    }
    Ok(line)
}

/// An option with its values as it would be typed.
fn words(key: &str, value: &Value, kind: Kind, folder: &Path) -> Result<Vec<OsString>, String> {
    let option = format!("--{key}");
    let text = |value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(n) => Ok(n.to_string()),
        Value::Float(n) => Ok(n.to_string()),
        _ => Err(format!("{key}: a number or a text is wanted")),
    };
    // The value stands in one word with the option, so that it cannot be taken for another option.
    let word = |value: OsString| {
        let mut word = OsString::from(format!("{option}="));
        word.push(value);
        word
    };
    match (kind, value) {
        (Kind::Flag, Value::Boolean(true)) => Ok(vec![option.into()]),
        (Kind::Flag, Value::Boolean(false)) => Ok(Vec::new()),
        (Kind::Flag, _) => Err(format!("{key}: true or false is wanted")),
        (Kind::Value, value) => Ok(vec![word(text(value)?.into())]),
        (Kind::List | Kind::Paths, value) => {
            let single = [value.clone()];
            let values: &[Value] = value.as_array().map_or(&single, Vec::as_slice);
            let one = |value: &Value| -> Result<OsString, String> {
                let text = text(value)?;
                Ok(word(if kind == Kind::Paths { folder.join(text).into() } else { text.into() }))
            };
            values.iter().map(one).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::Command;

    fn settled(name: &str, settings: &str, line: &[&str]) -> Result<super::super::args::Check, String> {
        let folder = std::env::temp_dir().join(format!("bombus-settings-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join(FILE), settings).expect("a file");
        let typed = ["bombus", "check", "Lock.mch"].into_iter().chain(line.iter().copied());
        let joined = joined_with(typed.map(OsString::from).collect(), &folder.join("Lock.mch"));
        std::fs::remove_dir_all(&folder).expect("the folder goes");
        match joined?.expect("settings").0.command {
            Command::Check(check) => Ok(*check),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn settings_give_options_and_the_command_line_counts_more() {
        let file = "maxint = 9\nminint = -7\nkeep_going = true\nltl = ['G {x<3}', 'F {x=1}']\n[sets]\nA = 2\nB = 5\n[models.Lock]\nmaxint = 4\n[models.Lock.sets]\nB = 6\n[models.Other]\nmaxint = 1";
        let check = settled("all", file, &["--set", "A=3"]).expect("settings");
        assert_eq!((check.loading.maxint, check.loading.minint), (Some(4), Some(-7)));
        assert_eq!(check.loading.sets.len(), 2);
        assert!(
            check.loading.sets.contains(&("A".into(), 3)) && check.loading.sets.contains(&("B".into(), 6))
        );
        assert!(check.keep_going && check.ltl.len() == 2);
        assert_eq!(settled("typed", file, &["--maxint", "5"]).expect("settings").loading.maxint, Some(5));
    }

    #[test]
    fn settings_cannot_start_programs_or_write_files_and_wrong_ones_are_named() {
        for wrong in
            ["via = 'rm x'", "trace = 'x.html'", "json = 'x'", "cluster = 'h'", "[models.Other]\nvia = 'x'"]
        {
            assert!(settled("wrong", wrong, &[]).is_err_and(|e| e.contains("is no setting")), "{wrong}");
        }
        assert!(settled("word", "engine = 'nope'", &[]).is_err_and(|e| e.contains("nope")));
        assert!(settled("flag", "keep-going = 1", &[]).is_err_and(|e| e.contains("true or false")));
        assert!(settled("sets", "[sets]\nA = 0", &[]).is_err_and(|e| e.contains("a size for each set")));
    }
}
