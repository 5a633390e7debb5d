//! Random typed expressions, predicates and substitutions, as trees that print and shrink.
//!
//! A term knows its type and its parts; it prints fully parenthesised. Shrinking replaces a term
//! by a part of the same type (not out of a binder) or by the simplest term of its type.

use super::rng::Rng;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ty {
    Int,
    Bool,
    /// Enumerated set `COLOUR = {red, green, blue}`.
    Enum,
    /// Deferred set `THING` of two elements.
    Def,
    Pow(Box<Ty>),
    Pair(Box<Ty>, Box<Ty>),
    /// `struct(a:…, b:…)`
    Rec(Box<Ty>, Box<Ty>),
    Str,
    Pred,
    Stmt,
}

impl Ty {
    pub fn pow(t: Ty) -> Ty {
        Ty::Pow(Box::new(t))
    }
    pub fn pair(a: Ty, b: Ty) -> Ty {
        Ty::Pair(Box::new(a), Box::new(b))
    }
    pub fn rel(a: Ty, b: Ty) -> Ty {
        Ty::pow(Ty::pair(a, b))
    }

    /// A finite set that holds the values a variable of this type may take.
    pub fn carrier(&self) -> String {
        match self {
            Ty::Int => "(0..3)".into(),
            Ty::Bool => "BOOL".into(),
            Ty::Enum => "COLOUR".into(),
            Ty::Def => "THING".into(),
            Ty::Str => "{\"a\",\"b\"}".into(),
            Ty::Pow(t) => format!("POW({})", t.carrier()),
            Ty::Pair(a, b) => format!("({}*{})", a.carrier(), b.carrier()),
            Ty::Rec(a, b) => format!("struct(a:{},b:{})", a.carrier(), b.carrier()),
            Ty::Pred | Ty::Stmt => unreachable!("no values"),
        }
    }

    /// How many values the carrier has (saturating).
    pub fn size(&self) -> u64 {
        match self {
            Ty::Int => 4,
            Ty::Bool | Ty::Def | Ty::Str => 2,
            Ty::Enum => 3,
            Ty::Pow(t) => 1u64.checked_shl(t.size().min(63) as u32).unwrap_or(u64::MAX),
            Ty::Pair(a, b) | Ty::Rec(a, b) => a.size().saturating_mul(b.size()),
            Ty::Pred | Ty::Stmt => 0,
        }
    }

    /// The simplest closed term.
    pub fn simplest(&self) -> Term {
        let text = match self {
            Ty::Int => "0".to_string(),
            Ty::Bool => "TRUE".into(),
            Ty::Enum => "red".into(),
            Ty::Def => "any_thing".into(),
            Ty::Str => "\"a\"".into(),
            Ty::Pow(_) => format!("({} - {})", self.element().carrier(), self.element().carrier()),
            Ty::Pair(a, b) => format!("({} |-> {})", a.simplest(), b.simplest()),
            Ty::Rec(a, b) => format!("rec(a:{},b:{})", a.simplest(), b.simplest()),
            Ty::Pred => "1=1".into(),
            Ty::Stmt => "skip".into(),
        };
        Term { ty: self.clone(), parts: vec![Part::Text(text)], binds: false }
    }

    fn element(&self) -> &Ty {
        match self {
            Ty::Pow(t) => t,
            _ => unreachable!("not a set"),
        }
    }

    /// A type of sets whose elements are or have sets.
    pub fn nested(rng: &mut Rng) -> Ty {
        let base = rng.pick(&[Ty::Bool, Ty::Enum, Ty::Def, Ty::Int]).clone();
        let side = rng.pick(&[Ty::Bool, Ty::Def]).clone();
        match rng.below(3) {
            0 => Ty::rel(side, Ty::pow(rng.pick(&[Ty::Bool, Ty::Def]).clone())),
            1 => Ty::rel(Ty::pow(side), Ty::Bool),
            _ => Ty::pow(Ty::pow(base)),
        }
    }

    /// A type of values, small enough to enumerate.
    pub fn random(rng: &mut Rng, depth: usize) -> Ty {
        loop {
            let t = match rng.below(if depth == 0 { 5 } else { 9 }) {
                0 | 1 => Ty::Int,
                2 => Ty::Bool,
                3 => Ty::Enum,
                4 => rng.pick(&[Ty::Def, Ty::Str]).clone(),
                5 | 6 => Ty::pow(Ty::random(rng, depth - 1)),
                7 => Ty::rel(Ty::random(rng, 0), Ty::random(rng, 0)),
                _ if rng.chance(40) => {
                    Ty::Rec(Box::new(Ty::random(rng, depth - 1)), Box::new(Ty::random(rng, 0)))
                }
                _ => Ty::pair(Ty::random(rng, depth - 1), Ty::random(rng, 0)),
            };
            if t.size() <= 4096 {
                return t;
            }
        }
    }
}

#[derive(Clone, Debug)]
pub struct Term {
    pub ty: Ty,
    pub parts: Vec<Part>,
    /// Parts stand under a binder of this term and cannot be lifted out.
    pub binds: bool,
}

#[derive(Clone, Debug)]
pub enum Part {
    Text(String),
    Sub(Term),
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for p in &self.parts {
            match p {
                Part::Text(t) => f.write_str(t)?,
                Part::Sub(t) => write!(f, "{t}")?,
            }
        }
        Ok(())
    }
}

impl Term {
    pub fn leaf(ty: Ty, text: impl Into<String>) -> Term {
        Term { ty, parts: vec![Part::Text(text.into())], binds: false }
    }

    /// Smaller variants of this term, most radical first.
    pub fn shrinks(&self) -> Vec<Term> {
        let mut out = Vec::new();
        let simplest = self.ty.simplest();
        if self.to_string().len() > simplest.to_string().len() {
            out.push(simplest);
        }
        for (i, p) in self.parts.iter().enumerate() {
            let Part::Sub(sub) = p else { continue };
            if !self.binds && sub.ty == self.ty {
                out.push(sub.clone());
            }
            for s in sub.shrinks() {
                let mut smaller = self.clone();
                smaller.parts[i] = Part::Sub(s);
                out.push(smaller);
            }
        }
        out
    }
}

/// Makes terms over the variables in scope.
pub struct Maker<'r> {
    pub rng: &'r mut Rng,
    pub scope: Vec<(String, Ty)>,
    pub fresh: usize,
    /// Whether operators that may be undefined are used.
    pub partial: bool,
}

impl Maker<'_> {
    /// A term from a template: `@` stands for the next part.
    fn fill(&mut self, ty: &Ty, template: &str, subs: Vec<Term>) -> Term {
        let mut parts = Vec::new();
        let mut subs = subs.into_iter();
        for (i, text) in template.split('@').enumerate() {
            if i > 0 {
                parts.push(Part::Sub(subs.next().expect("as many parts as places")));
            }
            parts.push(Part::Text(text.to_string()));
        }
        Term { ty: ty.clone(), parts, binds: false }
    }

    fn op(&mut self, ty: &Ty, template: &str, kinds: &[Ty], depth: usize) -> Term {
        let subs = kinds.iter().map(|k| self.term(k, depth.saturating_sub(1))).collect();
        self.fill(ty, template, subs)
    }

    /// A term under one new bound variable.
    fn bind(&mut self, ty: &Ty, template: &str, var_ty: &Ty, kinds: &[Ty], depth: usize) -> Term {
        self.fresh += 1;
        let name = format!("v{}", self.fresh);
        let text = template.replace('$', &name).replace('^', &var_ty.carrier());
        self.scope.push((name, var_ty.clone()));
        let subs = kinds.iter().map(|k| self.term(k, depth.saturating_sub(1))).collect();
        self.scope.pop();
        let mut term = self.fill(ty, &text, subs);
        term.binds = true;
        term
    }

    /// A type of sequences, functions or sets of sets, and a few of its values as a closed set.
    pub fn listed(&mut self) -> (Ty, String) {
        let (t, u) = (self.small_type(), self.small_type());
        let ty = match self.rng.below(3) {
            0 => Ty::rel(Ty::Int, t),
            1 => Ty::rel(t, u),
            _ => Ty::pow(Ty::pow(t)),
        };
        let list = self.list_of(&ty);
        (ty, list)
    }

    fn list_of(&mut self, ty: &Ty) -> String {
        let n = 1 + self.rng.below(3);
        let items: Vec<String> = (0..n).map(|_| self.literal(ty).to_string()).collect();
        format!("{{{}}}", items.join(","))
    }

    fn small_type(&mut self) -> Ty {
        Ty::random(self.rng, 0)
    }

    pub fn term(&mut self, ty: &Ty, depth: usize) -> Term {
        let mut known: Vec<String> =
            self.scope.iter().filter(|(_, t)| t == ty).map(|(n, _)| n.clone()).collect();
        if !known.is_empty() && self.rng.chance(if depth == 0 { 70 } else { 25 }) {
            let i = self.rng.below(known.len());
            return Term::leaf(ty.clone(), known.swap_remove(i));
        }
        if depth == 0 {
            return self.literal(ty);
        }
        match ty {
            Ty::Int => self.integer(depth),
            Ty::Bool => match self.rng.below(3) {
                0 => self.literal(ty),
                _ => self.op(ty, "bool(@)", &[Ty::Pred], depth),
            },
            Ty::Enum | Ty::Def | Ty::Str => self.choice_of(ty, depth),
            Ty::Pair(a, b) => {
                let (a, b) = ((**a).clone(), (**b).clone());
                self.op(ty, "(@ |-> @)", &[a, b], depth)
            }
            Ty::Rec(a, b) => {
                let (a, b) = ((**a).clone(), (**b).clone());
                self.op(ty, "rec(a:@,b:@)", &[a, b], depth)
            }
            Ty::Pow(t) => match (**t).clone() {
                Ty::Pair(a, b) if self.rng.chance(70) => self.relation(ty, &a, &b, depth),
                t => self.set(ty, &t, depth),
            },
            Ty::Pred => self.predicate(depth),
            Ty::Stmt => unreachable!("made by machines"),
        }
    }

    fn literal(&mut self, ty: &Ty) -> Term {
        let text = match ty {
            Ty::Int => self.rng.below(4).to_string(),
            Ty::Bool => self.rng.pick(&["TRUE", "FALSE"]).to_string(),
            Ty::Enum => self.rng.pick(&["red", "green", "blue"]).to_string(),
            Ty::Str => self.rng.pick(&["\"a\"", "\"b\""]).to_string(),
            Ty::Pow(t) if self.rng.chance(60) => {
                let n = 1 + self.rng.below(2);
                let items: Vec<String> = (0..n).map(|_| self.literal(t).to_string()).collect();
                format!("{{{}}}", items.join(","))
            }
            Ty::Pair(a, b) => format!("({} |-> {})", self.literal(a), self.literal(b)),
            Ty::Rec(a, b) => format!("rec(a:{},b:{})", self.literal(a), self.literal(b)),
            Ty::Pred => self.rng.pick(&["1=1", "1=2"]).to_string(),
            _ => return ty.simplest(),
        };
        Term::leaf(ty.clone(), text)
    }

    fn choice_of(&mut self, ty: &Ty, depth: usize) -> Term {
        let (t, u) = (ty.clone(), self.small_type());
        match self.rng.below(9) {
            0 => self.op(ty, "(IF @ THEN @ ELSE @ END)", &[Ty::Pred, t.clone(), t], depth),
            4 => self.part(ty, depth),
            5 => {
                let kinds = [Ty::Pred, t.clone(), Ty::Pred, t.clone(), t];
                self.op(ty, "(IF @ THEN @ ELSIF @ THEN @ ELSE @ END)", &kinds, depth)
            }
            6 => {
                let kinds = [t];
                let simplest = u.simplest().to_string();
                self.bind(ty, &format!("(LET $ BE $={simplest} IN @ END)"), &u, &kinds, depth)
            }
            1 if self.partial => {
                let f = Ty::rel(u.clone(), t);
                self.op(ty, "@(@)", &[f, u], depth)
            }
            2 => self.op(
                ty,
                "prj1(^,!)(@)".replace('^', &ty.carrier()).replace('!', &u.carrier()).as_str(),
                &[Ty::pair(t, u)],
                depth,
            ),
            _ => self.literal(ty),
        }
    }

    /// A component of a pair or a field of a record.
    fn part(&mut self, ty: &Ty, depth: usize) -> Term {
        let (t, u) = (ty.clone(), self.small_type());
        match self.rng.below(4) {
            0 => self.op(ty, "prj2(@)", &[Ty::pair(u, t)], depth),
            1 => self.op(ty, "prj1(@)", &[Ty::pair(t, u)], depth),
            2 => self.op(ty, "(@)'a", &[Ty::Rec(Box::new(t), Box::new(u))], depth),
            _ => self.op(ty, "(@)'b", &[Ty::Rec(Box::new(u), Box::new(t))], depth),
        }
    }

    /// A term under two new bound variables `$` and `?`, whose carriers stand at `^` and at the back-quote.
    fn bind_two(&mut self, ty: &Ty, template: &str, tys: [&Ty; 2], kinds: &[Ty], depth: usize) -> Term {
        self.fresh += 2;
        let names = [format!("v{}", self.fresh - 1), format!("v{}", self.fresh)];
        let text = template
            .replace('$', &names[0])
            .replace('?', &names[1])
            .replace('^', &tys[0].carrier())
            .replace('`', &tys[1].carrier());
        for (name, ty) in names.iter().zip(tys) {
            self.scope.push((name.clone(), ty.clone()));
        }
        let subs = kinds.iter().map(|k| self.term(k, depth.saturating_sub(1))).collect();
        self.scope.truncate(self.scope.len() - 2);
        let mut term = self.fill(ty, &text, subs);
        term.binds = true;
        term
    }

    fn integer(&mut self, depth: usize) -> Term {
        let int = Ty::Int;
        let any = self.small_type();
        match self.rng.below(if self.partial { 31 } else { 19 }) {
            0 => self.literal(&int),
            11 => self.part(&int, depth),
            12 => self.bind(&int, "PI($).($:^ & @|@)", &any, &[Ty::Pred, Ty::Int], depth),
            13 => {
                let other = self.small_type();
                let kinds = [Ty::Pred, Ty::Int];
                self.bind_two(&int, "SIGMA($,?).($:^ & ?:` & @|@)", [&any, &other], &kinds, depth)
            }
            14 => {
                let name = *self.rng.pick(&["succ", "pred"]);
                self.op(&int, &format!("{name}(@)"), &[Ty::Int], depth)
            }
            15 => {
                let n = *self.rng.pick(&["2", "3", "63", "64"]);
                self.op(&int, &format!("(@ ** {n})"), &[Ty::Int], depth)
            }
            16 => {
                let big = *self.rng.pick(&["2147483648", "9223372036854775807", "18446744073709551616"]);
                let sign = *self.rng.pick(&["+", "-", "*"]);
                self.op(&int, &format!("(@ {sign} {big})"), &[Ty::Int], depth)
            }
            17 => self.op(&int, "(@ / 2)", &[Ty::Int], depth),
            18 => self.op(&int, "size([@,@])", &[any.clone(), any], depth),
            27 => self.op(&int, "(@ ** @)", &[Ty::Int, Ty::Int], depth),
            28 => self.op(&int, "(7 / @)", &[Ty::Int], depth),
            29 => self.op(&int, "card(@ \\/ @)", &[Ty::pow(any.clone()), Ty::pow(any)], depth),
            1 => self.op(&int, "(@ + @)", &[Ty::Int, Ty::Int], depth),
            2 => self.op(&int, "(@ - @)", &[Ty::Int, Ty::Int], depth),
            3 => self.op(&int, "(@ * @)", &[Ty::Int, Ty::Int], depth),
            4 => self.op(&int, "(- @)", &[Ty::Int], depth),
            5 | 6 => self.op(&int, "card(@)", &[Ty::pow(any)], depth),
            7 => self.op(&int, "(IF @ THEN @ ELSE @ END)", &[Ty::Pred, Ty::Int, Ty::Int], depth),
            8 => self.bind(&int, "SIGMA($).($:^ & @|@)", &any, &[Ty::Pred, Ty::Int], depth),
            9 => self.op(&int, "max({0,@})", &[Ty::Int], depth),
            10 => self.bind(&int, "(LET $ BE $=2 IN @ END)", &Ty::Int, &[Ty::Int], depth),
            19 => self.op(&int, "(@ / @)", &[Ty::Int, Ty::Int], depth),
            20 => self.op(&int, "(@ mod @)", &[Ty::Int, Ty::Int], depth),
            21 => self.op(&int, "max(@)", &[Ty::pow(Ty::Int)], depth),
            22 => self.op(&int, "min(@)", &[Ty::pow(Ty::Int)], depth),
            23 => self.op(&int, "size(@)", &[Ty::rel(Ty::Int, any)], depth),
            24 => self.op(&int, "first(@)", &[Ty::rel(Ty::Int, Ty::Int)], depth),
            25 => self.op(&int, "last(@)", &[Ty::rel(Ty::Int, Ty::Int)], depth),
            _ => self.op(&int, "@(@)", &[Ty::rel(any.clone(), Ty::Int), any], depth),
        }
    }

    fn set(&mut self, ty: &Ty, t: &Ty, depth: usize) -> Term {
        let s = ty.clone();
        let other = self.small_type();
        match self.rng.below(22) {
            0 => self.literal(ty),
            14 => self.bind(ty, "{$|$:^ & @ & @}", t, &[Ty::Pred, Ty::Pred], depth),
            15 => {
                let kinds = [Ty::Pred, t.clone()];
                self.bind(ty, "ran(%$.($:^ & @|@))", &other, &kinds, depth)
            }
            16 => self.part(ty, depth),
            17 => self.op(ty, "(IF @ THEN @ ELSE @ END)", &[Ty::Pred, s.clone(), s], depth),
            18 => {
                let (name, second) = (format!("w{}", self.fresh), self.small_type());
                let template = format!("{{$|$:^ & #{name}.({name}:! & @)}}").replace('!', &second.carrier());
                self.scope.push((name, second));
                let made = self.bind(ty, &template, t, &[Ty::Pred], depth);
                self.scope.pop();
                made
            }
            19 => match t {
                Ty::Pow(inner) => {
                    let made = *self.rng.pick(&["POW", "POW1", "FIN", "FIN1"]);
                    let template = format!("{made}({} /\\ @)", inner.carrier());
                    if inner.size() > 8 {
                        return self.literal(ty);
                    }
                    self.op(ty, &template, &[Ty::pow((**inner).clone())], depth)
                }
                Ty::Rec(a, b) => {
                    let kinds = [Ty::pow((**a).clone()), Ty::pow((**b).clone())];
                    self.op(ty, "struct(a:@,b:@)", &kinds, depth)
                }
                _ if t.size() <= 4 => self.op(ty, "union(@)", &[Ty::pow(s)], depth),
                _ => self.literal(ty),
            },
            // Sets of sets stay small: the carrier of their type is written out.
            20 if self.partial && t.size() <= 4 => self.op(ty, "inter(@)", &[Ty::pow(s)], depth),
            21 if self.partial && t.size() <= 4 => {
                self.op(ty, "@(@)", &[Ty::rel(other.clone(), s), other], depth)
            }
            12 => {
                let inverse = Ty::rel(t.clone(), other.clone());
                self.op(ty, "(@~)[@]", &[inverse, Ty::pow(other)], depth)
            }
            13 if self.partial => self.bind(ty, "INTER($).($:^ & @|@)", &other, &[Ty::Pred, s], depth),
            1 => self.op(ty, "(@ \\/ @)", &[s.clone(), s], depth),
            2 => self.op(ty, "(@ /\\ @)", &[s.clone(), s], depth),
            3 => self.op(ty, "(@ - @)", &[s.clone(), s], depth),
            4 => self.op(ty, "{@}", std::slice::from_ref(t), depth),
            5 => self.op(ty, "{@,@}", &[t.clone(), t.clone()], depth),
            6 => self.bind(ty, "{$|$:^ & @}", t, &[Ty::Pred], depth),
            7 => self.bind(ty, "UNION($).($:^ & @|@)", &other, &[Ty::Pred, s], depth),
            8 => self.op(ty, "@[@]", &[Ty::rel(other.clone(), t.clone()), Ty::pow(other)], depth),
            9 => self.op(ty, "dom(@)", &[Ty::rel(t.clone(), other)], depth),
            10 => self.op(ty, "ran(@)", &[Ty::rel(other, t.clone())], depth),
            // Large numbers occur; an interval that long would only take time.
            _ if *t == Ty::Int => self.op(ty, "(max({-3,@}) .. min({6,@}))", &[Ty::Int, Ty::Int], depth),
            _ => self.op(ty, "union({@,@})", &[s.clone(), s], depth),
        }
    }

    fn relation(&mut self, ty: &Ty, a: &Ty, b: &Ty, depth: usize) -> Term {
        let (r, sa, sb) = (ty.clone(), Ty::pow(a.clone()), Ty::pow(b.clone()));
        let mid = self.small_type();
        match self.rng.below(31) {
            22 => self.direct(ty, a, b, depth),
            23 => {
                let kinds = [Ty::Pred];
                self.bind_two(ty, "{$,?|$:^ & ?:` & @}", [a, b], &kinds, depth)
            }
            24 => {
                let kinds = [Ty::Pred, a.clone(), b.clone()];
                self.bind(ty, "{vx,vy|#$.($:^ & @ & vx=@ & vy=@)}", &mid, &kinds, depth)
            }
            25 if a == b => {
                let n = self.rng.below(3) + 1;
                self.op(ty, &format!("iterate(@,{n})"), &[r], depth)
            }
            26 => match b {
                Ty::Pow(inner) => self.op(ty, "fnc(@)", &[Ty::rel(a.clone(), (**inner).clone())], depth),
                _ => self.op(ty, "rel(fnc(@))", &[r], depth),
            },
            27 if *a == Ty::Int && self.partial => self.op(ty, "conc([@,@])", &[r.clone(), r], depth),
            28 => self.op(ty, "(IF @ THEN @ ELSE @ END)", &[Ty::Pred, r.clone(), r], depth),
            29 => {
                self.bind(ty, "UNION($).($:^ & @|{@ |-> @})", &mid, &[Ty::Pred, a.clone(), b.clone()], depth)
            }
            30 => self.op(ty, "(@ \\/ @)", &[r.clone(), r], depth),
            15 | 16 => self.op(ty, "(@ <+ {@ |-> @})", &[r, a.clone(), b.clone()], depth),
            17 => self.op(ty, "(@ \\/ {@ |-> @})", &[r, a.clone(), b.clone()], depth),
            18 if *a == Ty::Int && self.partial => {
                let template = *self.rng.pick(&["tail(@)", "front(@)", "rev(@)"]);
                self.op(ty, template, &[r], depth)
            }
            19 if *a == Ty::Int && self.partial => {
                if self.rng.chance(50) {
                    self.op(ty, "(@ <- @)", &[r, b.clone()], depth)
                } else {
                    self.op(ty, "(@ -> @)", &[b.clone(), r], depth)
                }
            }
            20 if *a == Ty::Int && self.partial => {
                let template = *self.rng.pick(&["(@ /|\\ @)", "(@ \\|/ @)"]);
                self.op(ty, template, &[r, Ty::Int], depth)
            }
            0 => self.op(ty, "(@ <| @)", &[sa, r], depth),
            1 => self.op(ty, "(@ <<| @)", &[sa, r], depth),
            2 => self.op(ty, "(@ |> @)", &[r, sb], depth),
            3 => self.op(ty, "(@ |>> @)", &[r, sb], depth),
            4 => self.op(ty, "(@ <+ @)", &[r.clone(), r], depth),
            5 => self.op(ty, "(@~)", &[Ty::rel(b.clone(), a.clone())], depth),
            6 => self.op(ty, "(@ ; @)", &[Ty::rel(a.clone(), mid.clone()), Ty::rel(mid, b.clone())], depth),
            7 => self.op(ty, "(@ * @)", &[sa, sb], depth),
            8 => self.bind(ty, "%$.($:^ & @|@)", a, &[Ty::Pred, b.clone()], depth),
            9 if a == b => self.op(ty, "closure1(@)", &[r], depth),
            9 => self.op(ty, "{@ |-> @}", &[a.clone(), b.clone()], depth),
            10 if a == b => self.op(ty, "id(@)", &[sa], depth),
            11 if *a == Ty::Int => self.op(ty, "[@,@]", &[b.clone(), b.clone()], depth),
            12 if *a == Ty::Int && self.partial => self.op(ty, "(@ ^ @)", &[r.clone(), r], depth),
            13 if *a == Ty::Int && self.partial => self.op(ty, "rev(@)", &[r], depth),
            _ => self.set(ty, &Ty::pair(a.clone(), b.clone()), depth),
        }
    }

    /// A direct or parallel product, a projection or a lambda over couples, where the type is one of theirs.
    fn direct(&mut self, ty: &Ty, a: &Ty, b: &Ty, depth: usize) -> Term {
        match (a, b) {
            (Ty::Pair(a1, a2), Ty::Pair(b1, b2)) if self.rng.chance(50) => {
                let kinds =
                    [Ty::rel((**a1).clone(), (**b1).clone()), Ty::rel((**a2).clone(), (**b2).clone())];
                self.op(ty, "(@ || @)", &kinds, depth)
            }
            (_, Ty::Pair(b1, b2)) => {
                let kinds = [Ty::rel(a.clone(), (**b1).clone()), Ty::rel(a.clone(), (**b2).clone())];
                self.op(ty, "(@ >< @)", &kinds, depth)
            }
            (Ty::Pair(a1, a2), _) if **a1 == *b && self.rng.chance(50) => {
                self.op(ty, "prj1(@,@)", &[Ty::pow(b.clone()), Ty::pow((**a2).clone())], depth)
            }
            (Ty::Pair(a1, a2), _) => {
                let kinds = [Ty::Pred, b.clone()];
                self.bind_two(ty, "%($,?).($:^ & ?:` & @|@)", [a1, a2], &kinds, depth)
            }
            _ => self.literal(ty),
        }
    }

    /// Membership in a set of sets, of functions, of sequences or of records, and formulas under two variables.
    fn structured(&mut self, depth: usize) -> Term {
        let p = Ty::Pred;
        let (t, u) = (self.small_type(), self.small_type());
        match self.rng.below(12) {
            9 => {
                let (ty, list) = self.listed();
                let template = format!("(#$.($:{list} & @))");
                self.bind(&p, &template, &ty, &[Ty::Pred], depth.min(2))
            }
            10 => {
                let (ty, list) = self.listed();
                let template = format!("(!$.($:{list} & @ => @))");
                self.bind(&p, &template, &ty, &[Ty::Pred, Ty::Pred], depth.min(2))
            }
            11 => {
                let (ty, _) = self.listed();
                let pair = Ty::pair(t.clone(), ty.clone());
                let list = self.list_of(&pair);
                let template = format!("(#($,?).($|->? : {list} & @))");
                self.bind_two(&p, &template, [&t, &ty], &[Ty::Pred], depth.min(2))
            }
            0 => {
                let made = *self.rng.pick(&["POW", "POW1", "FIN", "FIN1"]);
                self.op(&p, &format!("(@ : {made}(@))"), &[Ty::pow(t.clone()), Ty::pow(t)], depth)
            }
            1 => {
                let made = *self.rng.pick(&["seq", "seq1", "iseq", "iseq1", "perm"]);
                self.op(&p, &format!("(@ : {made}(@))"), &[Ty::rel(Ty::Int, t.clone()), Ty::pow(t)], depth)
            }
            2 => {
                let arrow = *self.rng.pick(&[">+>>", "<<->", "<->>", "<<->>", "/<:"]);
                let kinds = [Ty::rel(t.clone(), u.clone()), Ty::pow(t.clone()), Ty::pow(u.clone())];
                match arrow {
                    "/<:" => self.op(&p, "(@ /<: @)", &[Ty::rel(t.clone(), u.clone()), Ty::rel(t, u)], depth),
                    _ => self.op(&p, &format!("(@ : @ {arrow} @)"), &kinds, depth),
                }
            }
            3 => self.bind_two(
                &p,
                "(!($,?).($:^ & ?:` & @ => @))",
                [&t, &u],
                &[Ty::Pred, Ty::Pred],
                depth.min(2),
            ),
            4 => self.bind_two(&p, "(#($,?).($:^ & ?:` & @))", [&t, &u], &[Ty::Pred], depth.min(2)),
            5 => self.op(&p, "(@ |-> @ : @)", &[t.clone(), u.clone(), Ty::rel(t, u)], depth),
            6 => self.op(&p, "(@ : INTEGER-NATURAL or @ : NATURAL1)", &[Ty::Int, Ty::Int], depth),
            7 => {
                let kinds = [Ty::Pred, Ty::Pred, Ty::Pred];
                self.op(&p, "(IF @ THEN @ ELSE @ END)", &kinds, depth)
            }
            _ => {
                let kinds = [Ty::rel(Ty::Int, Ty::Bool), Ty::pow(Ty::Int)];
                self.op(&p, "(@ : @ +-> {TRUE})", &kinds, depth)
            }
        }
    }

    fn predicate(&mut self, depth: usize) -> Term {
        if self.rng.chance(25) {
            return self.structured(depth);
        }
        let p = Ty::Pred;
        let t = Ty::random(self.rng, 1);
        match self.rng.below(17) {
            0 | 1 => self.op(&p, "(@ & @)", &[Ty::Pred, Ty::Pred], depth),
            2 => self.op(&p, "(@ or @)", &[Ty::Pred, Ty::Pred], depth),
            3 => self.op(&p, "(@ => @)", &[Ty::Pred, Ty::Pred], depth),
            4 => self.op(&p, "(@ <=> @)", &[Ty::Pred, Ty::Pred], depth),
            5 => self.op(&p, "not(@)", &[Ty::Pred], depth),
            6 => self.op(&p, "(@ = @)", &[t.clone(), t], depth),
            7 => self.op(&p, "(@ /= @)", &[t.clone(), t], depth),
            8 => self.op(&p, "(@ : @)", &[t.clone(), Ty::pow(t)], depth),
            9 => self.op(&p, "(@ /: @)", &[t.clone(), Ty::pow(t)], depth),
            10 => self.op(&p, "(@ <: @)", &[Ty::pow(t.clone()), Ty::pow(t)], depth),
            11 => self.op(&p, "(@ < @)", &[Ty::Int, Ty::Int], depth),
            12 => self.op(&p, "(@ <= @)", &[Ty::Int, Ty::Int], depth),
            13 => self.bind(&p, "(!$.($:^ & @ => @))", &t, &[Ty::Pred, Ty::Pred], depth.min(2)),
            14 => self.bind(&p, "(#$.($:^ & @))", &t, &[Ty::Pred], depth.min(2)),
            15 => {
                let (a, b) = (self.small_type(), self.small_type());
                let arrow = *self.rng.pick(&["+->", "-->", ">->", ">+>", "-->>", "+->>", ">->>", "<->"]);
                let template = format!("(@ : @ {arrow} @)");
                self.op(&p, &template, &[Ty::rel(a.clone(), b.clone()), Ty::pow(a), Ty::pow(b)], depth)
            }
            _ => self.op(&p, "(@ <<: @)", &[Ty::pow(t.clone()), Ty::pow(t)], depth),
        }
    }
}
