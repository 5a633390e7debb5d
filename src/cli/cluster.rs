//! Several machines on the command line: where the list of machines, the rank and the secret come from, and `bombus cluster`,
//! which starts a check on all machines.
//!
//! In: arguments, and the variables that launchers of clusters set. Out: the machines as `driver` wants them; processes on other
//! machines, and the exit status of the first one.

use super::args;
use super::run::{complain, say};
use super::status;
use crate::base::span::FileId;
use crate::cluster::hosts::{self, Host};
use crate::cluster::{handshake, secret};
use crate::driver::Cluster;
use clap::Args;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How long to wait for other machines unless the user says otherwise.
const TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Args, Debug)]
#[command(
    after_help = "Starts `bombus check … --cluster HOSTS --rank N` on every machine of the list: by ssh, or here if the\naddress is this machine's own. The model, the list and the program must stand at the same places everywhere.\nA new secret is passed on standard input. Exit status: that of the machine of rank 0."
)]
pub struct Launch {
    /// The list of machines: address:port and a weight on each line
    #[arg(value_name = "HOSTS", required_unless_present = "new_secret")]
    pub hosts: Option<PathBuf>,
    /// Write a new secret that only you can read, and do nothing else
    #[arg(long, value_name = "FILE", conflicts_with = "hosts")]
    pub new_secret: Option<PathBuf>,
    /// The program on the other machines [default: where this one stands]
    #[arg(long, value_name = "PATH")]
    pub program: Option<PathBuf>,
    /// The command that runs a command on another machine
    #[arg(long, value_name = "CMD", default_value = "ssh")]
    pub ssh: String,
    /// `check` and its arguments
    #[arg(last = true, value_name = "check MODEL …")]
    pub command: Vec<OsString>,
}

/// What the options of a check say about other machines; `None` if it runs on one.
pub fn settle(args: &args::Check) -> Result<Option<Cluster>, String> {
    let Some(list) = &args.cluster else {
        let given = [
            ("--rank", args.rank.is_some()),
            ("--cluster-secret", args.cluster_secret.is_some()),
            ("--cluster-timeout", args.cluster_timeout.is_some()),
            ("--cluster-gather", args.cluster_gather.is_some()),
        ];
        return match given.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(format!("{option} is for --cluster HOSTS")),
            None => Ok(None),
        };
    };
    let variable = |name: &str| std::env::var(name).ok();
    let hosts = match list.to_str() {
        Some("slurm") => slurm_hosts(&variable)?,
        _ => read_hosts(list)?,
    };
    let launched = if args.rank.is_some() { None } else { launcher(&variable) };
    if let Some((_, Some(size))) = launched
        && size != hosts.len()
    {
        return Err(format!("--cluster: the launcher started {size} processes for {} machines", hosts.len()));
    }
    let rank = match args.rank.or(launched.map(|(rank, _)| rank)) {
        Some(rank) if rank < hosts.len() => rank,
        Some(rank) => return Err(format!("--rank {rank}: there are {} machines, from 0 on", hosts.len())),
        None => {
            return Err(
                "--cluster: which machine of the list is this one? --rank N says so, or srun or mpirun"
                    .into(),
            );
        }
    };
    let secret = match &args.cluster_secret {
        None => Vec::new(),
        Some(path) if path.as_os_str() == "-" => secret::from(std::io::stdin().lock())?,
        Some(path) => secret::read(path)?,
    };
    let timeout = args.cluster_timeout.map_or(TIMEOUT, Duration::from_secs_f64);
    Ok(Some(Cluster { hosts, rank, secret, timeout, gather: args.cluster_gather }))
}

fn read_hosts(path: &Path) -> Result<Vec<Host>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    hosts::read(FileId(0), &text).map_err(|wrong| {
        format!(
            "the list of machines is wrong\n{}",
            hosts::render(&path.display().to_string(), &text, &wrong)
        )
    })
}

/// The rank that a launcher gave this process, and how many processes it started, if it says so.
fn launcher(variable: &dyn Fn(&str) -> Option<String>) -> Option<(usize, Option<usize>)> {
    let launchers = [
        // Under Slurm, mpirun has processes of its own on each node, and those have the ranks of Slurm.
        ("OMPI_COMM_WORLD_RANK", &["OMPI_COMM_WORLD_SIZE"][..]),
        ("SLURM_PROCID", &["SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"]),
        ("PMIX_RANK", &[]),
        ("PMI_RANK", &["PMI_SIZE"]),
    ];
    let number = |name: &str| variable(name)?.parse().ok();
    launchers
        .iter()
        .find_map(|(rank, sizes)| Some((number(rank)?, sizes.iter().find_map(|size| number(size)))))
}

/// The machines of a job of Slurm: a line for each task, with a port that follows from the numbers of the job and of the
/// task on its node. Of a step that has some of the job's nodes, those of the step.
fn slurm_hosts(variable: &dyn Fn(&str) -> Option<String>) -> Result<Vec<Host>, String> {
    let either = |step: &str, job: &str| variable(step).or_else(|| variable(job));
    let unset = |name: &str| format!("--cluster slurm: {name} is not set; start the check by srun");
    let nodes =
        either("SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST").ok_or_else(|| unset("SLURM_JOB_NODELIST"))?;
    let job = variable("SLURM_JOB_ID").ok_or_else(|| unset("SLURM_JOB_ID"))?;
    let job: u64 = job.parse().map_err(|_| "SLURM_JOB_ID is no number")?;
    let port = 20_000 + job % 20_000;
    let names =
        expand(&nodes).ok_or_else(|| format!("--cluster slurm: cannot read the list of nodes {nodes}"))?;
    let tasks = match either("SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE") {
        None => vec![1; names.len()],
        Some(text) => tasks_of_nodes(&text)
            .filter(|tasks| tasks.len() == names.len())
            .ok_or_else(|| format!("--cluster slurm: cannot read the tasks of the nodes, {text}"))?,
    };
    let machines: usize = tasks.iter().sum();
    if machines > hosts::MOST {
        return Err(format!("--cluster slurm: {machines} machines are more than {}", hosts::MOST));
    }
    let of_node = |(name, tasks): (String, usize)| {
        (0..tasks as u64).map(move |task| Host { address: format!("{name}:{}", port + task), weight: 1 })
    };
    Ok(names.into_iter().zip(tasks).flat_map(of_node).collect())
}

/// How many tasks each node has, from a list such as `2(x3),1`.
fn tasks_of_nodes(list: &str) -> Option<Vec<usize>> {
    let mut tasks = Vec::new();
    for part in list.split(',') {
        let (count, times) = match part.split_once("(x") {
            None => (part, 1),
            Some((count, times)) => (count, times.strip_suffix(')')?.parse().ok()?),
        };
        let count: usize = count.parse().ok().filter(|count| *count > 0)?;
        if times == 0 || count > hosts::MOST || times > hosts::MOST {
            return None;
        }
        tasks.extend(std::iter::repeat_n(count, times));
    }
    Some(tasks)
}

/// The names of a list such as `a[01-03,7],b`.
fn expand(list: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut rest = list;
    while !rest.is_empty() {
        let end = rest.find([',', '[']).unwrap_or(rest.len());
        let (prefix, after) = rest.split_at(end);
        if let Some(after) = after.strip_prefix('[') {
            let (ranges, after) = after.split_once(']')?;
            for range in ranges.split(',') {
                let (first, last) = range.split_once('-').unwrap_or((range, range));
                let (from, to): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
                if to < from || to - from > hosts::MOST as u64 {
                    return None;
                }
                names.extend((from..=to).map(|n| format!("{prefix}{n:0width$}", width = first.len())));
            }
            rest = after.strip_prefix(',').or(after.is_empty().then_some(""))?;
        } else {
            if prefix.is_empty() {
                return None;
            }
            names.push(prefix.to_string());
            rest = after.strip_prefix(',').unwrap_or(after);
        }
    }
    (!names.is_empty()).then_some(names)
}

pub fn run(args: &Launch) -> u8 {
    if let Some(path) = &args.new_secret {
        return match secret::create(path) {
            Ok(()) => {
                say(&format!("{}: a new secret; copy it to all machines", path.display()));
                status::OK
            }
            Err(why) => {
                complain(&format!("error: {why}"));
                status::REJECTED
            }
        };
    }
    match launch(args) {
        Ok(status) => status,
        Err(why) => {
            complain(&format!("error: {why}"));
            status::REJECTED
        }
    }
}

fn launch(args: &Launch) -> Result<u8, String> {
    let path = args.hosts.as_ref().ok_or("the list of machines is missing")?;
    let path = std::fs::canonicalize(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    let hosts = read_hosts(&path)?;
    if args.command.first().is_none_or(|word| word != "check") {
        return Err("after -- stands check and its arguments".into());
    }
    let program = match &args.program {
        Some(program) => program.clone(),
        None => std::env::current_exe().map_err(|e| format!("cannot find this program itself: {e}"))?,
    };
    let mut word = [0; 32];
    getrandom::fill(&mut word).map_err(|e| format!("no random bytes: {e}"))?;
    let word: String = word.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut children: Vec<Child> = Vec::new();
    for (rank, host) in hosts.iter().enumerate() {
        let mut line: Vec<OsString> = vec![program.clone().into()];
        line.extend(args.command.iter().cloned());
        line.extend(["--cluster".into(), path.clone().into()]);
        line.extend(["--rank".into(), rank.to_string().into(), "--cluster-secret".into(), "-".into()]);
        match start(args, host, &line, &word) {
            Ok(child) => children.push(child),
            Err(e) => {
                children.iter_mut().for_each(|child| {
                    let _ = child.kill();
                });
                return Err(format!("cannot start {}: {e}", host.address));
            }
        }
    }
    let mut first = None;
    for child in &mut children {
        let ended = child.wait().map_err(|e| format!("a process cannot be waited for: {e}"))?;
        first = first.or(Some(ended));
    }
    let code = first.and_then(|ended| ended.code()).and_then(|code| u8::try_from(code).ok());
    Ok(code.unwrap_or(status::INTERNAL))
}

/// Starts a check on one machine and tells it the secret.
fn start(args: &Launch, host: &Host, line: &[OsString], secret: &str) -> std::io::Result<Child> {
    let mut command = if handshake::is_loopback(&host.address) {
        let mut command = Command::new(&line[0]);
        command.args(&line[1..]);
        command
    } else {
        let name = host.address.rsplit_once(':').map_or("", |(name, _)| name);
        let here = std::env::current_dir()?;
        let words: Vec<String> = line.iter().map(|word| quoted(&word.to_string_lossy())).collect();
        let mut command = Command::new(&args.ssh);
        let there = format!("cd {} && exec {}", quoted(&here.to_string_lossy()), words.join(" "));
        command.arg(name.trim_matches(['[', ']'])).arg(there);
        command
    };
    let mut child = command.stdin(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A process that has ended already says why by itself.
        let _ = writeln!(stdin, "{secret}");
    }
    Ok(child)
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(list: &'static [(&str, &str)]) -> impl Fn(&str) -> Option<String> {
        |name| list.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string())
    }

    #[test]
    fn a_launcher_says_who_this_is_and_how_many_there_are() {
        let slurm = variables(&[("SLURM_PROCID", "3"), ("SLURM_NTASKS", "8"), ("SLURM_STEP_NUM_TASKS", "4")]);
        assert_eq!(launcher(&slurm), Some((3, Some(4))));
        let open_mpi =
            variables(&[("SLURM_PROCID", "0"), ("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "2")]);
        assert_eq!(launcher(&open_mpi), Some((1, Some(2))));
        assert_eq!(launcher(&variables(&[("PMI_RANK", "0")])), Some((0, None)));
        assert_eq!(launcher(&variables(&[])), None);
    }

    #[test]
    fn every_task_of_a_job_has_an_address_of_its_own() {
        let job = variables(&[
            ("SLURM_JOB_NODELIST", "n[1-4]"),
            ("SLURM_STEP_NODELIST", "n[2-4]"),
            ("SLURM_STEP_TASKS_PER_NODE", "2(x2),1"),
            ("SLURM_JOB_ID", "20005"),
        ]);
        let addresses: Vec<String> = slurm_hosts(&job).unwrap().into_iter().map(|h| h.address).collect();
        assert_eq!(addresses, ["n2:20005", "n2:20006", "n3:20005", "n3:20006", "n4:20005"]);
        let wrong = variables(&[
            ("SLURM_JOB_NODELIST", "n1"),
            ("SLURM_TASKS_PER_NODE", "2(x2)"),
            ("SLURM_JOB_ID", "5"),
        ]);
        assert!(slurm_hosts(&wrong).unwrap_err().contains("tasks of the nodes"));
        for text in ["", "x", "0", "2(x", "2(x0)", "1,,1"] {
            assert_eq!(tasks_of_nodes(text), None, "{text}");
        }
    }

    #[test]
    fn a_list_of_nodes_is_written_out() {
        assert_eq!(expand("n[01-03,10],m").unwrap(), ["n01", "n02", "n03", "n10", "m"]);
        assert_eq!(expand("a,b").unwrap(), ["a", "b"]);
        for wrong in ["", "n[1-", "n[3-1]", "n[a]", ",", "n[0-99999999]"] {
            assert_eq!(expand(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_job_of_slurm_says_who_takes_part() {
        let job = |name: &str| match name {
            "SLURM_JOB_NODELIST" => Some("n[1-2]".to_string()),
            "SLURM_JOB_ID" => Some("20007".into()),
            "SLURM_PROCID" => Some("1".into()),
            _ => None,
        };
        let addresses: Vec<String> = slurm_hosts(&job).unwrap().into_iter().map(|h| h.address).collect();
        assert_eq!(addresses, ["n1:20007", "n2:20007"]);
        assert_eq!(launcher(&job), Some((1, None)));
        assert!(slurm_hosts(&|_| None).is_err());
    }

    #[test]
    fn a_word_with_quotes_reaches_the_other_shell_as_it_is() {
        assert_eq!(quoted("it's $x"), r"'it'\''s $x'");
    }
}
