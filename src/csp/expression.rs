//! Tokens to expressions, by precedence climbing.
//!
//! In: the tokens from where an expression begins. Out: its tree. A larger level binds tighter:
//! 1 `\`, 2 `|||`, 3 parallel, 4 `|~|`, 5 `[]`, 6 `/\`, 7 `[>`, 8 `;`, 9 `->` and `&`, 10 fields, 11 `.`,
//! 12 `or`, 13 `and`, 14 `not`, 15 comparisons, 16 sums, 17 products, 18 unary, 19 `^`, 20 application.
//! Never here: declarations, names.

use super::parser::{DEPTH, Parsed, Parser};
use super::token::Tok;
use super::tree::{Binary, Combine, Each, Expr, Field, Kind, Over, Stmt, Unary};
use bombus_base::Span;

const NOT: u8 = 14;
const UNARY: u8 = 18;
const DOT: u8 = 11;

/// Pairs of events with generators.
type Pairs = (Vec<(Expr, Expr)>, Vec<Stmt>);

impl Parser<'_> {
    /// An expression of operators that bind at least as tight as `min`.
    pub(super) fn expr(&mut self, min: u8) -> Parsed<Expr> {
        self.depth += 1;
        if self.depth > DEPTH {
            return self.fail("this expression nests too deeply");
        }
        let mut left = self.operand()?;
        let mut fields = Vec::new();
        while let Tok::Op(op) = *self.peek() {
            let level = level(op, self.in_seq);
            let opens = op == "(" && self.tokens[self.at].first;
            if level == 0 || level < min || opens {
                break;
            }
            if matches!(op, "?" | "!" | "$") {
                fields.push(self.field(op)?);
                continue;
            }
            if !fields.is_empty() && op != "->" {
                break;
            }
            left = self.operator(op, level, left, std::mem::take(&mut fields))?;
        }
        if !fields.is_empty() {
            return self.fail("`->` is expected after a communication");
        }
        self.depth -= 1;
        Ok(left)
    }

    fn field(&mut self, op: &str) -> Parsed<Field> {
        self.next();
        let first = self.expr(DOT)?;
        if op == "!" {
            return Ok(Field::Output(first));
        }
        let within = if self.take(":") { Some(self.expr(DOT)?) } else { None };
        Ok(if op == "?" { Field::Input(first, within) } else { Field::Choice(first, within) })
    }

    fn operator(&mut self, op: &'static str, level: u8, left: Expr, fields: Vec<Field>) -> Parsed<Expr> {
        let start = left.span;
        let opened = self.span();
        self.next();
        let kind = match op {
            "->" => Kind::Prefix(left.into(), fields, self.expr(9)?.into()),
            "&" => Kind::Guard(left.into(), self.expr(9)?.into()),
            "." => {
                let mut parts = vec![left];
                parts.push(self.expr(DOT + 1)?);
                while self.take(".") {
                    parts.push(self.expr(DOT + 1)?);
                }
                Kind::Dot(parts)
            }
            "@@" => Kind::Both(left.into(), self.expr(DOT)?.into()),
            "\\" => Kind::Over(Over::Hide, left.into(), self.expr(DOT)?.into(), None),
            "|\\" => Kind::Over(Over::Project, left.into(), self.expr(DOT)?.into(), None),
            "[|" => {
                let set = self.bracketed(|p| p.expr(0))?;
                let over = if self.take("|>") {
                    Over::Exception
                } else {
                    self.close("|]", opened)?;
                    Over::Parallel
                };
                Kind::Over(over, left.into(), set.into(), Some(self.expr(level + 1)?.into()))
            }
            "[" => return self.between(left, level),
            "[+" | "/+" => {
                let set = self.bracketed(|p| p.expr(0))?;
                self.expect(if op == "[+" { "+]" } else { "+\\" })?;
                let over = if op == "[+" { Over::Choice } else { Over::Interrupt };
                Kind::Over(over, left.into(), set.into(), Some(self.expr(level + 1)?.into()))
            }
            "(" => {
                let args = self.bracketed(|p| p.list(")"))?;
                self.close(")", opened)?;
                Kind::Apply(left.into(), args)
            }
            "[[" => {
                let (pairs, stmts) = self.bracketed(|p| p.pairs("<-"))?;
                self.close("]]", opened)?;
                Kind::Rename(left.into(), pairs, stmts)
            }
            _ => {
                let right = self.expr(level + 1)?;
                binary(op, left.into(), right.into())
            }
        };
        Ok(Expr { kind, span: start.to(self.before()) })
    }

    /// `P [A || B] Q` and `P [c <-> d] Q`, after the bracket.
    fn between(&mut self, left: Expr, level: u8) -> Parsed<Expr> {
        let start = left.span;
        let first = self.bracketed(|p| p.expr(0))?;
        let kind = if self.take("||") {
            let second = self.bracketed(|p| p.expr(0))?;
            self.expect("]")?;
            let right = self.expr(level + 1)?;
            Kind::Alphabetised(left.into(), first.into(), second.into(), right.into())
        } else {
            let (pairs, stmts) = self.bracketed(|p| p.pairs_from(first, "<->"))?;
            self.expect("]")?;
            Kind::Link(left.into(), pairs, stmts, self.expr(level + 1)?.into())
        };
        Ok(Expr { kind, span: start.to(self.before()) })
    }

    /// Inside of brackets `>` compares again.
    fn bracketed<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let outer = std::mem::replace(&mut self.in_seq, false);
        let result = read(self)?;
        self.in_seq = outer;
        Ok(result)
    }

    fn pairs(&mut self, arrow: &str) -> Parsed<Pairs> {
        let first = self.expr(DOT)?;
        self.pairs_from(first, arrow)
    }

    fn pairs_from(&mut self, first: Expr, arrow: &str) -> Parsed<Pairs> {
        let mut pairs = Vec::new();
        let mut left = first;
        loop {
            self.expect(arrow)?;
            pairs.push((left, self.expr(DOT)?));
            if !self.take(",") {
                break;
            }
            left = self.expr(DOT)?;
        }
        let stmts = if self.take("|") { self.stmts()? } else { Vec::new() };
        Ok((pairs, stmts))
    }

    fn stmts(&mut self) -> Parsed<Vec<Stmt>> {
        let mut stmts = Vec::new();
        loop {
            let first = self.expr(DOT)?;
            if self.take("<-") || self.take(":") {
                stmts.push(Stmt::Generator(first, self.expr(DOT)?));
            } else {
                stmts.push(Stmt::Condition(first));
            }
            if !self.take(",") {
                return Ok(stmts);
            }
        }
    }

    pub(super) fn list(&mut self, close: &str) -> Parsed<Vec<Expr>> {
        let mut list = Vec::new();
        if self.is(close) {
            return Ok(list);
        }
        loop {
            list.push(self.expr(0)?);
            if !self.take(",") {
                return Ok(list);
            }
        }
    }

    fn operand(&mut self) -> Parsed<Expr> {
        let span = self.span();
        let tok = self.next();
        let kind = match tok {
            Tok::Name(name) if self.is_qualified() => Kind::Name(self.qualified(name)?),
            Tok::Name(name) => Kind::Name(name),
            Tok::Int(value) => Kind::Int(value),
            Tok::Char(c) => Kind::Char(c),
            Tok::Str(text) => Kind::Str(text),
            Tok::Op("_") => Kind::Wildcard,
            Tok::Op("true") => Kind::Bool(true),
            Tok::Op("false") => Kind::Bool(false),
            Tok::Op("not") => Kind::Unary(Unary::Not, self.expr(NOT)?.into()),
            Tok::Op("-") => Kind::Unary(Unary::Minus, self.expr(UNARY)?.into()),
            Tok::Op("#") => Kind::Unary(Unary::Length, self.expr(UNARY)?.into()),
            Tok::Op("if") => {
                let condition = self.expr(0)?;
                self.expect("then")?;
                let yes = self.expr(0)?;
                self.expect("else")?;
                Kind::If(condition.into(), yes.into(), self.expr(0)?.into())
            }
            Tok::Op("let") => {
                let decls = self.bracketed(|p| p.local_decls())?;
                self.expect("within")?;
                Kind::Let(decls, self.expr(0)?.into())
            }
            Tok::Op("\\") => {
                let mut params = vec![self.expr(DOT)?];
                while self.take(",") {
                    params.push(self.expr(DOT)?);
                }
                self.expect("@")?;
                Kind::Lambda(params, self.expr(0)?.into())
            }
            Tok::Op("(") => {
                let mut list = self.bracketed(|p| p.list(")"))?;
                self.close(")", span)?;
                if list.len() == 1 {
                    let inner = list.remove(0);
                    return Ok(Expr { kind: Kind::Tuple(vec![inner]), span: span.to(self.before()) });
                }
                Kind::Tuple(list)
            }
            Tok::Op("(|") => {
                let pairs = if self.is("|)") { Vec::new() } else { self.bracketed(|p| p.map())? };
                self.expect("|)")?;
                Kind::Map(pairs)
            }
            Tok::Op("<") => self.sequence(span)?,
            Tok::Op("{") => self.set(span)?,
            Tok::Op("{|") => self.productions(span)?,
            Tok::Op(op @ ("[]" | "|~|" | ";" | "|||" | "||" | "[|" | "[" | "[+")) => self.each(op)?,
            _ => {
                if tok != Tok::End {
                    self.at -= 1;
                }
                return self.fail("an expression is expected here");
            }
        };
        Ok(Expr { kind, span: span.to(self.before()) })
    }

    fn map(&mut self) -> Parsed<Vec<(Expr, Expr)>> {
        let mut pairs = Vec::new();
        loop {
            let key = self.expr(0)?;
            self.expect("=>")?;
            pairs.push((key, self.expr(0)?));
            if !self.take(",") {
                return Ok(pairs);
            }
        }
    }

    fn sequence(&mut self, opened: Span) -> Parsed<Kind> {
        let outer = std::mem::replace(&mut self.in_seq, true);
        let kind = if self.is(">") {
            Kind::Seq(Vec::new(), Vec::new())
        } else {
            let first = self.expr(0)?;
            if self.take("..") {
                let last = if self.is(">") || self.is("|") { None } else { Some(self.expr(0)?.into()) };
                let stmts = if self.take("|") { self.stmts()? } else { Vec::new() };
                Kind::SeqRange(first.into(), last, stmts)
            } else {
                let mut list = vec![first];
                while self.take(",") {
                    list.push(self.expr(0)?);
                }
                let stmts = if self.take("|") { self.stmts()? } else { Vec::new() };
                Kind::Seq(list, stmts)
            }
        };
        self.close(">", opened)?;
        self.in_seq = outer;
        Ok(kind)
    }

    fn set(&mut self, opened: Span) -> Parsed<Kind> {
        let outer = std::mem::replace(&mut self.in_seq, false);
        let kind = if self.is("}") {
            Kind::Set(Vec::new(), Vec::new())
        } else {
            let first = self.expr(0)?;
            if self.take("..") {
                let last = if self.is("}") || self.is("|") { None } else { Some(self.expr(0)?.into()) };
                let stmts = if self.take("|") { self.stmts()? } else { Vec::new() };
                Kind::SetRange(first.into(), last, stmts)
            } else {
                let mut list = vec![first];
                while self.take(",") {
                    list.push(self.expr(0)?);
                }
                let stmts = if self.take("|") { self.stmts()? } else { Vec::new() };
                Kind::Set(list, stmts)
            }
        };
        self.close("}", opened)?;
        self.in_seq = outer;
        Ok(kind)
    }

    fn productions(&mut self, opened: Span) -> Parsed<Kind> {
        let outer = std::mem::replace(&mut self.in_seq, false);
        let list = self.list("|}")?;
        let stmts = if self.take("|") { self.stmts()? } else { Vec::new() };
        self.close("|}", opened)?;
        self.in_seq = outer;
        Ok(Kind::Productions(list, stmts))
    }

    /// A replicated operator, after its sign.
    fn each(&mut self, op: &str) -> Parsed<Kind> {
        let outer = std::mem::replace(&mut self.in_seq, false);
        let mut each = match op {
            "[]" => Each::External,
            "|~|" => Each::Internal,
            ";" => Each::Sequence,
            "|||" => Each::Interleave,
            "[|" => {
                let set = self.expr(0)?;
                self.expect("|]")?;
                Each::Parallel(set.into())
            }
            "[+" => {
                let set = self.expr(0)?;
                self.expect("+]")?;
                Each::Choice(set.into())
            }
            "[" => {
                let (pairs, stmts) = self.pairs("<->")?;
                self.expect("]")?;
                Each::Link(pairs, stmts)
            }
            // The alphabet follows the generators.
            _ => Each::Interleave,
        };
        let stmts = self.stmts()?;
        self.expect("@")?;
        if op == "||" {
            self.expect("[")?;
            let alphabet = self.expr(0)?;
            self.expect("]")?;
            each = Each::Alphabetised(alphabet.into());
        }
        self.in_seq = outer;
        Ok(Kind::Each(each, stmts, self.expr(0)?.into()))
    }
}

/// How tight an operator binds after an operand; 0 if it is none there.
fn level(op: &str, in_seq: bool) -> u8 {
    match op {
        "\\" | "|\\" => 1,
        "|||" => 2,
        "[|" | "[" => 3,
        "|~|" => 4,
        "[]" | "[+" => 5,
        "/\\" | "/+" => 6,
        "[>" => 7,
        ";" => 8,
        "->" | "&" => 9,
        "?" | "!" | "$" => 10,
        "." | "@@" => DOT,
        "or" => 12,
        "and" => 13,
        ">" if in_seq => 0,
        "==" | "!=" | "<" | "<=" | ">" | ">=" => 15,
        "+" | "-" => 16,
        "*" | "/" | "%" => 17,
        "^" => 19,
        "(" | "[[" => 20,
        _ => 0,
    }
}

fn binary(op: &str, left: Box<Expr>, right: Box<Expr>) -> Kind {
    let binary = match op {
        "or" => Binary::Or,
        "and" => Binary::And,
        "==" => Binary::Eq,
        "!=" => Binary::Ne,
        "<" => Binary::Lt,
        "<=" => Binary::Le,
        ">" => Binary::Gt,
        ">=" => Binary::Ge,
        "+" => Binary::Add,
        "-" => Binary::Sub,
        "*" => Binary::Mul,
        "/" => Binary::Div,
        "%" => Binary::Mod,
        "^" => Binary::Concat,
        process => {
            let combine = match process {
                "|||" => Combine::Interleave,
                "|~|" => Combine::Internal,
                "[]" => Combine::External,
                "/\\" => Combine::Interrupt,
                "[>" => Combine::Timeout,
                _ => Combine::Sequence,
            };
            return Kind::Combine(combine, left, right);
        }
    };
    Kind::Binary(binary, left, right)
}

/// The inner expression of brackets that only group.
pub fn ungrouped(expr: &Expr) -> &Expr {
    match &expr.kind {
        Kind::Tuple(list) if list.len() == 1 => ungrouped(&list[0]),
        _ => expr,
    }
}
