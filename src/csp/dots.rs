//! Fields of channels and constructors: which dotted values there are.
//!
//! In: the declared types. Out: the sets of the fields, completions of a prefix, whether a dotted value
//! is one. Never here: expressions but those of declared types.

use super::core::{Ex, Kind};
use super::eval::Eval;
use super::scope::TypeDecl;
use super::value::{Data, Env, Res, SetOf, Val};
use std::rc::Rc;

/// The sets of the fields, in order.
pub type Fields = Rc<[Rc<SetOf>]>;

/// What is known of the fields of a channel or constructor.
#[derive(Clone, Default)]
pub enum FieldState {
    #[default]
    New,
    Busy,
    Known(Fields),
}

/// What is known of a declared type.
#[derive(Clone, Default)]
pub enum TypeState {
    #[default]
    New,
    Busy,
    Known(Rc<SetOf>),
}

/// How far a dotted value goes into the fields of its head.
pub struct Progress {
    /// The parts of a field that has only begun.
    begun: Vec<Data>,
    /// The fields that are still to come, the one that has begun among them.
    left: Vec<Rc<SetOf>>,
}

impl Eval {
    /// The fields of a channel or of a constructor.
    pub fn fields(&mut self, head: &Data) -> Res<Fields> {
        let (channel, n) = match head {
            Data::Channel(n) => (true, *n as usize),
            Data::Const(n) => (false, *n as usize),
            _ => return Ok(Rc::new([])),
        };
        let state = if channel { &self.channel_fields[n] } else { &self.constructor_fields[n] };
        match state {
            FieldState::Known(fields) => return Ok(fields.clone()),
            FieldState::Busy => return self.fail("the type of a field depends on itself"),
            FieldState::New => {}
        }
        let declared = if channel {
            self.script.channels[n].fields.clone()
        } else {
            self.script.constructors[n].fields.clone()
        };
        self.set_fields(channel, n, FieldState::Busy);
        let found = declared.map_or(Ok(Vec::new()), |e| self.field_sets(&e));
        match found {
            Ok(list) => {
                let fields: Fields = list.into();
                self.set_fields(channel, n, FieldState::Known(fields.clone()));
                Ok(fields)
            }
            Err(fault) => {
                self.set_fields(channel, n, FieldState::New);
                Err(fault)
            }
        }
    }

    fn set_fields(&mut self, channel: bool, n: usize, state: FieldState) {
        let place = if channel { &mut self.channel_fields[n] } else { &mut self.constructor_fields[n] };
        *place = state;
    }

    /// The sets of a type expression `A.B.C`.
    fn field_sets(&mut self, e: &Ex) -> Res<Vec<Rc<SetOf>>> {
        let parts = match &e.kind {
            Kind::Dot(parts) => parts.clone(),
            _ => vec![e.clone()],
        };
        let mut sets = Vec::new();
        for part in parts {
            let outer = std::mem::replace(&mut self.here, part.span);
            let set = self.type_value(&part)?;
            if matches!(&part.kind, Kind::Set(_, stmts) if stmts.is_empty()) {
                self.rectangular(&set)?;
            }
            sets.extend(self.split(set)?);
            self.here = outer;
        }
        Ok(sets)
    }

    /// Values that are listed one by one have one constructor, if all of them have fields: what may follow a prefix would
    /// otherwise depend on more than its field.
    fn rectangular(&mut self, set: &SetOf) -> Res<()> {
        let SetOf::Finite(list) = set else { return Ok(()) };
        let mut heads: Vec<&Data> = list.iter().map(|d| &d.parts()[0]).collect();
        heads.dedup();
        let constructors = heads.iter().all(|d| matches!(d, Data::Const(_)));
        if constructors && heads.len() > 1 && list.iter().all(|d| d.parts().len() > 1) {
            return self.fail(
                "this set of dotted values is not a product of sets, so it is no type of fields; a subtype can be",
            );
        }
        Ok(())
    }

    /// A type expression: a set, a dotted product of sets, or a tuple of sets.
    pub fn type_value(&mut self, e: &Ex) -> Res<Rc<SetOf>> {
        match &e.kind {
            Kind::Dot(_) => {
                let sets = self.field_sets(e)?;
                let rows = self.product(&sets)?;
                let list = rows.into_iter().map(Data::dotted).collect();
                match Data::set(list) {
                    Data::Set(set) => Ok(set),
                    _ => self.fail("no set"),
                }
            }
            Kind::Tuple(parts) if !parts.is_empty() => {
                let mut sets = Vec::new();
                for part in parts {
                    sets.push(self.type_value(part)?);
                }
                if sets.iter().any(|set| !matches!(**set, SetOf::Finite(_))) {
                    return Ok(Rc::new(SetOf::Tuples(sets.into())));
                }
                let mut rows: Vec<Vec<Data>> = vec![Vec::new()];
                for set in &sets {
                    let list = self.elements(set)?.to_vec();
                    self.small(rows.len().saturating_mul(list.len()))?;
                    rows = rows
                        .iter()
                        .flat_map(|row| {
                            list.iter().map(|d| [row.as_slice(), std::slice::from_ref(d)].concat())
                        })
                        .collect();
                }
                match Data::set(rows.into_iter().map(|r| Data::Tuple(r.into())).collect()) {
                    Data::Set(set) => Ok(set),
                    _ => self.fail("no set"),
                }
            }
            _ => {
                let val = self.eval(e, &Env::default())?;
                match val {
                    Val::Data(Data::Set(set)) => Ok(set),
                    _ => self.fail("a type is a set"),
                }
            }
        }
    }

    /// All rows of parts with one element of each set.
    fn product(&mut self, sets: &[Rc<SetOf>]) -> Res<Vec<Vec<Data>>> {
        let mut rows: Vec<Vec<Data>> = vec![Vec::new()];
        for set in sets {
            let list = self.elements(set)?;
            self.small(rows.len().saturating_mul(list.len()))?;
            let mut next = Vec::with_capacity(rows.len() * list.len());
            for row in &rows {
                for item in list {
                    next.push([row.as_slice(), item.parts()].concat());
                }
            }
            rows = next;
        }
        Ok(rows)
    }

    /// A set of dotted values of several whole parts as one set for each part.
    fn split(&mut self, set: Rc<SetOf>) -> Res<Vec<Rc<SetOf>>> {
        let SetOf::Finite(list) = &*set else { return Ok(vec![set]) };
        let mut columns: Vec<Vec<Data>> = Vec::new();
        for (row, item) in list.iter().enumerate() {
            let parts = item.parts();
            let mut at = 0;
            let mut column = 0;
            while at < parts.len() {
                let Some(len) = self.whole(&parts[at..]) else {
                    return self.fail(format!("{} is not a whole value", self.show(item)));
                };
                if row == 0 {
                    columns.push(Vec::new());
                }
                let Some(values) = columns.get_mut(column) else {
                    return self.fail("the values of this type have different numbers of parts");
                };
                values.push(Data::dotted(parts[at..at + len].to_vec()));
                at += len;
                column += 1;
            }
            if column != columns.len() {
                return self.fail("the values of this type have different numbers of parts");
            }
        }
        if columns.len() < 2 {
            return Ok(vec![set]);
        }
        let sets: Vec<Rc<SetOf>> = columns
            .into_iter()
            .map(|mut values| {
                values.sort_unstable();
                values.dedup();
                Rc::new(SetOf::Finite(values))
            })
            .collect();
        let size: usize =
            sets.iter().map(|s| if let SetOf::Finite(v) = &**s { v.len() } else { 0 }).product();
        if size != list.len() {
            return self
                .fail("this set of dotted values is not a product of sets, so it is no type of fields");
        }
        Ok(sets)
    }

    /// How many parts the first whole value takes; `None` if it is not all there.
    pub fn whole(&mut self, parts: &[Data]) -> Option<usize> {
        let arity = match parts.first()? {
            Data::Const(n) => self.arity(false, *n as usize),
            Data::Channel(n) => self.arity(true, *n as usize),
            _ => 0,
        };
        let mut at = 1;
        for _ in 0..arity {
            at += self.whole(parts.get(at..)?)?;
        }
        Some(at)
    }

    pub fn arity(&mut self, channel: bool, n: usize) -> usize {
        let state = if channel { &self.channel_fields[n] } else { &self.constructor_fields[n] };
        if let FieldState::Known(fields) = state {
            return fields.len();
        }
        let head = if channel { Data::Channel(n as u32) } else { Data::Const(n as u32) };
        if matches!(state, FieldState::New)
            && let Ok(fields) = self.fields(&head)
        {
            return fields.len();
        }
        // The fields are being computed: the declaration tells their number.
        let declared =
            if channel { &self.script.channels[n].fields } else { &self.script.constructors[n].fields };
        match declared.as_ref().map(|e| &e.kind) {
            None => 0,
            Some(Kind::Dot(parts)) => parts.len(),
            Some(_) => 1,
        }
    }

    /// The set that a declared type stands for.
    pub fn type_set(&mut self, n: usize) -> Res<Rc<SetOf>> {
        match &self.type_states[n] {
            TypeState::Known(set) => return Ok(set.clone()),
            TypeState::Busy => return Ok(Rc::new(SetOf::Type(n as u32))),
            TypeState::New => {}
        }
        self.type_states[n] = TypeState::Busy;
        let found = self.compute_type(n);
        self.type_states[n] = match &found {
            Ok(set) => TypeState::Known(set.clone()),
            Err(_) => TypeState::New,
        };
        found
    }

    fn compute_type(&mut self, n: usize) -> Res<Rc<SetOf>> {
        let script = self.script.clone();
        let mut all = Vec::new();
        match &script.types[n].1 {
            TypeDecl::Nametype(e) => return self.type_value(e),
            TypeDecl::Datatype(constructors) => {
                for c in constructors {
                    let endless = Ok(Rc::new(SetOf::Type(n as u32)));
                    if matches!(self.constructor_fields[*c as usize], FieldState::Busy) {
                        return endless;
                    }
                    let fields = self.fields(&Data::Const(*c))?;
                    if fields.iter().any(|f| !matches!(**f, SetOf::Finite(_))) {
                        return endless;
                    }
                    for row in self.product(&fields)? {
                        all.push(Data::dotted([&[Data::Const(*c)], row.as_slice()].concat()));
                    }
                }
            }
            TypeDecl::Subtype(arms) => {
                for (c, given) in arms {
                    let mut fields = match given {
                        Some(e) => self.field_sets(e)?,
                        None => Vec::new(),
                    };
                    let whole = self.fields(&Data::Const(*c))?;
                    fields.extend(whole.iter().skip(fields.len()).cloned());
                    for row in self.product(&fields)? {
                        all.push(Data::dotted([&[Data::Const(*c)], row.as_slice()].concat()));
                    }
                }
            }
        }
        match Data::set(all) {
            Data::Set(set) => Ok(set),
            _ => self.fail("no set"),
        }
    }

    pub fn is_of_type(&mut self, value: &Data, n: u32) -> Res<bool> {
        let parts = value.parts();
        let Data::Const(c) = &parts[0] else { return Ok(false) };
        let script = self.script.clone();
        let TypeDecl::Datatype(constructors) = &script.types[n as usize].1 else { return Ok(false) };
        Ok(constructors.contains(c) && self.whole(parts) == Some(parts.len()))
    }

    /// How far a dotted value goes, and that each of its fields is of its type.
    pub fn progress(&mut self, parts: &[Data]) -> Res<Progress> {
        let fields = self.fields(&parts[0])?;
        let mut at = 1;
        for (i, field) in fields.iter().enumerate() {
            if at >= parts.len() {
                return Ok(Progress { begun: Vec::new(), left: fields[i..].to_vec() });
            }
            match self.whole(&parts[at..]) {
                Some(len) => {
                    let value = Data::dotted(parts[at..at + len].to_vec());
                    if !self.is_member(&value, field)? {
                        return self.outside(parts, &value);
                    }
                    at += len;
                }
                None => {
                    let begun = parts[at..].to_vec();
                    if let SetOf::Finite(list) = &**field
                        && !list.iter().any(|d| d.parts().starts_with(&begun))
                    {
                        return self.outside(parts, &Data::dotted(begun));
                    }
                    return Ok(Progress { begun, left: fields[i..].to_vec() });
                }
            }
        }
        if at < parts.len() && matches!(parts[0], Data::Channel(_)) {
            let whole = self.show(&Data::dotted(parts.to_vec()));
            return self.fail(format!("{whole} has more fields than its channel"));
        }
        Ok(Progress { begun: Vec::new(), left: Vec::new() })
    }

    fn outside<T>(&mut self, parts: &[Data], value: &Data) -> Res<T> {
        let whole = self.show(&Data::dotted(parts.to_vec()));
        let value = self.show(value);
        self.fail(format!("{whole}: the value {value} is outside of the type of its field"))
    }

    /// All rows of parts that complete a dotted value.
    pub fn completions(&mut self, parts: &[Data]) -> Res<Vec<Vec<Data>>> {
        let progress = self.progress(parts)?;
        let Some((first, others)) = progress.left.split_first() else { return Ok(vec![Vec::new()]) };
        let starts = self.rest_of_field(first, &progress.begun)?;
        let ends = self.product(others)?;
        self.small(starts.len().saturating_mul(ends.len()))?;
        Ok(starts
            .iter()
            .flat_map(|s| ends.iter().map(move |e| [s.as_slice(), e.as_slice()].concat()))
            .collect())
    }

    /// All rows of parts that complete the field that comes next.
    pub fn next_field(&mut self, parts: &[Data]) -> Res<Vec<Vec<Data>>> {
        let progress = self.progress(parts)?;
        match progress.left.first() {
            Some(field) => self.rest_of_field(field, &progress.begun),
            None => {
                let whole = self.show(&Data::dotted(parts.to_vec()));
                self.fail(format!("{whole} has no further field"))
            }
        }
    }

    fn rest_of_field(&mut self, field: &SetOf, begun: &[Data]) -> Res<Vec<Vec<Data>>> {
        if begun.len() == 1 && !matches!(field, SetOf::Finite(_)) {
            return self.completions(begun);
        }
        let list = self.elements(field)?;
        let fits = list.iter().map(Data::parts).filter(|p| p.starts_with(begun));
        Ok(fits.map(|p| p[begun.len()..].to_vec()).collect())
    }

    /// Whether a dotted value has all its fields.
    pub fn is_complete(&mut self, parts: &[Data]) -> Res<bool> {
        Ok(self.progress(parts)?.left.is_empty())
    }
}
