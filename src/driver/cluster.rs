//! A check on several machines: whether it may be one, who takes part, what is said about it.
//!
//! In: the options of a check, the compiled model. Out: the peers of the search, or why there are none; the words for a
//! machine that was lost.
//! Never here: sockets and states (`cluster`, `explore`).

use super::checkpoint::Fact;
use super::temporal::{Checked, Formulas};
use super::{CheckOptions, Failure, Rejected};
use crate::base::budget::Budget;
use crate::base::diagnostic::{Diagnostic, Sources};
use crate::cluster::{self, Host, Membership, Refused, Ticket};
use crate::explore::peers::Lost;
use crate::explore::{self, Order, Store};
use crate::program::Program;
use crate::report::{Ledger, MachineShare};
use sha2::{Digest, Sha256};
use std::time::Duration;

/// What the command line says about other machines.
#[derive(Clone, Debug)]
pub struct Cluster {
    pub hosts: Vec<Host>,
    pub rank: usize,
    pub secret: Vec<u8>,
    pub timeout: Duration,
    /// The most bytes of a graph that the first machine gathers.
    pub gather: Option<u64>,
}

impl Cluster {
    /// This machine and no other; nothing is listened to.
    fn of_one() -> Cluster {
        let here = Host { address: "127.0.0.1:0".into(), weight: 1 };
        Cluster {
            hosts: vec![here],
            rank: 0,
            secret: Vec::new(),
            timeout: Duration::from_secs(60),
            gather: None,
        }
    }
}

fn rejected(message: impl Into<String>) -> Failure {
    Failure::Rejected(Rejected { sources: Sources::default(), diagnostics: vec![Diagnostic::plain(message)] })
}

/// Refuses a check that only one machine can do.
pub(super) fn refuse_elsewhere(options: &CheckOptions, formalism: &str) -> Result<(), Failure> {
    match &options.cluster {
        Some(_) => Err(rejected(format!("--cluster: {formalism} is checked on one machine"))),
        None => Ok(()),
    }
}

/// What several machines cannot do yet is refused, never ignored.
fn refusal(options: &CheckOptions, formulas: &Formulas) -> Option<&'static str> {
    if options.order != Order::Bfs {
        return Some("--cluster needs --order bfs: several machines search level by level");
    }
    if options.checkpoint.is_used() && formulas.need_graph() {
        return Some(
            "--cluster: several machines save a search only without temporal formulas that need its graph",
        );
    }
    if options.checkpoint.is_used() && (options.store != Store::Exact || options.symmetry.is_some()) {
        return Some("--cluster: several machines save a search with --store exact and without --symmetry");
    }
    None
}

/// Takes part in the search on several machines, if that is asked for. `Ok(Err(…))` says who did not come.
pub(super) fn join(
    options: &CheckOptions,
    formulas: &Formulas,
    budget: &Budget,
    facts: impl FnOnce() -> Vec<Fact>,
) -> Result<Option<Result<Membership, String>>, Failure> {
    let alone = Cluster::of_one();
    let cluster = match &options.cluster {
        Some(cluster) => cluster,
        // What several machines saved goes on as the search of one that might have had others.
        None if options.checkpoint.is_of_several() => &alone,
        None => return Ok(None),
    };
    if let Some(why) = refusal(options, formulas) {
        return Err(rejected(why));
    }
    let machines = cluster.hosts.len();
    let lonely = cluster.hosts.iter().any(|host| !cluster::handshake::is_loopback(&host.address));
    if lonely && cluster.secret.is_empty() {
        return Err(rejected(
            "--cluster: machines that others can reach need a secret (--cluster-secret FILE; bombus cluster \
             --new-secret FILE makes one)",
        ));
    }
    let mut run = Sha256::new();
    let mut put = |text: &str| {
        run.update((text.len() as u64).to_le_bytes());
        run.update(text.as_bytes());
    };
    facts().iter().for_each(|(_, value)| put(value));
    cluster.hosts.iter().for_each(|host| put(&format!("{} {}", host.address, host.weight)));
    put(&format!("{:?} {:?}", budget.max_states, options.checkpoint.is_used()));
    let run = run.finalize().into();
    let ticket = Ticket { rank: cluster.rank, machines, secret: cluster.secret.clone(), run };
    match cluster::join(&cluster.hosts, &ticket, cluster.timeout) {
        Ok(membership) => Ok(Some(Ok(membership))),
        Err(Refused::Wrong(why)) => Err(rejected(format!("--cluster: {why}"))),
        Err(Refused::Late(why)) => Ok(Some(Err(format!("not all machines came: {why}")))),
    }
}

/// The machine with a layout in which what escaped on any machine has a place. All machines make it from what all of them say, and go over to
/// it only if all have made the same. `None` if there is no such layout, or some machine could not make it, or one is lost: then the
/// others find that out when they go on.
pub(super) fn agree_on_room<'m>(
    member: &Membership,
    program: &Program<'m>,
) -> Result<Option<Program<'m>>, Failure> {
    let peers = member.peers();
    let Ok(said) = peers.agree(program.asks_for_room()) else { return Ok(None) };
    let made = program.with_room_for_all(&said).ok().flatten();
    let shape = |made: &Program| Sha256::digest([made.shape(), made.asks_for_room()].concat()).to_vec();
    let shape = made.as_ref().map_or_else(Vec::new, shape);
    let Ok(shapes) = peers.agree(shape) else { return Ok(None) };
    if shapes.iter().any(Vec::is_empty) {
        return Ok(None);
    }
    if shapes.iter().any(|shape| *shape != shapes[0]) {
        return Err(Failure::Internal("the machines made different layouts of the same states".into()));
    }
    Ok(made)
}

/// What the first machine says of a question that only it can answer, or alone: `answer`, on the one that answers. `false` if the
/// first machine is lost; the others find that out when they go on.
pub(super) fn ask_first(member: Option<&Membership>, answer: impl FnOnce() -> bool) -> bool {
    let Some(peers) = member.map(Membership::peers) else { return answer() };
    let said = if peers.rank() == 0 { vec![answer().into()] } else { Vec::new() };
    peers.agree(said).is_ok_and(|heard| heard[0] == [1])
}

/// What the first machine decided about temporal formulas, for the others: the words of verdicts, and the reasons of
/// incompleteness.
type Decisions = (Vec<String>, Vec<String>);

/// Formulas that are decided on a graph are decided on the first machine, which has it; the others take over what it
/// says, so that all end with the same status.
pub(super) fn decide_on_first(
    member: &Membership,
    formulas: &Formulas,
    ledger: &mut Ledger,
    decide: impl FnOnce(&mut Ledger) -> Result<Checked, String>,
) -> Result<Checked, String> {
    let peers = member.peers();
    if peers.rank() == 0 {
        let checked = decide(ledger)?;
        let verdicts = checked.verdicts.iter().map(|one| one.verdict.to_string()).collect();
        let decisions: Decisions = (verdicts, ledger.reasons());
        // What was decided here holds whoever is there to hear it.
        let _ = peers.agree(serde_json::to_vec(&decisions).map_err(|e| e.to_string())?);
        return Ok(checked);
    }
    // Where the graph does not fit on one machine all of them take part; what this one would say is of no use.
    decide(&mut Ledger::default())?;
    let mut checked = Checked { verdicts: formulas.undecided(), ..Checked::default() };
    match peers.agree(Vec::new()) {
        Err(lost) => ledger.enter(format!("lost {} ({}) before formulas were decided", lost.name, lost.why)),
        Ok(heard) => {
            let (verdicts, reasons): Decisions =
                serde_json::from_slice(&heard[0]).map_err(|e| e.to_string())?;
            for (one, word) in checked.verdicts.iter_mut().zip(verdicts) {
                let known = ["holds", "violated"].into_iter().find(|known| *known == word);
                one.verdict = known.unwrap_or("incomplete");
            }
            reasons.into_iter().for_each(|reason| ledger.enter(reason));
        }
    }
    Ok(checked)
}

/// What a lost machine means for the verdict.
pub(super) fn lost_words(lost: &Lost, depth: Option<u32>, options: &CheckOptions) -> String {
    let again = match &options.checkpoint.save {
        Some(dir) => {
            format!("to go on, start it on the machines that are left with --resume {}", dir.display())
        }
        None => "it was not saved (--checkpoint DIR saves it)".into(),
    };
    format!(
        "lost {} ({}) after level {}; the counts are those of this machine alone; {again}",
        lost.name,
        lost.why,
        depth.unwrap_or(0)
    )
}

/// What each machine did, for the report.
pub(super) fn shares(found: &explore::Outcome) -> Vec<MachineShare> {
    let share = |machine: &explore::Machine| MachineShare {
        name: machine.name.clone(),
        states: machine.states,
        sent: machine.sent,
        filtered: machine.filtered,
        received: machine.received,
        waited_seconds: machine.waited.as_secs_f64(),
        peak_bytes: machine.peak_bytes,
    };
    found.machines.iter().map(share).collect()
}
