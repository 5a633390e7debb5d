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
    let rank = match args.rank.or_else(|| rank_of_launcher(&variable)) {
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
    Ok(Some(Cluster { hosts, rank, secret, timeout }))
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

/// The rank that a launcher gave this process.
fn rank_of_launcher(variable: &dyn Fn(&str) -> Option<String>) -> Option<usize> {
    ["SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"]
        .iter()
        .find_map(|name| variable(name)?.parse().ok())
}

/// The machines of a job of Slurm, with a port that follows from the number of the job.
fn slurm_hosts(variable: &dyn Fn(&str) -> Option<String>) -> Result<Vec<Host>, String> {
    let needed = |name: &str| {
        variable(name).ok_or_else(|| format!("--cluster slurm: {name} is not set; start the check by srun"))
    };
    let nodes = needed("SLURM_JOB_NODELIST")?;
    let job: u64 = needed("SLURM_JOB_ID")?.parse().map_err(|_| "SLURM_JOB_ID is no number")?;
    let port = 20_000 + job % 20_000;
    let names =
        expand(&nodes).ok_or_else(|| format!("--cluster slurm: cannot read the list of nodes {nodes}"))?;
    if names.len() > hosts::MOST {
        return Err(format!("--cluster slurm: {} machines are more than {}", names.len(), hosts::MOST));
    }
    Ok(names.into_iter().map(|name| Host { address: format!("{name}:{port}"), weight: 1 }).collect())
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
        assert_eq!(rank_of_launcher(&job), Some(1));
        assert!(slurm_hosts(&|_| None).is_err());
        assert_eq!(rank_of_launcher(&|name| (name == "PMI_RANK").then(|| "3".into())), Some(3));
    }

    #[test]
    fn a_word_with_quotes_reaches_the_other_shell_as_it_is() {
        assert_eq!(quoted("it's $x"), r"'it'\''s $x'");
    }
}
