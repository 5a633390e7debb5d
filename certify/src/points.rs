//! Events by the values of their parameters, and what each reads: single points of functions and sets in place of whole ones.
//!
//! In: an operation, the constants, the values of a state. Out: for each value of the parameters what the operation does,
//! remembered by what stands at the points that it reads. An operation that reads anything else of a set is not for
//! this file; `Split::new` says so.
//! **Why an answer may be used again.** With its parameters fixed, such an operation reads a function only in `f(a)`, `a : dom(f)`,
//! a set only in `a : s`, where a is known before, and writes them only at such places; all pairs that begin with a, or whether a
//! is a member, are part of the key. So states with one key have one answer, which names the elements that go and come.
//! Parameters outside the values that are tried make a conjunct of the guard false.
//! Never here: evaluation.

use crate::encoding::{Reader, bytes, put_number};
use crate::memo::Seed;
use crate::reads::names;
use bombus_oracle::eval::{Env, Oracle};
use bombus_oracle::exec::{Finding, Run};
use bombus_oracle::text::Core;
use bombus_oracle::tree::{BinOp, Expr, Machine, Name, Operation, Pred, RelOp, Step, Subst, Type, UnOp, Var};
use bombus_oracle::value::Value;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The most values of the parameters of one operation.
const MOST: usize = 64;

/// A place in the value of a variable, by spellings: all pairs that begin with a value, or one element.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Image(Vec<u8>),
    Element(Vec<u8>),
}

impl Place {
    fn holds(&self, element: &[u8]) -> bool {
        match self {
            Place::Image(first) => element.starts_with(first),
            Place::Element(own) => element == own,
        }
    }
}

/// What is known of one value of a variable: where its elements begin and end, and what stands at each place, by a number.
struct Known {
    ends: Box<[u32]>,
    codes: Box<[u32]>,
}

impl Known {
    fn element<'b>(&self, spelling: &'b [u8], at: usize) -> &'b [u8] {
        &spelling[self.ends[at] as usize..self.ends[at + 1] as usize]
    }
    fn count(&self) -> usize {
        self.ends.len() - 1
    }
}

/// The places of all variables that operations read, and what stands there in the values that were met.
#[derive(Default)]
pub struct Places {
    places: Vec<Vec<Place>>,
    known: Vec<Vec<Known>>,
    contents: HashMap<Box<[u8]>, u32, Seed>,
}

impl Places {
    pub fn new(machine: &Machine) -> Places {
        let none = || machine.variables.iter().map(|_| Vec::new());
        Places {
            places: none().collect(),
            known: machine.variables.iter().map(|_| Vec::new()).collect(),
            ..Places::default()
        }
    }

    /// The number of a place.
    fn number(&mut self, variable: usize, place: Place) -> usize {
        let all = &mut self.places[variable];
        all.iter().position(|p| *p == place).unwrap_or_else(|| {
            all.push(place);
            all.len() - 1
        })
    }

    /// Looks at the next value of a variable; values are numbered from 0.
    pub fn add(&mut self, machine: &Machine, variable: usize, spelling: &[u8], weight: &mut usize) {
        let Type::Pow(of) = &machine.variables[variable].1 else { return };
        if self.places[variable].is_empty() {
            return;
        }
        let mut reader = Reader::new(machine, spelling);
        let count = reader.number().unwrap_or(0);
        let mut ends = vec![reader.at as u32];
        for _ in 0..count {
            if reader.skip(of).is_err() {
                break;
            }
            ends.push(reader.at as u32);
        }
        let mut known = Known { ends: ends.into(), codes: Box::default() };
        let codes = self.places[variable].iter().map(|place| {
            let first = match place {
                Place::Image(first) | Place::Element(first) => first,
            };
            let from = first_at_least(&known, spelling, first);
            let to =
                (from..known.count()).take_while(|i| place.holds(known.element(spelling, *i))).count() + from;
            let content = &spelling[known.ends[from] as usize..known.ends[to] as usize];
            let next = self.contents.len() as u32;
            match self.contents.get(content) {
                Some(code) => *code,
                None => *self.contents.entry(content.into()).or_insert(next),
            }
        });
        known.codes = codes.collect();
        *weight += 64 + 4 * (known.ends.len() + known.codes.len());
        self.known[variable].push(known);
    }

    pub fn clear(&mut self) {
        self.known.iter_mut().for_each(Vec::clear);
        self.contents.clear();
    }

    /// Appends the spelling of a value after a change of its elements.
    pub fn changed(&self, variable: usize, id: u32, spelling: &[u8], change: &Change, out: &mut Vec<u8>) {
        let (gone, new) = match change {
            Change::Whole(own) => return out.extend_from_slice(own),
            Change::Elements { gone, new } => (gone, new),
        };
        let known = &self.known[variable][id as usize];
        put_number((known.count() + new.len() - gone.len()) as u64, out);
        let mut new = new.iter().peekable();
        for i in 0..known.count() {
            let element = known.element(spelling, i);
            while let Some(own) = new.next_if(|own| own[..] < *element) {
                out.extend_from_slice(own);
            }
            if !gone.iter().any(|g| g[..] == *element) {
                out.extend_from_slice(element);
            }
        }
        new.for_each(|own| out.extend_from_slice(own));
    }
}

fn first_at_least(known: &Known, spelling: &[u8], first: &[u8]) -> usize {
    let (mut low, mut high) = (0, known.count());
    while low < high {
        let middle = (low + high) / 2;
        if known.element(spelling, middle) < first { low = middle + 1 } else { high = middle }
    }
    low
}

/// How a variable changes.
pub enum Change {
    Whole(Vec<u8>),
    /// Elements that go and come, ascending.
    Elements {
        gone: Vec<Vec<u8>>,
        new: Vec<Vec<u8>>,
    },
}

/// What an operation does with some values of its parameters.
pub struct Move {
    pub wrong: Option<String>,
    pub quiet: bool,
    /// What is written, ascending by variable, if there is a step.
    pub writes: Option<Vec<(usize, Change)>>,
}

/// A part of the key: the number of a value, or what stands at a place of it.
enum Read {
    Whole(usize),
    At(usize, usize),
}

/// An operation with one choice of its parameters.
struct Instance {
    params: Vec<Value>,
    reads: Vec<Read>,
    known: HashMap<Box<[u32]>, Arc<Move>, Seed>,
}

/// An operation by the values of its parameters.
pub struct Split {
    instances: Vec<Instance>,
    /// Variables that change only at places which the operation looks at; whatever else it writes it writes as a whole.
    at_places: BTreeSet<usize>,
    key: Vec<u32>,
}

/// Who asks: the machine, an oracle for it, the names in the state, and what counts as wrong.
pub struct Question<'q> {
    pub machine: &'q Machine,
    pub oracle: &'q Oracle<'q>,
    pub env: &'q Env,
    pub strict: bool,
    pub is_wrong: &'q dyn Fn(&Finding) -> bool,
}

impl Split {
    /// The operation by its parameters, if its parameters have few values and it reads sets only at places that are
    /// known before. `env` has the constants.
    pub fn new(
        machine: &Machine,
        op: &Operation,
        oracle: &Oracle,
        env: &Env,
        places: &mut Places,
    ) -> Option<Split> {
        let (guard, body) = match &op.body {
            Subst::Pre(p, s) => (p, &**s),
            Subst::Select(branches, None) if branches.len() == 1 => (&branches[0].0, &branches[0].1),
            _ => return None,
        };
        let own = op.params.iter().chain(&op.results).map(|v| &v.0);
        let global = |n: &Name| machine.variables.iter().chain(&machine.constants).any(|v| v.0 == *n);
        if op.params.is_empty()
            || own.clone().any(global)
            || own.collect::<BTreeSet<_>>().len() < op.params.len() + op.results.len()
        {
            return None;
        }
        let mut reading =
            Reading { machine, whole: BTreeSet::new(), at_places: BTreeSet::new(), places: Vec::new() };
        reading.pred(guard);
        reading.subst(body)?;
        let is_set = |v: &usize| matches!(machine.variables[*v].1, Type::Pow(_));
        if reading.whole.iter().any(is_set) || !reading.places.iter().all(|p| is_set(&p.0)) {
            return None;
        }
        let ranges = op.params.iter().map(|p| range(machine, op, p, guard, oracle, env));
        let mut all: Vec<Vec<Value>> = vec![Vec::new()];
        for range in ranges.collect::<Option<Vec<_>>>()? {
            if all.len() * range.len() > MOST {
                return None;
            }
            all = all
                .iter()
                .flat_map(|a| range.iter().map(|v| [&a[..], std::slice::from_ref(v)].concat()))
                .collect();
        }
        let mut found = Vec::new();
        for params in all {
            let mut env = env.clone();
            op.params.iter().zip(&params).for_each(|((n, _), v)| env.bind(n, v.clone()));
            let mut own = Vec::new();
            for (variable, is_image, at) in &reading.places {
                oracle.restart();
                let at = bytes(&oracle.eval(&env, at).ok()?);
                own.push((*variable, if *is_image { Place::Image(at) } else { Place::Element(at) }));
            }
            found.push((params, own));
        }
        let instance = |(params, own): (Vec<Value>, Vec<(usize, Place)>)| {
            let at = own.into_iter().map(|(v, place)| Read::At(v, places.number(v, place)));
            let reads = reading.whole.iter().map(|v| Read::Whole(*v)).chain(at).collect();
            Instance { params, reads, known: HashMap::default() }
        };
        let instances = found.into_iter().map(instance).collect();
        Some(Split { instances, at_places: reading.at_places, key: Vec::new() })
    }

    pub fn clear(&mut self) {
        self.instances.iter_mut().for_each(|i| i.known.clear());
    }

    /// How many choices of its parameters there are.
    pub fn choices(&self) -> usize {
        self.instances.len()
    }

    /// What is known about the values of the parameters of this number, in a state of values with these numbers.
    pub fn find(&mut self, at: usize, ids: &[u32], places: &Places) -> Option<Arc<Move>> {
        let instance = &self.instances[at];
        self.key.clear();
        self.key.extend(instance.reads.iter().map(|read| match read {
            Read::Whole(v) => ids[*v],
            Read::At(v, place) => places.known[*v][ids[*v] as usize].codes[*place],
        }));
        instance.known.get(&self.key[..]).cloned()
    }

    /// Asks what `find` did not know, and remembers it; nothing if there is no answer of the kind that is remembered.
    pub fn ask(
        &mut self,
        at: usize,
        op: &Operation,
        q: &Question,
        state: &[Value],
        places: &Places,
    ) -> Option<(Arc<Move>, usize)> {
        let instance = &self.instances[at];
        let mut run = Run::new(q.oracle, None);
        let mut transitions = run.operation(q.env, op, Some(&instance.params)).ok()?;
        let undefined = run.undefined_guards.first().filter(|_| q.strict).map(|u| u.why.clone());
        let finding = run.findings.iter().find(|f| (q.is_wrong)(f));
        let params = || instance.params.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
        let wrong = finding.map(|f| format!("{}: {} {}", f.kind.word(), f.why, f.place)).or(undefined);
        let wrong = wrong.map(|why| format!("{}({}): {why}", op.name, params()));
        let quiet = transitions.is_empty() && run.findings.is_empty();
        let (last, more) = (transitions.pop(), transitions.len());
        let writes = match last {
            _ if more > 0 => return None,
            None => None,
            Some(t) => {
                let mut writes = Vec::new();
                for (i, (name, of)) in q.machine.variables.iter().enumerate() {
                    let Some(new) = t.writes.get(name) else { continue };
                    if !new.is_of(of) {
                        return None;
                    }
                    let change = match self.at_places.contains(&i) {
                        true => elements(&state[i], new, &instance.places_of(i, places))?,
                        false => Change::Whole(bytes(new)),
                    };
                    writes.push((i, change));
                }
                (writes.len() == t.writes.len()).then_some(writes)?.into()
            }
        };
        let answer = Arc::new(Move { wrong, quiet, writes });
        self.instances[at].known.insert(self.key[..].into(), answer.clone());
        Some((answer, 256 + 4 * self.key.len()))
    }
}

impl Instance {
    fn places_of<'p>(&self, variable: usize, places: &'p Places) -> Vec<&'p Place> {
        let own = self.reads.iter().filter_map(|read| match read {
            Read::At(v, place) if *v == variable => Some(&places.places[variable][*place]),
            _ => None,
        });
        own.collect()
    }
}

/// Which elements go and come, all of them at these places.
fn elements(old: &Value, new: &Value, places: &[&Place]) -> Option<Change> {
    let (before, after) = (old.elements()?, new.elements()?);
    let without = |a: &[Value], b: &[Value]| {
        let mut out: Vec<Vec<u8>> = a.iter().filter(|v| b.binary_search(v).is_err()).map(bytes).collect();
        out.sort_unstable();
        out
    };
    let (gone, new) = (without(before, after), without(after, before));
    let at_places = gone.iter().chain(&new).all(|e| places.iter().any(|p| p.holds(e)));
    at_places.then_some(Change::Elements { gone, new })
}

/// The values of a parameter: all of a given set, or those of a conjunct `p : S` that reads neither variables nor parameters.
fn range(
    machine: &Machine,
    op: &Operation,
    p: &Var,
    guard: &Pred,
    oracle: &Oracle,
    env: &Env,
) -> Option<Vec<Value>> {
    let all = Expr::All(p.1.clone());
    let fixed = |e: &Expr| {
        let words = names(&e.write());
        !machine.variables.iter().chain(&op.params).chain(&op.results).any(|v| words.contains(&*v.0))
    };
    let mut parts = Vec::new();
    crate::bounds::conjuncts(guard, &mut parts);
    let asked = parts.iter().find_map(|c| match c {
        Pred::Rel(RelOp::In, Expr::Var(n), set) if *n == p.0 && fixed(set) => Some(set),
        _ => None,
    });
    let set = match (&p.1, asked) {
        (Type::Given(_) | Type::Bool, _) => &all,
        (_, set) => set?,
    };
    oracle.restart();
    let set = oracle.eval(env, set).ok()?;
    Some(set.elements()?.iter().filter(|v| v.is_of(&p.1)).cloned().collect())
}

/// What an operation reads: variables as a whole, and places of others, by their arguments; true for images.
struct Reading<'m> {
    machine: &'m Machine,
    whole: BTreeSet<usize>,
    at_places: BTreeSet<usize>,
    places: Vec<(usize, bool, Expr)>,
}

impl Reading<'_> {
    fn variable(&self, e: &Expr) -> Option<usize> {
        let Expr::Var(n) = e else { return None };
        self.machine.variables.iter().position(|v| v.0 == *n)
    }

    /// Everything that a text may read is read as a whole.
    fn all(&mut self, text: &str) {
        let words = names(text);
        let named = self.machine.variables.iter().enumerate().filter(|(_, v)| words.contains(&*v.0));
        self.whole.extend(named.map(|(i, _)| i));
    }

    /// The place of a variable, if its argument reads no variable; otherwise both are read.
    fn place(&mut self, variable: usize, is_image: bool, at: &Expr) {
        let words = names(&at.write());
        if self.machine.variables.iter().any(|v| words.contains(&*v.0)) {
            self.whole.insert(variable);
            self.expr(at);
        } else {
            self.places.push((variable, is_image, at.clone()));
        }
    }

    fn pred(&mut self, p: &Pred) {
        match p {
            Pred::True | Pred::False => {}
            Pred::And(ps) | Pred::Or(ps) => ps.iter().for_each(|p| self.pred(p)),
            Pred::Not(p) | Pred::At(_, p) => self.pred(p),
            Pred::Implies(p, q) | Pred::Iff(p, q) => [p, q].into_iter().for_each(|p| self.pred(p)),
            Pred::Rel(RelOp::In | RelOp::NotIn, x, s) => match (s, self.variable(s)) {
                (_, Some(v)) => self.place(v, false, x),
                (Expr::Unary(UnOp::Dom, f), _) if self.variable(f).is_some() => {
                    self.place(self.variable(f).unwrap_or_default(), true, x);
                }
                _ => [x, s].into_iter().for_each(|e| self.expr(e)),
            },
            Pred::Rel(_, a, b) => [a, b].into_iter().for_each(|e| self.expr(e)),
            p => self.all(&p.write()),
        }
    }

    fn expr(&mut self, e: &Expr) {
        match e {
            Expr::Apply(f, x) if self.variable(f).is_some() => {
                self.place(self.variable(f).unwrap_or_default(), true, x);
            }
            Expr::Set(es) | Expr::Seq(es) => es.iter().for_each(|e| self.expr(e)),
            Expr::Pair(a, b) | Expr::Binary(_, a, b) => [a, b].into_iter().for_each(|e| self.expr(e)),
            Expr::Unary(_, a) => self.expr(a),
            Expr::If(p, a, b) => {
                self.pred(p);
                [a, b].into_iter().for_each(|e| self.expr(e));
            }
            e => self.all(&e.write()),
        }
    }

    /// What a substitution of plain assignments reads; others have no answer here.
    fn subst(&mut self, s: &Subst) -> Option<()> {
        match s {
            Subst::Skip => Some(()),
            Subst::Par(parts) => parts.iter().try_for_each(|s| self.subst(s)),
            Subst::Assign(parts) => parts.iter().try_for_each(|(to, e)| {
                let target = self.variable(&Expr::Var(to.var.clone()));
                match (&to.path[..], target) {
                    ([Step::Index(at)], Some(v)) => {
                        self.at_places.insert(v);
                        self.place(v, true, at);
                        self.expr(e);
                    }
                    ([], Some(v)) => self.update(v, e),
                    ([], None) => self.expr(e),
                    _ => return None,
                }
                Some(())
            }),
            _ => None,
        }
    }

    /// `s := s \/ {a}`, `s := s - {a}`, `f := {a} <<| f`, `f := f <+ {a |-> b}` change a variable only at places.
    fn update(&mut self, v: usize, e: &Expr) {
        let Expr::Binary(op, a, b) = e else { return self.expr(e) };
        let (own, listed) = if *op == BinOp::DomSubtract { (b, a) } else { (a, b) };
        let (true, Expr::Set(listed)) = (self.variable(own) == Some(v), &**listed) else {
            return self.expr(e);
        };
        match op {
            BinOp::Union | BinOp::Minus => listed.iter().for_each(|a| self.place(v, false, a)),
            BinOp::DomSubtract => listed.iter().for_each(|a| self.place(v, true, a)),
            BinOp::Override if listed.iter().all(|p| matches!(p, Expr::Pair(..))) => {
                for pair in listed {
                    if let Expr::Pair(a, b) = pair {
                        self.place(v, true, a);
                        self.expr(b);
                    }
                }
            }
            _ => return self.expr(e),
        }
        self.at_places.insert(v);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bombus_oracle::text::read;

    /// Into how many choices of parameters an operation with this guard and this action is split.
    fn split(params: &str, guard: &str, action: &str) -> Option<usize> {
        let text = format!(
            "(machine M (sets ((set P (p q r)))) (variables ((s (pow (given P))) (f (pow (prod (given P) INTEGER))) (n INTEGER)))
              (init skip) (operations ((op o TRUE ({params}) () (pre {guard} {action})) (op e FALSE () () skip))))"
        );
        let machine: Machine = read(&text).expect("a machine");
        let (oracle, mut places) = (Oracle::new(&machine, 1_000_000), Places::new(&machine));
        let env = oracle.environment(&[], None);
        Split::new(&machine, &machine.operations[0], &oracle, &env, &mut places).map(|s| s.choices())
    }

    #[test]
    fn only_operations_that_read_sets_at_points_are_split() {
        let x = "(x (given P))";
        assert_eq!(split(x, "(: x s)", "(:= (((to s ()) (\\ s ({} (x))))))"), Some(3));
        assert_eq!(
            split(&format!("{x} (y INTEGER)"), "(: y (.. 1 4))", "(:= (((to f ((index x))) y)))"),
            Some(12)
        );
        assert_eq!(split(x, "(= (@ f x) n)", "(:= (((to s ()) ({} ()))))"), Some(3));
        let not = |guard: &str, action: &str| assert_eq!(split(x, guard, action), None, "{guard} {action}");
        not("(<: s ({} (x)))", "skip");
        not("(= (card s) 1)", "skip");
        not("(= (@e f x) 1)", "skip");
        not("(# ((x (given P))) (: x s))", "skip");
        not("TRUE", "(:= (((to s ()) (\\/ ({} (x)) s))))");
        not("TRUE", "(:= (((to f ((index x))) (card s))))");
        not("(: (elem P 0 p) s)", "(call e () ())");
        // A tree that breaks the rules of types.
        not("(: x n)", "skip");
        // What is read depends on the state.
        not("(= (@ f (choose s)) 1)", "skip");
        // Nothing or too much bounds a parameter.
        assert_eq!(split("(y INTEGER)", "(: y NATURAL)", "skip"), None);
        assert_eq!(split("(y INTEGER)", "(: y (.. 1 n))", "skip"), None);
        assert_eq!(split("(y INTEGER)", "(: y (.. 1 65))", "skip"), None);
        assert_eq!(split("(y INTEGER)", "(or ((: y (.. 1 2)) (= y 7)))", "skip"), None);
        assert_eq!(split("(n INTEGER)", "(: n (.. 1 2))", "skip"), None);
        assert_eq!(split("", "TRUE", "skip"), None);
    }
}
