use bombus::base::budget::Budget;
use bombus::model::reference::search::{SearchOptions, explore};
use bombus::model::{LoadOptions, load};
use bombus::program::{self, Options};
use bombus::system::*;
use std::collections::HashMap;
use std::time::{Duration, Instant};

#[derive(Default)]
struct Out {
    edges: Vec<(u32, u64, Vec<u64>)>,
    findings: Vec<Finding>,
    incomplete: Vec<u32>,
    undefined: usize,
}
impl Sink for Out {
    fn edge(&mut self, event: EventId, label: u64, target: &[u64]) {
        self.edges.push((event.0, label, target.to_vec()));
    }
    fn finding(&mut self, f: Finding) {
        self.findings.push(f);
    }
    fn incomplete(&mut self, r: u32) {
        self.incomplete.push(r);
    }
    fn undefined_guard(&mut self, _: EventId) {
        self.undefined += 1;
    }
}
fn main() {
    std::thread::Builder::new().stack_size(1 << 30).spawn(real).unwrap().join().unwrap();
}
fn real() {
    let args: Vec<String> = std::env::args().collect();
    let path = std::path::PathBuf::from(&args[1]);
    let mode = args.get(2).map(String::as_str).unwrap_or("program");
    let limit: u64 = args.get(3).and_then(|s| s.parse().ok()).unwrap_or(60);
    let t = Instant::now();
    let loaded = load(&path, &LoadOptions::default());
    let Some(model) = &loaded.model else {
        println!("LOAD FAILED {}", loaded.messages());
        return;
    };
    let m = &model.machine;
    let mut budget = Budget::unlimited();
    budget.time_limit = Some(Duration::from_secs(limit));
    println!("load {:?}", t.elapsed());
    if mode == "reference" {
        let t = Instant::now();
        let r = explore(m, &budget, &SearchOptions { keep_going: true, ..Default::default() });
        println!(
            "states {} transitions {} initial {} digest {}",
            r.prob_states, r.prob_transitions, r.initial, r.digest
        );
        println!("found {:?} incomplete {:?} undefined {:?}", r.found, r.incomplete, r.undefined_guards);
        println!("time {:?}", t.elapsed());
        return;
    }
    let t = Instant::now();
    let p = match program::compile(m, &budget, &Options::default()) {
        Ok(p) => p,
        Err(e) => {
            println!("stopped {e:?}");
            return;
        }
    };
    println!("setup {:?} valuations {}", t.elapsed(), p.constant_valuations());
    println!("{}", p.layout_text());
    for u in p.uncompiled() {
        println!("uncompiled {u}");
    }
    println!("validate {:?}", p.validate());
    if mode == "code" {
        println!("{}", p.code_text());
    }
    let t = Instant::now();
    let mut w = p.worker();
    let mut out = Out::default();
    p.initial(&mut w, &mut out);
    let mut found: HashMap<FindingKind, u64> = HashMap::new();
    let mut texts = std::collections::BTreeSet::new();
    let mut incomplete = std::collections::BTreeSet::new();
    let mut seen: HashMap<Vec<u64>, usize> = HashMap::new();
    let mut states: Vec<Vec<u64>> = Vec::new();
    let mut initial = 0;
    let mut transitions = 0u64;
    let mut undefined = 0;
    let mut digest = bombus::model::value::digest::SetDigest::default();
    let mut note = |out: &Out, found: &mut HashMap<FindingKind, u64>| {
        for f in &out.findings {
            *found.entry(f.kind).or_default() += 1;
            texts.insert(format!("{:?} {}", f.kind, p.property(f)));
        }
        for r in &out.incomplete {
            incomplete.insert(p.reason(*r));
        }
    };
    note(&out, &mut found);
    let mut pending: Vec<(Vec<u64>, Option<EventId>)> = Vec::new();
    for (_, _, s) in std::mem::take(&mut out.edges) {
        initial += 1;
        if !seen.contains_key(&s) {
            seen.insert(s.clone(), states.len());
            states.push(s.clone());
            pending.push((s, None));
        }
    }
    let mut broken: std::collections::HashSet<usize> = Default::default();
    let mut at = 0;
    let mut checked = 0;
    let small = std::env::var("DIGEST").is_ok();
    while at < states.len() {
        while checked < states.len() {
            let (s, by) = pending[checked].clone();
            out = Out::default();
            p.check(&mut w, &s, by, &mut out);
            if !out.findings.is_empty() {
                broken.insert(checked);
            }
            note(&out, &mut found);
            checked += 1;
        }
        let s = states[at].clone();
        out = Out::default();
        if p.in_scope(&mut w, &s) {
            p.successors(&mut w, &s, &mut out);
            note(&out, &mut found);
            undefined += out.undefined;
            if out.edges.is_empty() && out.findings.is_empty() && out.incomplete.is_empty() {
                *found.entry(FindingKind::Deadlock).or_default() += 1;
            }
            transitions += out.edges.len() as u64;
            for (e, _, s) in out.edges.drain(..) {
                if !seen.contains_key(&s) {
                    seen.insert(s.clone(), states.len());
                    states.push(s.clone());
                    pending.push((s, if broken.contains(&at) { None } else { Some(EventId(e)) }));
                }
            }
        }
        at += 1;
        if at % 1024 == 0 && budget.check().is_err() {
            println!("TIME LIMIT");
            break;
        }
    }
    let time = t.elapsed();
    if small {
        for s in &states {
            let mut bytes = Vec::new();
            for (_, v) in p.constants_of(s).into_iter().chain(p.state_values(s)) {
                v.encode(&mut bytes);
            }
            digest.add(&bytes);
        }
    }
    let setups = p.constant_valuations() as u64;
    println!(
        "states {} transitions {} initial {initial} digest {digest}",
        states.len() as u64 + setups,
        transitions + setups + initial
    );
    println!(
        "found {found:?} {texts:?} incomplete {incomplete:?} undefined {undefined} pool {} fallbacks {}",
        p.pooled(),
        w.fallbacks
    );
    println!(
        "time {time:?} {:.0} states/s {:.0} trans/s",
        states.len() as f64 / time.as_secs_f64(),
        transitions as f64 / time.as_secs_f64()
    );
}
