//! Propositions over states that are vectors of numbers: comparisons of sums, joined by connectives.
//!
//! In: a text such as `tokens(p) <= q + 2 & not enabled(t)`, and whoever knows the names. Out: a tree
//! that is evaluated on a state, or every fault with its place.
//! Never here: temporal operators, how numbers are packed.

use bombus_base::diagnostic::Diagnostic;
use bombus_base::span::Span;

/// Deeper nesting is refused, so that no text exhausts the stack.
const DEPTH: usize = 200;

/// Who knows the names in a proposition.
pub trait Names {
    /// What the numbers of a state are called in messages: "place", "variable".
    fn noun(&self) -> &str;
    /// The number with this name; `Err` says that several have it.
    fn number(&self, name: &str) -> Result<Option<usize>, String>;
    /// The event with this name; `Err` says that several have it.
    fn event(&self, name: &str) -> Result<Option<usize>, String>;
    /// The value of a number that has this name.
    fn value(&self, _number: usize, _name: &str) -> Option<u64> {
        None
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proposition {
    Constant(bool),
    Not(Box<Proposition>),
    And(Vec<Proposition>),
    Or(Vec<Proposition>),
    /// A sum of numbers with factors, plus a constant, compared with 0.
    Compare {
        factors: Vec<(usize, i64)>,
        constant: i64,
        how: Compare,
    },
    Enabled(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
}

impl Proposition {
    /// Whether it holds where the numbers and the enabled events are these.
    pub fn holds(&self, number: &impl Fn(usize) -> u64, enabled: &impl Fn(usize) -> bool) -> bool {
        match self {
            Proposition::Constant(truth) => *truth,
            Proposition::Not(p) => !p.holds(number, enabled),
            Proposition::And(all) => all.iter().all(|p| p.holds(number, enabled)),
            Proposition::Or(all) => all.iter().any(|p| p.holds(number, enabled)),
            Proposition::Enabled(event) => enabled(*event),
            Proposition::Compare { factors, constant, how } => {
                // Factors are below 2^31 and numbers below 2^64: fewer than 2^32 terms stay in the range.
                let term = |&(at, factor): &(usize, i64)| i128::from(number(at)) * i128::from(factor);
                let sum = factors.iter().map(term).sum::<i128>() + i128::from(*constant);
                match how {
                    Compare::Equal => sum == 0,
                    Compare::Unequal => sum != 0,
                    Compare::Less => sum < 0,
                    Compare::AtMost => sum <= 0,
                    Compare::More => sum > 0,
                    Compare::AtLeast => sum >= 0,
                }
            }
        }
    }

    /// Calls back for each number and each event that the truth depends on.
    pub fn visit(&self, number: &mut impl FnMut(usize), event: &mut impl FnMut(usize)) {
        let mut open = vec![self];
        while let Some(p) = open.pop() {
            match p {
                Proposition::Constant(_) => {}
                Proposition::Not(p) => open.push(p),
                Proposition::And(all) | Proposition::Or(all) => open.extend(all),
                Proposition::Enabled(e) => event(*e),
                Proposition::Compare { factors, .. } => factors.iter().for_each(|(at, _)| number(*at)),
            }
        }
    }
}

/// Reads a proposition; `at` is where its text stands.
pub fn read(text: &str, at: Span, names: &dyn Names) -> Result<Proposition, Vec<Diagnostic>> {
    let tokens = tokens(text).map_err(|(start, message)| vec![fault(at, start, start + 1, message)])?;
    let mut reader = Reader { at, tokens, next: 0, names, faults: Vec::new(), depth: 0, end: text.len() };
    let read = reader.implication();
    if read.is_some() && reader.next < reader.tokens.len() {
        reader.complain("this is left over: `&`, `or` or `=>` joins two propositions");
    }
    match read {
        Some(proposition) if reader.faults.is_empty() => Ok(proposition),
        _ => Err(reader.faults),
    }
}

fn fault(at: Span, start: usize, end: usize, message: impl Into<String>) -> Diagnostic {
    let begin = at.start as usize;
    Diagnostic::error(Span::new(at.file, begin + start, begin + end), message)
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Name(String),
    /// A name in quotation marks: never a word of the language.
    Quoted(String),
    Number(i64),
    Sign(&'static str),
}

type Placed = (Token, usize, usize);

/// Longer signs stand before those that they begin with.
const SIGNS: [&str; 20] = [
    "<=>", "<=", ">=", "==", "!=", "/=", "=>", "&&", "||", "<", ">", "=", "&", "|", "!", "(", ")", "+", "-",
    "*",
];

fn tokens(text: &str) -> Result<Vec<Placed>, (usize, String)> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        } else if c == '"' || c == '\'' {
            let inner = rest[1..].find(c).ok_or((at, "this quotation has no end".to_string()))?;
            out.push((Token::Quoted(rest[1..1 + inner].to_string()), at, at + inner + 2));
            inner + 2
        } else if c.is_ascii_digit() {
            let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let number = rest[..length].parse().map_err(|_| (at, "this number is too large".to_string()))?;
            out.push((Token::Number(number), at, at + length));
            length
        } else if c.is_alphabetic() || c == '_' {
            let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '[' | ']' | '#' | '$');
            let length = rest.find(|c: char| !part(c)).unwrap_or(rest.len());
            out.push((Token::Name(rest[..length].to_string()), at, at + length));
            length
        } else if c == ',' {
            out.push((Token::Sign(","), at, at + 1));
            1
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            out.push((Token::Sign(sign), at, at + sign.len()));
            sign.len()
        } else {
            return Err((at, format!("`{c}` has no meaning here")));
        };
        at += length;
    }
    Ok(out)
}

struct Reader<'a> {
    at: Span,
    tokens: Vec<Placed>,
    next: usize,
    names: &'a dyn Names,
    faults: Vec<Diagnostic>,
    depth: usize,
    end: usize,
}

/// A sum that is being read: factors and constant, or a name that is no number and may be a value.
#[derive(Default)]
struct Sum {
    factors: Vec<(usize, i64)>,
    constant: i64,
    value: Option<(String, usize, usize)>,
}

impl Reader<'_> {
    fn complain(&mut self, message: impl Into<String>) {
        let (start, end) = self.tokens.get(self.next).map_or((self.end, self.end), |t| (t.1, t.2));
        self.faults.push(fault(self.at, start, end, message));
    }

    fn takes(&mut self, words: &[&str]) -> bool {
        let fits = match self.tokens.get(self.next) {
            Some((Token::Sign(sign), ..)) => words.contains(sign),
            Some((Token::Name(name), ..)) => words.contains(&name.as_str()),
            _ => false,
        };
        self.next += usize::from(fits);
        fits
    }

    fn implication(&mut self) -> Option<Proposition> {
        self.depth += 1;
        if self.depth > DEPTH {
            self.complain("this proposition is nested too deep");
            return None;
        }
        let mut left = self.disjunction()?;
        loop {
            left = if self.takes(&["=>"]) {
                Proposition::Or(vec![Proposition::Not(Box::new(left)), self.disjunction()?])
            } else if self.takes(&["<=>"]) {
                let right = self.disjunction()?;
                let not = |p: &Proposition| Proposition::Not(Box::new(p.clone()));
                let neither = Proposition::And(vec![not(&left), not(&right)]);
                Proposition::Or(vec![Proposition::And(vec![left, right]), neither])
            } else {
                break;
            };
        }
        self.depth -= 1;
        Some(left)
    }

    fn disjunction(&mut self) -> Option<Proposition> {
        let mut all = vec![self.conjunction()?];
        while self.takes(&["or", "|", "||"]) {
            all.push(self.conjunction()?);
        }
        if all.len() == 1 { all.pop() } else { Some(Proposition::Or(all)) }
    }

    fn conjunction(&mut self) -> Option<Proposition> {
        let mut all = vec![self.negation()?];
        while self.takes(&["and", "&", "&&"]) {
            all.push(self.negation()?);
        }
        if all.len() == 1 { all.pop() } else { Some(Proposition::And(all)) }
    }

    fn negation(&mut self) -> Option<Proposition> {
        let mut negative = false;
        while self.takes(&["not", "!"]) {
            negative = !negative;
        }
        let inner = self.atom()?;
        Some(if negative { Proposition::Not(Box::new(inner)) } else { inner })
    }

    fn atom(&mut self) -> Option<Proposition> {
        if self.takes(&["true"]) {
            return Some(Proposition::Constant(true));
        }
        if self.takes(&["false"]) {
            return Some(Proposition::Constant(false));
        }
        if self.takes(&["enabled"]) {
            return self.enabled();
        }
        // `(` opens a proposition or a sum; the sum is tried when the proposition fails.
        let before = (self.next, self.faults.len(), self.depth);
        if self.takes(&["("]) {
            let inner = self.implication();
            let closed = inner.is_some() && self.takes(&[")"]);
            let sum_goes_on = ["+", "-", "*", "<", "<=", ">", ">=", "=", "==", "!=", "/="];
            let compared =
                matches!(self.tokens.get(self.next), Some((Token::Sign(s), ..)) if sum_goes_on.contains(s));
            if closed && !compared {
                return inner;
            }
            if before.2 >= DEPTH {
                return None;
            }
            self.next = before.0;
            let told = self.faults.split_off(before.1);
            self.depth = before.2;
            let compared = self.comparison();
            if compared.is_none() {
                // The first reading went as far as the text allows.
                self.faults.truncate(before.1);
                self.faults.extend(told);
                if self.faults.len() == before.1 {
                    self.complain("a proposition is expected here");
                }
            }
            return compared;
        }
        self.comparison()
    }

    /// `enabled(t, u)`: one of them is.
    fn enabled(&mut self) -> Option<Proposition> {
        if !self.takes(&["("]) {
            self.complain("`enabled` is followed by names in parentheses");
            return None;
        }
        let mut all = Vec::new();
        loop {
            let (name, start, end) = self.name()?;
            match self.names.event(&name) {
                Ok(Some(event)) => all.push(Proposition::Enabled(event)),
                Ok(None) => {
                    self.faults.push(fault(self.at, start, end, format!("there is no event `{name}`")))
                }
                Err(why) => self.faults.push(fault(self.at, start, end, why)),
            }
            if self.takes(&[","]) {
                continue;
            }
            if self.takes(&[")"]) {
                return if all.len() == 1 { all.pop() } else { Some(Proposition::Or(all)) };
            }
            self.complain("`,` or `)` is expected here");
            return None;
        }
    }

    fn name(&mut self) -> Option<(String, usize, usize)> {
        let found = match self.tokens.get(self.next) {
            Some((Token::Name(name) | Token::Quoted(name), start, end)) => (name.clone(), *start, *end),
            _ => {
                self.complain("a name is expected here");
                return None;
            }
        };
        self.next += 1;
        Some(found)
    }

    fn comparison(&mut self) -> Option<Proposition> {
        let left = self.sum()?;
        let how = match self.tokens.get(self.next) {
            Some((Token::Sign("=" | "=="), ..)) => Compare::Equal,
            Some((Token::Sign("!=" | "/="), ..)) => Compare::Unequal,
            Some((Token::Sign("<"), ..)) => Compare::Less,
            Some((Token::Sign("<="), ..)) => Compare::AtMost,
            Some((Token::Sign(">"), ..)) => Compare::More,
            Some((Token::Sign(">="), ..)) => Compare::AtLeast,
            _ => {
                self.complain("a comparison is expected here: = /= < <= > >=");
                return None;
            }
        };
        self.next += 1;
        let right = self.sum()?;
        let (left, right) = self.values(left, right);
        let mut factors = left.factors;
        factors.extend(right.factors.iter().map(|(at, factor)| (*at, -factor)));
        let Some(constant) = left.constant.checked_sub(right.constant) else {
            self.complain("the numbers of this comparison are too large");
            return None;
        };
        Some(Proposition::Compare { factors, constant, how })
    }

    /// Names of values mean something beside a single number.
    fn values(&mut self, mut left: Sum, mut right: Sum) -> (Sum, Sum) {
        for swap in [false, true] {
            let (named, other) = if swap { (&mut right, &left) } else { (&mut left, &right) };
            let Some((name, start, end)) = named.value.take() else { continue };
            let value = match other.factors[..] {
                [(number, 1)] => self.names.value(number, &name),
                _ => None,
            };
            match value.and_then(|value| i64::try_from(value).ok()) {
                Some(value) => named.constant += value,
                None => {
                    let message = format!("there is no {} `{name}`", self.names.noun());
                    self.faults.push(fault(self.at, start, end, message));
                }
            }
        }
        (left, right)
    }

    fn sum(&mut self) -> Option<Sum> {
        let mut sum = Sum::default();
        let mut sign = if self.takes(&["-"]) { -1 } else { 1 };
        loop {
            self.term(sign, &mut sum)?;
            sign = if self.takes(&["+"]) {
                1
            } else if self.takes(&["-"]) {
                -1
            } else {
                return Some(sum);
            };
        }
    }

    fn term(&mut self, sign: i64, sum: &mut Sum) -> Option<()> {
        if self.takes(&["("]) {
            self.depth += 1;
            if self.depth > DEPTH {
                self.complain("this proposition is nested too deep");
                return None;
            }
            let inner = self.sum()?;
            self.depth -= 1;
            if !self.takes(&[")"]) {
                self.complain("`)` is expected here");
                return None;
            }
            sum.factors.extend(inner.factors.iter().map(|(at, factor)| (*at, sign * factor)));
            return self.add(sum, inner.constant.checked_mul(sign));
        }
        if let Some((Token::Number(number), ..)) = self.tokens.get(self.next) {
            let number = *number * sign;
            self.next += 1;
            if self.takes(&["*"]) {
                if number.abs() > i64::from(i32::MAX) {
                    self.complain("the factor before this name is too large");
                    return None;
                }
                return self.numbers(number, sum);
            }
            return self.add(sum, Some(number));
        }
        self.numbers(sign, sum)
    }

    fn add(&mut self, sum: &mut Sum, more: Option<i64>) -> Option<()> {
        match more.and_then(|more| sum.constant.checked_add(more)) {
            Some(total) => sum.constant = total,
            None => {
                self.complain("the numbers of this comparison are too large");
                return None;
            }
        }
        Some(())
    }

    /// `p`, or `tokens(p, q)` for the sum of several.
    fn numbers(&mut self, factor: i64, sum: &mut Sum) -> Option<()> {
        let quoted = matches!(self.tokens.get(self.next), Some((Token::Quoted(_), ..)));
        let first = self.name()?;
        if quoted || first.0 != "tokens" || !self.takes(&["("]) {
            return self.number(first, factor, sum);
        }
        loop {
            let name = self.name()?;
            self.number(name, factor, sum)?;
            if self.takes(&[","]) {
                continue;
            }
            if self.takes(&[")"]) {
                return Some(());
            }
            self.complain("`,` or `)` is expected here");
            return None;
        }
    }

    fn number(&mut self, name: (String, usize, usize), factor: i64, sum: &mut Sum) -> Option<()> {
        match self.names.number(&name.0) {
            Ok(Some(number)) => sum.factors.push((number, factor)),
            Ok(None) if factor == 1 && sum.value.is_none() && sum.factors.is_empty() => {
                sum.value = Some(name)
            }
            Ok(None) => {
                let message = format!("there is no {} `{}`", self.names.noun(), name.0);
                self.faults.push(fault(self.at, name.1, name.2, message));
            }
            Err(why) => self.faults.push(fault(self.at, name.1, name.2, why)),
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Letters;

    impl Names for Letters {
        fn noun(&self) -> &str {
            "letter"
        }

        fn number(&self, name: &str) -> Result<Option<usize>, String> {
            Ok(["a", "b", "c-d"].iter().position(|n| *n == name))
        }

        fn event(&self, name: &str) -> Result<Option<usize>, String> {
            if name == "twice" { Err("two events are called `twice`".into()) } else { self.number(name) }
        }

        fn value(&self, _: usize, name: &str) -> Option<u64> {
            (name == "seven").then_some(7)
        }
    }

    fn holds(text: &str) -> bool {
        let p = read(text, Span::default(), &Letters).unwrap_or_else(|d| panic!("{text}: {d:?}"));
        p.holds(&|at| [3, 7, 0][at], &|event| event == 1)
    }

    #[test]
    fn sums_are_compared_and_connectives_bind_as_usual() {
        for text in [
            "a = 3",
            "tokens(a) + 4 = b",
            "tokens(a, b) >= 10 & b = seven",
            "seven = b",
            "2 * a <= b",
            "2*a - b = -1",
            "(a + 1) <= (b)",
            "not a > b or false",
            "a > b => b > a",
            "(a > b) <=> \"c-d\" /= 0",
            "!(a == 3 && b != 7)",
            "enabled(b) & not enabled(a)",
            "enabled(a, b)",
            "((a = 3))",
            "false or true & true",
        ] {
            assert!(holds(text), "{text}");
        }
        assert!(!holds("a = 3 => b = 3"));
        assert!(!holds("enabled('c-d')"));
    }

    #[test]
    fn faults_are_told_with_their_place() {
        let told = |text: &str| {
            let faults = read(text, Span::default(), &Letters).expect_err(text);
            (faults[0].message.clone(), faults[0].labels[0].0.start)
        };
        assert_eq!(told("a = 3 & x > 1"), ("there is no letter `x`".into(), 8));
        assert_eq!(told("enabled(z)"), ("there is no event `z`".into(), 8));
        assert_eq!(told("enabled(twice)").1, 8);
        assert!(told("a").0.contains("comparison"));
        assert!(told("a = 3 b").0.contains("left over"));
        assert!(told("a = 99999999999999999999").0.contains("too large"));
        assert!(told("a = 'b").0.contains("no end"));
        assert!(told("").0.contains("expected"));
        assert!(told("a ; b").0.contains("no meaning"));
        assert!(told(&"(".repeat(5000)).0.contains("nested too deep"));
        assert!(told(&"not (".repeat(5000)).0.contains("nested too deep"));
    }
}
