//! A batch: many checks within the budget of one machine, with results that survive whatever happens.
//!
//! In: the instances of a jobs file and the results of earlier starts. Out: one record per instance, and reports.
//! Each check is a process of its own. A record is on the disk before its job counts as done; a batch that is killed
//! and started again runs only what is missing. Which checks run at the same time depends on the machine; the report
//! does not: it stands in the order of the jobs file.

pub mod expect;
pub mod jobs;
pub mod journal;
pub mod live;
pub mod page;
pub mod schedule;
pub mod summary;

use super::child::{self, Checker};
use jobs::Batch;
use journal::{Earlier, Journal, Record};
use live::Board;
use schedule::{Budget, Queue, Wants};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// What became of each instance, in the order of the jobs file.
pub struct Finished {
    pub name: String,
    pub entries: Vec<Entry>,
    /// The batch was interrupted before everything ran.
    pub interrupted: bool,
}

pub struct Entry {
    pub instance: jobs::Instance,
    /// `None` if it did not run.
    pub record: Option<Record>,
    /// Why the expectation is not met.
    pub unmet: Option<String>,
    /// The result is of an earlier start.
    pub kept: bool,
}

impl Finished {
    pub fn met(&self) -> usize {
        self.entries.iter().filter(|e| e.record.is_some() && e.unmet.is_none()).count()
    }

    pub fn unmet(&self) -> usize {
        self.entries.iter().filter(|e| e.record.is_some() && e.unmet.is_some()).count()
    }

    pub fn left(&self) -> usize {
        self.entries.iter().filter(|e| e.record.is_none()).count()
    }
}

/// Why a batch could not go on; what ended before is kept.
#[derive(Debug)]
pub enum Trouble {
    /// The jobs ask for something that cannot be had.
    Jobs(Vec<String>),
    /// Results cannot be written, or a check cannot be started.
    System(String),
}

pub struct Settings {
    pub checker: Checker,
    pub budget: Budget,
    /// Forget the results of earlier starts.
    pub fresh: bool,
    /// Raised by an interrupt: running checks are ended and run again next time.
    pub stop: Arc<AtomicBool>,
}

enum News {
    Ended { place: usize, attempts: u32, ended: std::io::Result<child::Ended> },
}

/// Runs what is missing. Results go to the journal as they come.
pub fn run(batch: &Batch, settings: &Settings, board: &mut dyn Board) -> Result<Finished, Trouble> {
    settings.budget.refuse_the_impossible(&batch.instances).map_err(Trouble::Jobs)?;
    let keys = keys_of(batch)?;
    let (mut journal, earlier) = Journal::open(&batch.results, settings.fresh).map_err(Trouble::System)?;
    for w in &earlier.warnings {
        board.note(w);
    }
    let mut records = still_valid(batch, &keys, &earlier);
    let kept: Vec<usize> = records.keys().copied().collect();
    board.begin(&batch.name, batch.instances.len(), kept.len());

    let missing = (0..batch.instances.len()).filter(|p| !records.contains_key(p));
    let mut queue = Queue::new(missing.map(|p| Wants::of(p, &batch.instances[p])), settings.budget);
    let (tell, news) = mpsc::channel::<News>();
    let mut trouble: Option<Trouble> = None;
    let mut attempts: BTreeMap<usize, u32> = BTreeMap::new();
    loop {
        let stopping = settings.stop.load(Ordering::Relaxed);
        while !stopping && let Some(place) = queue.next() {
            let attempt = attempts.entry(place).or_insert(0);
            *attempt += 1;
            board.started(place, &batch.instances[place].name, batch.instances[place].workers);
            start(settings, batch, place, *attempt, &tell);
        }
        if queue.running() == 0 && (stopping || queue.waiting() == 0) {
            break;
        }
        let Ok(News::Ended { place, attempts: attempt, ended }) =
            news.recv_timeout(Duration::from_millis(200))
        else {
            board.tick();
            continue;
        };
        queue.ended(place);
        let instance = &batch.instances[place];
        let ended = match ended {
            Ok(ended) => ended,
            Err(e) => {
                let program = settings.checker.program.display();
                trouble.get_or_insert(Trouble::System(format!("cannot start {program}: {e}")));
                settings.stop.store(true, Ordering::Relaxed);
                continue;
            }
        };
        if ended.status == Some(130) {
            // An interrupt goes to the checks as well, and theirs may have come first.
            thread::sleep(Duration::from_millis(200));
        }
        let stopping = settings.stop.load(Ordering::Relaxed);
        let Some(record) = Record::of(instance, &keys[place], attempt, ended, stopping) else {
            board.dropped(place);
            continue;
        };
        if record.how == journal::How::Crashed && attempt <= instance.retries && !stopping {
            board.retried(place, &instance.name, &record);
            queue.again(Wants::of(place, instance));
            continue;
        }
        if let Err(message) = journal.append(&record) {
            trouble.get_or_insert(Trouble::System(message));
            settings.stop.store(true, Ordering::Relaxed);
            board.dropped(place);
            continue;
        }
        board.ended(place, &instance.name, &record, instance.expect.judge(&record).err());
        records.insert(place, record);
    }
    board.end();
    if let Some(trouble) = trouble {
        return Err(trouble);
    }
    Ok(finished(batch, records, &kept, settings.stop.load(Ordering::Relaxed)))
}

/// The report of what is there, without running anything; a batch may be at work meanwhile.
pub fn report(batch: &Batch) -> Result<Finished, Trouble> {
    let keys = keys_of(batch)?;
    let earlier = Journal::peek(&batch.results).map_err(Trouble::System)?;
    let records = still_valid(batch, &keys, &earlier);
    let kept: Vec<usize> = records.keys().copied().collect();
    Ok(finished(batch, records, &kept, false))
}

fn keys_of(batch: &Batch) -> Result<Vec<String>, Trouble> {
    let key = |i: &jobs::Instance| {
        journal::key(i).map_err(|e| Trouble::System(format!("{}: {e}", i.model.display())))
    };
    batch.instances.iter().map(key).collect()
}

/// Earlier records of the same questions, by place.
fn still_valid(batch: &Batch, keys: &[String], earlier: &Earlier) -> BTreeMap<usize, Record> {
    let all = batch.instances.iter().zip(keys).enumerate();
    all.filter_map(|(place, (instance, key))| {
        let record = earlier.records.get(&instance.name).filter(|r| r.key == *key)?;
        Some((place, record.clone()))
    })
    .collect()
}

fn finished(
    batch: &Batch,
    mut records: BTreeMap<usize, Record>,
    kept: &[usize],
    interrupted: bool,
) -> Finished {
    let entries = batch.instances.iter().enumerate().map(|(place, instance)| {
        let record = records.remove(&place);
        let unmet = match &record {
            Some(r) => instance.expect.judge(r).err(),
            None => Some("did not run".into()),
        };
        Entry { instance: instance.clone(), record, unmet, kept: kept.contains(&place) }
    });
    Finished { name: batch.name.clone(), entries: entries.collect(), interrupted }
}

/// One thread per running check: it waits for the process, nothing else. The process dies with this thread.
fn start(settings: &Settings, batch: &Batch, place: usize, attempts: u32, tell: &mpsc::Sender<News>) {
    let checker = settings.checker.clone();
    let instance = batch.instances[place].clone();
    let stop = Arc::clone(&settings.stop);
    let tell = tell.clone();
    thread::spawn(move || {
        let ended = child::run(&checker, &instance.args, instance.limits, &stop);
        // Nobody listens any more only if the batch itself is at its end.
        let _ = tell.send(News::Ended { place, attempts, ended });
    });
}
