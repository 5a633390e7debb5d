//! The jobs file: what to run, how often, with which limits, and what is expected.
//!
//! In: TOML text and the folder it stands in. Out: instances, one per point of each job's sweep, in the order of the
//! file; or all mistakes at once. Nothing is started from a file with a mistake in it.

use super::super::child::Limits;
use super::expect::{Expect, ExpectText};
use crate::base::text::parse_size;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// More instances than this are a slip of the pen, not a batch.
const MOST_INSTANCES: usize = 100_000;

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    batch: Head,
    #[serde(default)]
    defaults: Job,
    #[serde(default)]
    job: Vec<Job>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Head {
    name: Option<String>,
    results: Option<PathBuf>,
    cores: Option<u32>,
    memory: Option<String>,
}

#[derive(Deserialize, Default, Clone)]
#[serde(deny_unknown_fields)]
struct Job {
    name: Option<String>,
    model: Option<PathBuf>,
    #[serde(default)]
    sets: BTreeMap<String, Range>,
    set_size: Option<Range>,
    maxint: Option<Range>,
    minint: Option<Range>,
    workers: Option<Range>,
    options: Option<Vec<String>>,
    expect: Option<ExpectText>,
    priority: Option<i64>,
    time_limit: Option<f64>,
    memory_limit: Option<String>,
    retries: Option<u32>,
}

/// One value, a list, or a range such as "2..5" or "2..10 step 2".
#[derive(Deserialize, Clone)]
#[serde(untagged)]
enum Range {
    One(i64),
    Many(Vec<i64>),
    Text(String),
}

/// One run of the checker.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The job's name and its point in the sweep; unique in the batch.
    pub name: String,
    /// The job it belongs to.
    pub job: String,
    pub model: PathBuf,
    /// What was swept over, with its value here.
    pub point: Vec<(String, i64)>,
    /// Arguments of `check`.
    pub args: Vec<OsString>,
    pub workers: u32,
    pub limits: Limits,
    pub priority: i64,
    pub retries: u32,
    pub expect: Expect,
}

#[derive(Debug)]
pub struct Batch {
    pub name: String,
    /// Where results are appended.
    pub results: PathBuf,
    /// Workers that may run at once, if the file says so.
    pub cores: Option<u32>,
    /// Memory that may be promised at once.
    pub memory: Option<u64>,
    pub instances: Vec<Instance>,
}

pub fn load(path: &Path) -> Result<Batch, Vec<String>> {
    let text = std::fs::read_to_string(path).map_err(|e| vec![e.to_string()])?;
    let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
    let file_name = path.file_stem().map_or("batch".into(), |s| s.to_string_lossy().into_owned());
    let batch = read(&text, &folder, &file_name)?;
    let gone: BTreeSet<String> = batch
        .instances
        .iter()
        .filter(|i| !i.model.exists())
        .map(|i| format!("job {}: there is no model {}", i.job, i.model.display()))
        .collect();
    if gone.is_empty() { Ok(batch) } else { Err(gone.into_iter().collect()) }
}

/// The batch that a text describes; models are not looked for.
pub fn read(text: &str, folder: &Path, file_name: &str) -> Result<Batch, Vec<String>> {
    let file: File = toml::from_str(text).map_err(|e| vec![e.to_string().trim_end().to_string()])?;
    let mut wrong = Vec::new();
    let memory = size(&file.batch.memory, "batch.memory", &mut wrong);
    let mut instances = Vec::new();
    if file.job.is_empty() {
        wrong.push("no [[job]] in the file".into());
    }
    for (number, job) in file.job.iter().enumerate() {
        let job = over(&file.defaults, job);
        match expand(&job, number, folder) {
            Ok(all) => instances.extend(all),
            Err(mut messages) => wrong.append(&mut messages),
        }
        if instances.len() > MOST_INSTANCES {
            return Err(vec![format!("more than {MOST_INSTANCES} runs: sweep over less")]);
        }
    }
    let mut names = BTreeSet::new();
    for i in &instances {
        if !names.insert(&i.name) {
            wrong.push(format!("two runs are called '{}': give the jobs different names", i.name));
        }
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let results = file.batch.results.unwrap_or_else(|| format!("{file_name}.results.jsonl").into());
    Ok(Batch {
        name: file.batch.name.unwrap_or_else(|| file_name.to_string()),
        results: folder.join(results),
        cores: file.batch.cores,
        memory,
        instances,
    })
}

/// A job with the defaults where it says nothing; options and sets add up.
fn over(defaults: &Job, job: &Job) -> Job {
    let mut options = defaults.options.clone().unwrap_or_default();
    options.extend(job.options.clone().unwrap_or_default());
    let mut sets = defaults.sets.clone();
    sets.extend(job.sets.clone());
    Job {
        name: job.name.clone(),
        model: job.model.clone().or_else(|| defaults.model.clone()),
        sets,
        set_size: job.set_size.clone().or_else(|| defaults.set_size.clone()),
        maxint: job.maxint.clone().or_else(|| defaults.maxint.clone()),
        minint: job.minint.clone().or_else(|| defaults.minint.clone()),
        workers: job.workers.clone().or_else(|| defaults.workers.clone()),
        options: Some(options),
        expect: job.expect.clone().or_else(|| defaults.expect.clone()),
        priority: job.priority.or(defaults.priority),
        time_limit: job.time_limit.or(defaults.time_limit),
        memory_limit: job.memory_limit.clone().or_else(|| defaults.memory_limit.clone()),
        retries: job.retries.or(defaults.retries),
    }
}

fn size(text: &Option<String>, what: &str, wrong: &mut Vec<String>) -> Option<u64> {
    let text = text.as_deref()?;
    parse_size(text).map_err(|message| wrong.push(format!("{what}: '{text}': {message}"))).ok()
}

/// One axis of a sweep: what it is called, the options it sets, its values.
struct Sweep {
    name: String,
    options: Vec<SweptOption>,
    values: Vec<i64>,
}

enum SweptOption {
    Set(String),
    Plain(&'static str),
    Workers,
}

fn expand(job: &Job, number: usize, folder: &Path) -> Result<Vec<Instance>, Vec<String>> {
    let mut wrong = Vec::new();
    let Some(model) = &job.model else {
        return Err(vec![format!("job {} has no model", number + 1)]);
    };
    let stem = model.file_stem().map_or("job".into(), |s| s.to_string_lossy().into_owned());
    let name = job.name.clone().unwrap_or(stem);
    let mut say = |message: String| wrong.push(format!("job {name}: {message}"));

    let mut sweeps = Vec::new();
    for (sets, range) in &job.sets {
        // "Phil, Forks" = "2..4" gives both sets the same size.
        let options = sets.split(',').map(|s| SweptOption::Set(s.trim().to_string())).collect();
        let short = sets.split(',').map(str::trim).collect::<Vec<_>>().join("=");
        sweeps.push((short, options, range, 1));
    }
    for (option, what, range, least) in [
        (SweptOption::Plain("--set-size"), "set_size", &job.set_size, 1),
        (SweptOption::Plain("--maxint"), "maxint", &job.maxint, i64::MIN),
        (SweptOption::Plain("--minint"), "minint", &job.minint, i64::MIN),
        (SweptOption::Workers, "workers", &job.workers, 1),
    ] {
        if let Some(range) = range {
            sweeps.push((what.to_string(), vec![option], range, least));
        }
    }
    let mut axes = Vec::new();
    for (name, options, range, least) in sweeps {
        match values(range) {
            Ok(values) if values.iter().any(|v| *v < least) => {
                say(format!("{name} must be at least {least}"))
            }
            Ok(values) => axes.push(Sweep { name, options, values }),
            Err(message) => say(format!("{name}: {message}")),
        }
    }
    let expect = match job.expect.clone().map_or(Ok(Expect::default()), Expect::try_from) {
        Ok(e) => e,
        Err(message) => {
            say(message);
            Expect::default()
        }
    };
    if job.time_limit.is_some_and(|s| !(s > 0.0 && s < 1e9)) {
        say("time_limit must be a positive number of seconds".into());
    }
    for o in job.options.iter().flatten() {
        if ["--json", "--workers", "--time-limit", "--memory-limit"]
            .iter()
            .any(|r| o == r || o.starts_with(&format!("{r}=")))
        {
            say(format!(
                "the option {o} is set by the batch: use the field of the same name, or leave it out"
            ));
        }
    }
    let mut sizes = Vec::new();
    let bytes = size(&job.memory_limit, &format!("job {name}: memory_limit"), &mut sizes);
    wrong.extend(sizes);
    let points: usize = axes.iter().map(|a| a.values.len()).product();
    if points > MOST_INSTANCES {
        wrong.push(format!("job {name}: {points} runs: sweep over less"));
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let shape = JobCommon { job, name: &name, model: folder.join(model), expect, bytes };
    Ok((0..points).map(|p| shape.instance(&axes, p)).collect())
}

/// What all instances of a job share.
struct JobCommon<'a> {
    job: &'a Job,
    name: &'a str,
    model: PathBuf,
    expect: Expect,
    bytes: Option<u64>,
}

impl JobCommon<'_> {
    /// The instance at a point of the sweep; the last axis turns fastest.
    fn instance(&self, axes: &[Sweep], mut number: usize) -> Instance {
        let mut chosen = vec![0; axes.len()];
        for (axis, place) in axes.iter().zip(&mut chosen).rev() {
            *place = axis.values[number % axis.values.len()];
            number /= axis.values.len();
        }
        let mut args: Vec<OsString> = vec![self.model.clone().into_os_string()];
        let mut workers = 1;
        for (axis, value) in axes.iter().zip(&chosen) {
            for option in &axis.options {
                match option {
                    SweptOption::Set(set) => args.extend(["--set".into(), format!("{set}={value}").into()]),
                    SweptOption::Plain(option) => args.extend([(*option).into(), value.to_string().into()]),
                    SweptOption::Workers => workers = u32::try_from(*value).unwrap_or(u32::MAX),
                }
            }
        }
        args.extend(self.job.options.iter().flatten().map(OsString::from));
        args.extend(["--workers".into(), workers.to_string().into()]);
        if let Some(s) = self.job.time_limit {
            args.extend(["--time-limit".into(), s.to_string().into()]);
        }
        if let Some(b) = self.bytes {
            args.extend(["--memory-limit".into(), b.to_string().into()]);
        }
        args.push("--json".into());
        let point: Vec<(String, i64)> = axes
            .iter()
            .zip(&chosen)
            .filter(|(axis, _)| axis.values.len() > 1)
            .map(|(axis, value)| (axis.name.clone(), *value))
            .collect();
        let suffix: String = point.iter().map(|(n, v)| format!(" {n}={v}")).collect();
        Instance {
            name: format!("{}{suffix}", self.name),
            job: self.name.to_string(),
            model: self.model.clone(),
            point,
            args,
            workers,
            limits: Limits { seconds: self.job.time_limit, bytes: self.bytes },
            priority: self.job.priority.unwrap_or(0),
            retries: self.job.retries.unwrap_or(1),
            expect: self.expect.clone(),
        }
    }
}

fn values(range: &Range) -> Result<Vec<i64>, String> {
    match range {
        Range::One(v) => Ok(vec![*v]),
        Range::Many(all) if all.is_empty() => Err("an empty list".into()),
        Range::Many(all) => Ok(all.clone()),
        Range::Text(text) => {
            let wrong = || format!("'{text}' is not a range such as \"2..5\" or \"2..10 step 2\"");
            let (ends, step) = match text.split_once("step") {
                Some((ends, step)) => (ends, step.trim().parse::<i64>().map_err(|_| wrong())?),
                None => (text.as_str(), 1),
            };
            let (from, to) = ends.split_once("..").ok_or_else(wrong)?;
            let from: i64 = from.trim().parse().map_err(|_| wrong())?;
            let to: i64 = to.trim().parse().map_err(|_| wrong())?;
            if step < 1 || from > to || (to - from) / step >= MOST_INSTANCES as i64 {
                return Err(wrong());
            }
            Ok((0..=(to - from) / step).map(|i| from + i * step).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        read(text, Path::new("d"), "b").unwrap().instances.into_iter().map(|i| i.name).collect()
    }

    fn mistakes(text: &str) -> String {
        read(text, Path::new("d"), "b").unwrap_err().join("\n")
    }

    #[test]
    fn a_sweep_is_the_product_of_its_axes() {
        let text = "[[job]]\nmodel = 'p.mch'\nsets = { PID = '2..3' }\nmaxint = [5, 7]\nworkers = 2";
        assert_eq!(
            names(text),
            ["p PID=2 maxint=5", "p PID=2 maxint=7", "p PID=3 maxint=5", "p PID=3 maxint=7"]
        );
        let batch = read(text, Path::new("d"), "b").unwrap();
        let args: Vec<String> =
            batch.instances[0].args.iter().map(|a| a.to_string_lossy().into_owned()).collect();
        assert_eq!(args, ["d/p.mch", "--set", "PID=2", "--maxint", "5", "--workers", "2", "--json"]);
        assert_eq!(batch.results, Path::new("d/b.results.jsonl"));
    }

    #[test]
    fn sets_named_together_keep_the_same_size() {
        let batch =
            read("[[job]]\nmodel='m.mch'\nsets = {'A, B' = '2..6 step 2'}", Path::new(""), "b").unwrap();
        assert_eq!(batch.instances.len(), 3);
        let args: Vec<String> =
            batch.instances[1].args.iter().map(|a| a.to_string_lossy().into_owned()).collect();
        assert_eq!(args[1..5], ["--set", "A=4", "--set", "B=4"]);
    }

    #[test]
    fn defaults_hold_where_a_job_says_nothing() {
        let text = "[defaults]\ntime_limit = 5\noptions = ['--strict-wd']\npriority = 3\n\
                    [[job]]\nmodel='a.mch'\n[[job]]\nmodel='b.mch'\npriority = 4\noptions = ['--no-deadlock']";
        let batch = read(text, Path::new(""), "b").unwrap();
        assert_eq!(batch.instances[0].limits.seconds, Some(5.0));
        assert_eq!((batch.instances[0].priority, batch.instances[1].priority), (3, 4));
        assert!(batch.instances[1].args.contains(&"--strict-wd".into()));
        assert!(batch.instances[1].args.contains(&"--no-deadlock".into()));
    }

    #[test]
    fn every_mistake_is_told_with_its_job() {
        let text = "[[job]]\nmodel='a.mch'\nmaxint='5..2'\nmemory_limit='lots'\nexpect='fine'\noptions=['--json']\n[[job]]\nname='x'";
        let told = mistakes(text);
        for part in ["job a: maxint", "memory_limit: 'lots'", "'fine'", "--json", "job 2 has no model"] {
            assert!(told.contains(part), "{part} not in {told}");
        }
        assert!(mistakes("[[job]]\nmodle='a.mch'").contains("modle"));
        assert!(mistakes("[[job]]\nmodel='a.mch'\n[[job]]\nmodel='d/a.mch'").contains("two runs are called"));
        assert!(mistakes("").contains("no [[job]]"));
    }
}
