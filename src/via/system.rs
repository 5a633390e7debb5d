//! The `System` that asks processes.
//!
//! In: a command. Out: states as byte strings packed into words, transitions and findings as a process
//! tells them. Never here: the bytes of frames, pipes.
//!
//! The first thing that goes wrong is kept; from then on nothing is asked, and `failure` tells it.

use super::frame::{Answer, Kind, Question, VERSION, Wrong};
use super::process::Process;
use bombus_base::hash::HashMap;
use bombus_kernels::hash;
use bombus_system::{
    Diagnostic, EventId, Finding, FindingKind, NO_INITIAL_STATE, PropId, Sink, Span, System,
};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A longer state is refused.
const LONGEST_STATE: u32 = 1 << 16;

/// The reason of a state whose successors a process could not tell because one had failed.
const FAILED: u32 = 0;

/// A system whose transitions other processes compute.
pub struct Via(Arc<Desk>);

/// What all threads share.
struct Desk {
    command: Vec<String>,
    limit: Duration,
    hello: Hello,
    /// Processes that nobody uses now.
    idle: Mutex<Vec<Process>>,
    propositions: Mutex<Vec<String>>,
    /// The answer about the initial states, for comparison.
    first: Mutex<Option<Vec<u8>>>,
    /// A question that was answered lately, and the answer.
    sample: Mutex<Option<(Vec<u64>, Vec<u8>)>>,
    failure: Mutex<Option<String>>,
    failed: AtomicBool,
    /// Words of findings and reasons by a hash of themselves, so that their numbers are the same in every run.
    texts: Mutex<BTreeMap<u32, String>>,
}

/// What a process says of its model.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hello {
    name: String,
    /// Bytes of a state.
    bytes: usize,
    events: Vec<String>,
}

/// Scratch memory of one thread, with the process that it asks. Given back when the thread is through.
pub struct Worker {
    desk: Arc<Desk>,
    process: Option<Process>,
    question: Question,
    /// Answers about states that were foreseen: their words, the body of the frame, one part for each.
    ahead: Vec<u64>,
    body: Vec<u8>,
    parts: Vec<Range<usize>>,
    next: usize,
    target: Vec<u64>,
    terminated: bool,
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(process) = self.process.take() {
            self.desk.idle.lock().push(process);
        }
    }
}

impl Via {
    /// Starts a process and asks what its model is.
    pub fn new(command: Vec<String>, limit: Duration) -> Result<Via, Wrong> {
        let (process, hello) = greeted(&command, limit)?;
        Ok(Via(Arc::new(Desk {
            command,
            limit,
            hello,
            idle: Mutex::new(vec![process]),
            propositions: Mutex::default(),
            first: Mutex::default(),
            sample: Mutex::default(),
            failure: Mutex::default(),
            failed: AtomicBool::new(false),
            texts: Mutex::default(),
        })))
    }

    /// What the process calls its model.
    pub fn name(&self) -> &str {
        &self.0.hello.name
    }

    /// Whatever a saved search depends on: the command and what its process says of the model.
    pub fn identity(&self) -> String {
        format!("{:?} {:?}", self.0.command, self.0.hello)
    }
}

impl Desk {
    /// Words of a state.
    fn words(&self) -> usize {
        self.hello.bytes.div_ceil(8)
    }

    fn fail(&self, why: impl Into<String>) {
        self.failure.lock().get_or_insert(why.into());
        self.failed.store(true, Ordering::Relaxed);
    }

    fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// A process that was greeted and knows all propositions: an idle one, or a new one whose model must
    /// be the same as that of the first.
    fn process(&self) -> Result<Process, Wrong> {
        let idle = self.idle.lock().pop();
        let mut process = match idle {
            Some(process) => process,
            None => {
                let (process, hello) = greeted(&self.command, self.limit)?;
                if hello != self.hello {
                    return Err("two of its processes describe different models".into());
                }
                process
            }
        };
        let propositions = self.propositions.lock().clone();
        for (number, text) in propositions.iter().enumerate().skip(process.propositions) {
            match told(&mut process, text)? {
                Ok(id) if id as usize == number => {}
                _ => return Err(format!("two of its processes read `{text}` differently")),
            }
        }
        Ok(process)
    }

    fn number(&self, text: &str) -> u32 {
        // Numbers below 256 are for reasons of our own.
        let number = (hash::bytes(text.as_bytes()) as u32) | 0x100;
        self.texts.lock().insert(number, text.to_string());
        number
    }

    fn words_of(&self, number: u32) -> String {
        self.texts.lock().get(&number).cloned().unwrap_or_default()
    }

    /// Goes over one answer about a state without using it, so that only answers in the format are used.
    fn skip(&self, answer: &mut Answer) -> Result<(), Wrong> {
        answer.u8()?;
        for _ in 0..answer.u32()? {
            let event = answer.u32()?;
            if event as usize >= self.hello.events.len() {
                return Err(format!("there is no event {event}"));
            }
            answer.take(8 + self.hello.bytes)?;
        }
        for _ in 0..answer.u16()? {
            answer.u8()?;
            answer.text()?;
        }
        for _ in 0..answer.u16()? {
            answer.text()?;
        }
        Ok(())
    }

    /// Hands one answer about a state on.
    fn tell(&self, body: &[u8], target: &mut Vec<u64>, sink: &mut dyn Sink) -> Result<bool, Wrong> {
        let mut answer = Answer::new(body);
        let flags = answer.u8()?;
        let count = answer.u32()?;
        let mut seen: HashMap<(u32, u64, &[u8]), ()> = HashMap::new();
        for _ in 0..count {
            let (event, label) = (answer.u32()?, answer.u64()?);
            let state = answer.take(self.hello.bytes)?;
            // A transition counts once however often it is told.
            if count > 1 && seen.insert((event, label, state), ()).is_some() {
                continue;
            }
            target.clear();
            for part in state.chunks(8) {
                let mut word = [0; 8];
                word[..part.len()].copy_from_slice(part);
                target.push(u64::from_le_bytes(word));
            }
            sink.edge(EventId(event), label, target);
        }
        for _ in 0..answer.u16()? {
            let kind = match answer.u8()? {
                0 => FindingKind::Error,
                1 => FindingKind::Invariant,
                2 => FindingKind::Assertion,
                3 => FindingKind::Goal,
                other => return Err(format!("there is no finding of kind {other}")),
            };
            let property = self.number(answer.text()?);
            sink.finding(Finding { kind, property, event: None });
        }
        for _ in 0..answer.u16()? {
            sink.incomplete(self.number(answer.text()?));
        }
        Ok(flags & 1 != 0)
    }

    /// Asks something of any process.
    fn ask_any<T>(
        &self,
        kind: Kind,
        write: impl FnOnce(&mut Question),
        read: impl FnOnce(&mut Answer) -> Result<T, Wrong>,
    ) -> Result<T, Wrong> {
        let mut process = self.process()?;
        let mut question = Question::default();
        question.begin(kind);
        write(&mut question);
        let mut answer = Answer::new(process.ask(kind, question.finish())?);
        let read = read(&mut answer)?;
        answer.end()?;
        self.idle.lock().push(process);
        Ok(read)
    }
}

/// Starts a process and greets it.
fn greeted(command: &[String], limit: Duration) -> Result<(Process, Hello), Wrong> {
    let mut process = Process::start(command, limit)?;
    let mut question = Question::default();
    question.begin(Kind::Hello);
    question.u32(VERSION);
    let mut answer = Answer::new(process.ask(Kind::Hello, question.finish())?);
    let version = answer.u32()?;
    if version != VERSION {
        return Err(format!("it speaks version {version} of the protocol, this is version {VERSION}"));
    }
    let name = answer.text()?.to_string();
    let bytes = answer.u32()?;
    if bytes == 0 || bytes > LONGEST_STATE {
        return Err(format!("a state of {bytes} bytes: 1 to {LONGEST_STATE} are possible"));
    }
    let count = answer.u32()?;
    let mut events = Vec::new();
    for _ in 0..count {
        events.push(answer.text()?.to_string());
    }
    answer.end()?;
    let mut sorted: Vec<&String> = events.iter().collect();
    sorted.sort_unstable();
    if let Some(same) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("two events are called `{}`", same[0]));
    }
    Ok((process, Hello { name, bytes: bytes as usize, events }))
}

/// Tells a process a proposition; gives its number, or what is wrong with the text.
fn told(process: &mut Process, text: &str) -> Result<Result<u32, String>, Wrong> {
    let mut question = Question::default();
    question.begin(Kind::Prop);
    if !question.text(text) {
        return Ok(Err("this proposition is too long".into()));
    }
    let mut answer = Answer::new(process.ask(Kind::Prop, question.finish())?);
    let said = match answer.u8()? {
        1 => Ok(answer.u32()?),
        _ => Err(answer.text()?.to_string()),
    };
    answer.end()?;
    process.propositions += usize::from(said.is_ok());
    Ok(said)
}

impl Worker {
    fn process(&mut self) -> Result<&mut Process, Wrong> {
        if self.process.is_none() {
            self.process = Some(self.desk.process()?);
        }
        Ok(self.process.as_mut().expect("there is a process now"))
    }

    /// Asks about states, and once more about one that was asked about before.
    fn ask_ahead(&mut self, states: &[u64]) -> Result<(), Wrong> {
        let desk = self.desk.clone();
        let (words, bytes) = (desk.words(), desk.hello.bytes);
        let again = desk.sample.lock().take();
        let count = states.len() / words;
        self.question.begin(Kind::Succ);
        self.question.u32((count + usize::from(again.is_some())) as u32);
        for state in states.chunks_exact(words).chain(again.iter().map(|(state, _)| state.as_slice())) {
            self.question.state(state, bytes);
        }
        let mut question = std::mem::take(&mut self.question);
        let answered = self.process()?.ask(Kind::Succ, question.finish()).map(<[u8]>::to_vec);
        self.question = question;
        self.body = answered?;
        self.parts.clear();
        let mut answer = Answer::new(&self.body);
        for _ in 0..count {
            let start = answer.at();
            desk.skip(&mut answer)?;
            self.parts.push(start..answer.at());
        }
        if let Some((_, before)) = again {
            let start = answer.at();
            desk.skip(&mut answer)?;
            if self.body[start..answer.at()] != before {
                return Err("the same question was answered differently".into());
            }
        }
        answer.end()?;
        if let Some(part) = self.parts.last() {
            let sample = (states[(count - 1) * words..].to_vec(), self.body[part.clone()].to_vec());
            *desk.sample.lock() = Some(sample);
        }
        self.ahead.clear();
        self.ahead.extend_from_slice(states);
        self.next = 0;
        Ok(())
    }

    /// The part of the body that answers for `state`, if the state was foreseen.
    fn foreseen(&mut self, state: &[u64]) -> Option<Range<usize>> {
        let words = state.len();
        let part = self.parts.get(self.next)?.clone();
        (self.ahead.get(self.next * words..(self.next + 1) * words)? == state).then(|| {
            self.next += 1;
            part
        })
    }

    fn successors(&mut self, state: &[u64], sink: &mut dyn Sink) -> Result<(), Wrong> {
        let part = match self.foreseen(state) {
            Some(part) => part,
            None => {
                self.ask_ahead(state)?;
                self.next = 1;
                self.parts[0].clone()
            }
        };
        let desk = self.desk.clone();
        self.terminated = desk.tell(&self.body[part], &mut self.target, sink)?;
        Ok(())
    }

    fn initial(&mut self, sink: &mut dyn Sink) -> Result<(), Wrong> {
        let desk = self.desk.clone();
        self.question.begin(Kind::Init);
        let mut question = std::mem::take(&mut self.question);
        let answered = self.process()?.ask(Kind::Init, question.finish()).map(<[u8]>::to_vec);
        self.question = question;
        let body = answered?;
        let mut answer = Answer::new(&body);
        desk.skip(&mut answer)?;
        answer.end()?;
        {
            let mut first = desk.first.lock();
            if first.get_or_insert_with(|| body.clone()) != &body {
                return Err("the question for initial states was answered differently".into());
            }
        }
        desk.tell(&body, &mut self.target, sink)?;
        Ok(())
    }

    fn truths(&mut self, states: &[u64], id: PropId, out: &mut Vec<Option<bool>>) -> Result<(), Wrong> {
        let desk = self.desk.clone();
        let (words, bytes) = (desk.words(), desk.hello.bytes);
        self.question.begin(Kind::Holds);
        self.question.u32(id.0);
        self.question.u32((states.len() / words) as u32);
        states.chunks_exact(words).for_each(|state| self.question.state(state, bytes));
        let mut question = std::mem::take(&mut self.question);
        let answered = self.process()?.ask(Kind::Holds, question.finish()).map(<[u8]>::to_vec);
        self.question = question;
        let body = answered?;
        if body.len() != states.len() / words {
            return Err("truths for another number of states".into());
        }
        for truth in body {
            out.push(match truth {
                0 => Some(false),
                1 => Some(true),
                2 => None,
                other => return Err(format!("{other} is no truth")),
            });
        }
        Ok(())
    }
}

impl System for Via {
    type Worker = Worker;

    fn worker(&self) -> Worker {
        Worker {
            desk: self.0.clone(),
            process: None,
            question: Question::default(),
            ahead: Vec::new(),
            body: Vec::new(),
            parts: Vec::new(),
            next: 0,
            target: Vec::new(),
            terminated: false,
        }
    }

    fn words(&self) -> usize {
        self.0.words()
    }

    fn event_names(&self) -> &[String] {
        &self.0.hello.events
    }

    fn initial(&self, worker: &mut Worker, sink: &mut dyn Sink) {
        if self.0.has_failed() {
            return sink.incomplete(FAILED);
        }
        if let Err(why) = worker.initial(sink) {
            self.0.fail(why);
            sink.incomplete(FAILED);
        }
    }

    fn foresee(&self, worker: &mut Worker, states: &[u64]) {
        if self.0.has_failed() || states.is_empty() {
            return;
        }
        if let Err(why) = worker.ask_ahead(states) {
            self.0.fail(why);
        }
    }

    fn successors(&self, worker: &mut Worker, state: &[u64], sink: &mut dyn Sink) {
        if self.0.has_failed() {
            return sink.incomplete(FAILED);
        }
        if let Err(why) = worker.successors(state, sink) {
            self.0.fail(why);
            sink.incomplete(FAILED);
        }
    }

    fn terminated(&self, worker: &mut Worker, _: &[u64]) -> bool {
        worker.terminated
    }

    fn save(&self, _: Option<&[&[u64]]>, _: &mut Vec<u8>) -> Result<(), String> {
        if self.0.has_failed() { Err("the process failed".into()) } else { Ok(()) }
    }

    fn proposition(&mut self, text: &str, at: Span) -> Result<PropId, Vec<Diagnostic>> {
        let known = self.0.propositions.lock().iter().position(|p| p == text);
        if let Some(number) = known {
            return Ok(PropId(number as u32));
        }
        let said = self.0.process().and_then(|mut process| {
            let said = told(&mut process, text)?;
            self.0.idle.lock().push(process);
            Ok(said)
        });
        let fault = |message: String| vec![Diagnostic::error(at, message)];
        let mut all = self.0.propositions.lock();
        match said {
            Ok(Ok(id)) if id as usize == all.len() => {
                all.push(text.to_string());
                Ok(PropId(id))
            }
            Ok(Ok(id)) => Err(fault(format!("its number should be {}, the process says {id}", all.len()))),
            Ok(Err(message)) => Err(fault(message)),
            Err(why) => Err(fault(format!("the process failed: {why}"))),
        }
    }

    fn holds(&self, worker: &mut Worker, state: &[u64], proposition: PropId) -> Option<bool> {
        let mut truth = Vec::new();
        self.truths(worker, state, proposition, &mut truth);
        truth.pop().flatten()
    }

    fn truths(&self, worker: &mut Worker, states: &[u64], proposition: PropId, out: &mut Vec<Option<bool>>) {
        let (before, count) = (out.len(), states.len() / self.words());
        if !self.0.has_failed()
            && let Err(why) = worker.truths(states, proposition, out)
        {
            self.0.fail(why);
            out.truncate(before);
        }
        out.resize(before + count, None);
    }

    fn label(&self, event: EventId, label: u64, from: &[u64], to: &[u64]) -> Vec<(String, String)> {
        let bytes = self.0.hello.bytes;
        let write = |question: &mut Question| {
            question.u32(event.0);
            question.u64(label);
            question.state(from, bytes);
            question.state(to, bytes);
        };
        self.shown(Kind::Label, write)
    }

    fn failure(&self) -> Option<String> {
        self.0.failure.lock().clone()
    }

    fn property(&self, finding: &Finding) -> String {
        match finding.kind {
            FindingKind::Deadlock => "there is no transition".into(),
            FindingKind::Properties if finding.property == NO_INITIAL_STATE => {
                "there is no initial state".into()
            }
            _ => self.0.words_of(finding.property),
        }
    }

    fn reason(&self, reason: u32) -> String {
        if reason == FAILED { "the process failed".into() } else { self.0.words_of(reason) }
    }

    fn describe(&self, state: &[u64]) -> Vec<(String, String)> {
        self.shown(Kind::Show, |question| question.state(state, self.0.hello.bytes))
    }
}

impl Via {
    /// Pairs for people; a process that cannot tell them has failed.
    fn shown(&self, kind: Kind, write: impl FnOnce(&mut Question)) -> Vec<(String, String)> {
        if self.0.has_failed() {
            return Vec::new();
        }
        self.0.ask_any(kind, write, |answer| answer.pairs()).unwrap_or_else(|why| {
            self.0.fail(why);
            Vec::new()
        })
    }
}
