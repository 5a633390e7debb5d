//! What a model consists of, for people: sets, constants, variables, events, refinements, proofs.
//!
//! In: a loaded model. Out: the lines of `info`. Never here: layouts and code, which engines describe.

use crate::base::Name;
use crate::driver;
use crate::lang::typed::{Machine, SetKind, VarId};
use crate::model::refinement::Refinement;
use crate::model::types;
use crate::syntax::eventb::{Proof, ProofStatus};
use std::fmt::Write as _;

/// How many obligations that are not discharged `info` names for each component.
const OPEN_SHOWN: usize = 20;

/// What the authors of an Event-B model proved, component by component.
pub fn proofs(proofs: &[Proof]) -> String {
    let mut out = String::new();
    let mut components: Vec<&Name> = proofs.iter().map(|p| &p.component).collect();
    components.sort();
    components.dedup();
    for component in components {
        let of = |status: ProofStatus| {
            proofs.iter().filter(move |p| p.component == *component && p.status == status)
        };
        let (discharged, reviewed) = (of(ProofStatus::Discharged).count(), of(ProofStatus::Reviewed).count());
        let open: Vec<String> = of(ProofStatus::Open).map(Proof::place).collect();
        let all = discharged + reviewed + open.len();
        let _ = write!(out, "proofs      {component}: {discharged} of {all} obligations discharged");
        let _ =
            writeln!(out, "{}", if reviewed > 0 { format!(", {reviewed} reviewed") } else { String::new() });
        for place in open.iter().take(OPEN_SHOWN) {
            let _ = writeln!(out, "not proved  {place}");
        }
        if open.len() > OPEN_SHOWN {
            let _ = writeln!(out, "not proved  {} more of {component}", open.len() - OPEN_SHOWN);
        }
    }
    out
}

/// The abstractions that a classical machine is followed through, and the conjuncts that relate it to them.
pub fn refinement(chain: &Refinement) -> String {
    let mut out = String::new();
    for level in &chain.levels {
        let _ = writeln!(out, "refines     {}", level.name);
    }
    for clause in &chain.machine.invariant[chain.own_invariant..] {
        let text = crate::base::text::one_line(&clause.text);
        let _ = writeln!(out, "glued by    {text}");
    }
    for name in &chain.left_out {
        let _ = writeln!(out, "left out    {name}");
    }
    out
}

/// What a machine consists of.
pub fn machine(m: &Machine) -> String {
    let mut out = String::new();
    let ty = |t| types::show(t, &m.sets, &m.freetypes);
    let _ = writeln!(out, "machine     {}", m.name);
    let _ = writeln!(out, "integers    {}..{}", m.minint, m.maxint);
    for s in &m.sets {
        let names: Vec<&str> = s.elems.iter().map(|e| &**e).collect();
        let kind = match s.kind {
            SetKind::Enumerated => "enumerated".to_string(),
            SetKind::Deferred => format!("deferred, size from {}", driver::origin_word(s.origin)),
            SetKind::Parameter => format!("parameter, size from {}", driver::origin_word(s.origin)),
        };
        let _ = writeln!(out, "set         {} = {{{}}} ({kind})", s.name, names.join(", "));
    }
    for f in &m.freetypes {
        let names: Vec<&str> = f.constructors.iter().map(|(n, _)| &**n).collect();
        let _ = writeln!(out, "free type   {} = {}", f.name, names.join(" | "));
    }
    let list = |out: &mut String, word: &str, vars: &[VarId]| {
        for v in vars {
            let _ = writeln!(out, "{word:<11} {} : {}", m.var(*v).name, ty(&m.var(*v).ty));
        }
    };
    list(&mut out, "constant", &m.constants);
    list(&mut out, "variable", &m.variables);
    for op in &m.events {
        let op = m.op(*op);
        let names =
            |vars: &[VarId]| vars.iter().map(|v| m.var(*v).name.to_string()).collect::<Vec<_>>().join(", ");
        let results =
            if op.results.is_empty() { String::new() } else { format!("{} <-- ", names(&op.results)) };
        let params = if op.params.is_empty() { String::new() } else { format!("({})", names(&op.params)) };
        let _ = writeln!(out, "event       {results}{}{params}", op.name);
    }
    let _ = writeln!(
        out,
        "clauses     {} properties, {} invariant conjuncts, {} assertions",
        m.properties.len(),
        m.invariant.len(),
        m.assertions.len()
    );
    if m.goal.is_some() {
        let _ = writeln!(out, "definition  GOAL");
    }
    if m.scope.is_some() {
        let _ = writeln!(out, "definition  SCOPE");
    }
    for t in m.ltl.iter().chain(&m.ctl) {
        let _ = writeln!(out, "definition  {} == {}", t.name, t.formula);
    }
    for c in &m.unchecked {
        let _ = writeln!(out, "not checked {c}");
    }
    out
}
