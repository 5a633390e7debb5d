//! The built-in functions.
//!
//! In: a name and its arguments. Out: a value. Never here: operators of the language.

use super::builtin::Builtin;
use super::core::Ex;
use super::eval::{Eval, map_of};
use super::term::Term;
use super::value::{Closure, Code, Data, Env, Res, SetOf, Th, Val, data};
use bombus_base::Int;
use std::rc::Rc;

impl Eval {
    /// A built-in name that stands alone.
    pub fn builtin_value(&mut self, builtin: Builtin) -> Res<Val> {
        Ok(Val::Data(match builtin.word() {
            "emptyMap" => map_of(Vec::new()),
            "Events" => {
                let mut all = Vec::new();
                for n in 0..self.script.channels.len() {
                    all.extend(self.productions(&Data::Channel(n as u32))?);
                }
                Data::set(all)
            }
            "Int" => Data::Set(Rc::new(SetOf::Ints)),
            "Bool" => Data::set(vec![Data::Bool(false), Data::Bool(true)]),
            "Char" => Data::Set(Rc::new(SetOf::Chars)),
            "Proc" => Data::Set(Rc::new(SetOf::Procs)),
            "STOP" => Data::Proc(self.terms.number(Term::Stop)),
            "SKIP" => Data::Proc(self.terms.number(Term::Skip)),
            "DIV" => Data::Proc(self.terms.number(Term::Diverge)),
            _ => {
                return Ok(Val::Fun(Rc::new(Closure {
                    code: Code::Builtin(builtin),
                    env: Env::default(),
                    args: Vec::new(),
                })));
            }
        }))
    }

    pub fn library(
        &mut self,
        builtin: Builtin,
        before: &[Vec<Th>],
        args: Vec<Th>,
        site: Option<(&Ex, &Env)>,
    ) -> Res<Val> {
        let word = builtin.word();
        let expected = if before.is_empty() { builtin.arity() } else { Some(1) };
        if expected != Some(args.len()) {
            let expected = expected.unwrap_or(0);
            return self.fail(format!("`{word}` takes {expected} arguments, {} are given", args.len()));
        }
        if let Some(compression) = builtin.compression() {
            let val = self.force(&args[0])?;
            return Ok(match (compression, val) {
                (Some(how), Val::Data(Data::Proc(process))) => {
                    Val::Data(Data::Proc(self.terms.number(Term::Compressed(how, process))))
                }
                (_, val) => val,
            });
        }
        match word {
            "head" | "tail" | "null" | "concat" | "length" => return self.on_sequence(word, &args[0]),
            "relational_image" | "relational_inverse_image" => {
                return self.image(builtin, before, args);
            }
            "loop" => return self.looped(&args[0], site),
            // When a process is compiled makes no difference to what it does.
            "lazy_compile" => return self.force(&args[0]),
            _ => {}
        }
        let mut given = Vec::with_capacity(args.len());
        for arg in &args {
            given.push(self.deep_th(arg)?);
        }
        let result = match word {
            "member" | "elem" | "card" | "empty" | "union" | "inter" | "diff" | "Union" | "Inter" | "set"
            | "Set" | "Seq" | "seq" => self.on_sets(word, &given)?,
            "extensions" | "productions" => {
                let rows = self.completions(given[0].parts())?;
                if word == "productions" {
                    Data::set(self.productions(&given[0])?)
                } else {
                    Data::set(rows.into_iter().map(Data::dotted).collect())
                }
            }
            "error" => {
                let text = self.plain_text(&given[0]);
                return self.fail(format!("`error` is called: {text}"));
            }
            "show" => Data::Seq(self.show(&given[0]).chars().map(Data::Char).collect()),
            "CHAOS" | "RUN" => {
                let events = self.alphabet_of(&given[0])?;
                let term = if word == "RUN" { Term::Run(events) } else { Term::Chaos(events) };
                Data::Proc(self.terms.number(term))
            }
            "timed urgent" => {
                let events = self.alphabet_of(&given[1])?;
                match given[0] {
                    Data::Proc(process) => Data::Proc(self.terms.number(Term::Urgent(process, events))),
                    _ => return self.fail("a process is expected here"),
                }
            }
            "BUFFER" => self.buffer(&given)?,
            "mtransclose" => self.representatives(&given)?,
            "transpose" => {
                let pairs = self.pairs_of(&given[0])?;
                Data::set(pairs.into_iter().map(|(a, b)| Data::Tuple(Rc::new([b, a]))).collect())
            }
            _ => self.on_maps(word, &given)?,
        };
        Ok(Val::Data(result))
    }

    fn on_sequence(&mut self, word: &str, arg: &Th) -> Res<Val> {
        let val = self.force(arg)?;
        if word == "length" {
            return Ok(Val::Data(Data::Int(Int::from(self.length(val)?))));
        }
        let parts = self.uncons(val)?;
        match (word, parts) {
            ("null", parts) => Ok(Val::Data(Data::Bool(parts.is_none()))),
            ("head", Some((head, _))) => self.force(&head),
            ("tail", Some((_, tail))) => Ok(tail),
            ("concat", parts) => {
                let Some((head, tail)) = parts else { return Ok(Val::Data(Data::Seq(Rc::new([])))) };
                let head = self.force(&head)?;
                let tail = super::value::done(tail);
                let rest = super::value::later(move |eval: &mut Eval| eval.on_sequence("concat", &tail));
                self.concat(head, rest)
            }
            _ => self.fail(format!("`{word}` of an empty sequence")),
        }
    }

    fn set_arg(&mut self, value: &Data) -> Res<Rc<SetOf>> {
        match value {
            Data::Set(set) => Ok(set.clone()),
            other => self.fail(format!("{} is no set", self.show(other))),
        }
    }

    fn on_sets(&mut self, word: &str, given: &[Data]) -> Res<Data> {
        if matches!(word, "elem" | "set") {
            let list = match &given[given.len() - 1] {
                Data::Seq(list) => list.clone(),
                other => return self.fail(format!("{} is no sequence", self.show(other))),
            };
            return Ok(if word == "set" {
                Data::set(list.to_vec())
            } else {
                Data::Bool(list.contains(&given[0]))
            });
        }
        let set = self.set_arg(&given[given.len() - 1])?;
        Ok(match word {
            "member" => Data::Bool(self.is_member(&given[0], &set)?),
            "card" => Data::Int(Int::from(self.elements(&set)?.len())),
            "empty" => Data::Bool(matches!(&*set, SetOf::Finite(list) if list.is_empty())),
            "seq" => Data::Seq(self.elements(&set)?.to_vec().into()),
            "Set" => Data::Set(Rc::new(self.powerset(&set)?)),
            "Seq" => Data::Set(Rc::new(match &*set {
                SetOf::Finite(list) if list.is_empty() => SetOf::Finite(vec![Data::Seq(Rc::new([]))]),
                _ => SetOf::Seqs(set),
            })),
            "Union" | "Inter" => {
                let mut all: Option<SetOf> = None;
                for item in self.elements(&set)?.to_vec() {
                    let next = self.set_arg(&item)?;
                    all = Some(match all {
                        None => (*next).clone(),
                        Some(so_far) if word == "Union" => self.union(&so_far, &next)?,
                        Some(so_far) => self.inter(&so_far, &next)?,
                    });
                }
                match all {
                    Some(all) => Data::Set(Rc::new(all)),
                    None if word == "Union" => Data::set(Vec::new()),
                    None => return self.fail("the intersection of no sets"),
                }
            }
            _ => {
                let first = self.set_arg(&given[0])?;
                Data::Set(Rc::new(match word {
                    "union" => self.union(&first, &set)?,
                    "inter" => self.inter(&first, &set)?,
                    _ => self.diff(&first, &set)?,
                }))
            }
        })
    }

    fn map_arg(&mut self, value: &Data) -> Res<Vec<(Data, Data)>> {
        match value {
            Data::Map(pairs) => Ok(pairs.to_vec()),
            other => self.fail(format!("{} is no map", self.show(other))),
        }
    }

    fn list_of_pairs(&mut self, value: &Data) -> Res<Vec<(Data, Data)>> {
        let Data::Seq(list) = value else { return self.fail("a sequence of pairs is expected here") };
        let mut pairs = Vec::new();
        for item in list.iter() {
            match item {
                Data::Tuple(pair) if pair.len() == 2 => pairs.push((pair[0].clone(), pair[1].clone())),
                _ => return self.fail("a sequence of pairs is expected here"),
            }
        }
        Ok(pairs)
    }

    fn on_maps(&mut self, word: &str, given: &[Data]) -> Res<Data> {
        let find =
            |map: &[(Data, Data)], key: &Data| map.iter().find(|(k, _)| k == key).map(|(_, v)| v.clone());
        Ok(match word {
            "mapFromList" => map_of(self.list_of_pairs(&given[0])?),
            "mapToList" => {
                let pairs = self.map_arg(&given[0])?;
                Data::Seq(pairs.into_iter().map(|(k, v)| Data::Tuple(Rc::new([k, v]))).collect())
            }
            "mapMember" => {
                let map = self.map_arg(&given[0])?;
                Data::Bool(find(&map, &given[1]).is_some())
            }
            "mapLookup" => {
                let map = self.map_arg(&given[0])?;
                match find(&map, &given[1]) {
                    Some(value) => value,
                    None => return self.fail(format!("the map has no key {}", self.show(&given[1]))),
                }
            }
            "mapUpdate" => {
                let mut map = self.map_arg(&given[0])?;
                map.push((given[1].clone(), given[2].clone()));
                map_of(map)
            }
            "mapUpdateMultiple" => {
                let mut map = self.map_arg(&given[0])?;
                map.extend(self.list_of_pairs(&given[1])?);
                map_of(map)
            }
            "mapDelete" => {
                let map = self.map_arg(&given[0])?;
                map_of(map.into_iter().filter(|(k, _)| *k != given[1]).collect())
            }
            "Map" => self.all_maps(given)?,
            other => return self.fail(format!("`{other}` is not supported")),
        })
    }

    /// All partial maps from one set to another.
    fn all_maps(&mut self, given: &[Data]) -> Res<Data> {
        let (from, to) = (self.set_arg(&given[0])?, self.set_arg(&given[1])?);
        let values = self.elements(&to)?.to_vec();
        let mut all: Vec<Vec<(Data, Data)>> = vec![Vec::new()];
        for key in self.elements(&from)?.to_vec() {
            self.small(all.len().saturating_mul(values.len() + 1))?;
            let more: Vec<Vec<(Data, Data)>> = all
                .iter()
                .flat_map(|m| values.iter().map(|v| [m.as_slice(), &[(key.clone(), v.clone())]].concat()))
                .collect();
            all.extend(more);
        }
        Ok(Data::set(all.into_iter().map(map_of).collect()))
    }

    fn pairs_of(&mut self, value: &Data) -> Res<Vec<(Data, Data)>> {
        let set = self.set_arg(value)?;
        let list: Rc<[Data]> = self.elements(&set)?.to_vec().into();
        self.list_of_pairs(&Data::Seq(list))
    }

    /// `BUFFER(n, R)`: what comes in by the first event of a pair goes out by the second.
    fn buffer(&mut self, given: &[Data]) -> Res<Data> {
        let size = match &given[0] {
            Data::Int(size) => size.small().and_then(|n| u64::try_from(n).ok()).filter(|n| *n > 0),
            _ => None,
        };
        let Some(size) = size else {
            return self.fail(format!("a buffer for {} values is none", self.show(&given[0])));
        };
        let mut relation = Vec::new();
        for (input, output) in self.pairs_of(&given[1])? {
            relation.push((self.event(&input)?, self.event(&output)?));
        }
        relation.sort_unstable();
        self.one_to_one(&relation)?;
        Ok(Data::Proc(self.terms.number(Term::Buffer(relation.into(), size, [].into()))))
    }

    /// `mtransclose(R, S)`: for each element of S, other than itself, the least one of S that R joins it with, the
    /// least one first.
    fn representatives(&mut self, given: &[Data]) -> Res<Data> {
        let set = self.set_arg(&given[1])?;
        let inside = self.elements(&set)?.to_vec();
        let mut classes: Vec<Vec<Data>> = Vec::new();
        for (a, b) in self.pairs_of(&given[0])? {
            let (mut joined, others): (Vec<_>, Vec<_>) =
                classes.into_iter().partition(|class| class.contains(&a) || class.contains(&b));
            joined.push(vec![a, b]);
            classes = others;
            classes.push(joined.concat());
        }
        let mut pairs = Vec::new();
        for class in classes {
            let mut members: Vec<Data> = class.into_iter().filter(|d| inside.contains(d)).collect();
            members.sort_unstable();
            members.dedup();
            if let Some((first, rest)) = members.split_first() {
                pairs.extend(rest.iter().map(|d| Data::Tuple(Rc::new([first.clone(), d.clone()]))));
            }
        }
        Ok(Data::set(pairs))
    }

    /// `relational_image(R)(x)`: the values that R relates to x.
    fn image(&mut self, builtin: Builtin, before: &[Vec<Th>], args: Vec<Th>) -> Res<Val> {
        let Some(relation) = before.first() else {
            let closure = Closure { code: Code::Builtin(builtin), env: Env::default(), args: vec![args] };
            return Ok(Val::Fun(Rc::new(closure)));
        };
        let relation = self.deep_th(&relation[0])?;
        let value = self.deep_th(&args[0])?;
        let pairs = self.pairs_of(&relation)?.into_iter();
        let found = if builtin.word() == "relational_image" {
            pairs.filter(|(a, _)| *a == value).map(|(_, b)| b).collect()
        } else {
            pairs.filter(|(_, b)| *b == value).map(|(a, _)| a).collect()
        };
        Ok(Val::Data(Data::set(found)))
    }

    /// `loop(P)` = `P ; loop(P)`.
    fn looped(&mut self, arg: &Th, site: Option<(&Ex, &Env)>) -> Res<Val> {
        let Some((e, env)) = site else { return self.fail("`loop` cannot be used here") };
        let process = match self.deep_th(arg)? {
            Data::Proc(process) => process,
            other => return self.fail(format!("{} is no process", self.show(&other))),
        };
        let again = self.suspend(e, env)?;
        Ok(Val::Data(Data::Proc(self.terms.number(Term::Sequence(process, again)))))
    }

    /// All complete dotted values that begin with a prefix.
    pub fn productions(&mut self, prefix: &Data) -> Res<Vec<Data>> {
        let parts = prefix.parts().to_vec();
        if !matches!(parts[0], Data::Channel(_) | Data::Const(_)) {
            return self.fail(format!("{} is neither a channel nor a constructor", self.show(prefix)));
        }
        let rows = self.completions(&parts)?;
        Ok(rows.into_iter().map(|row| Data::dotted([parts.as_slice(), row.as_slice()].concat())).collect())
    }

    fn plain_text(&self, value: &Data) -> String {
        match value {
            Data::Seq(list) => list
                .iter()
                .map(|d| match d {
                    Data::Char(c) => c.to_string(),
                    other => self.show(other),
                })
                .collect(),
            other => self.show(other),
        }
    }

    /// A value of full data, for those who call functions from outside.
    pub fn call_data(&mut self, function: Val, args: Vec<Data>) -> Res<Val> {
        self.apply(function, args.into_iter().map(data).collect())
    }
}
