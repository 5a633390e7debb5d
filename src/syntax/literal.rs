//! Literals: numbers, strings, and template strings with the expressions inside them.
//!
//! In: tokens. Out: nodes. Never here: names, and the finding of where a literal ends (that is `lexer`).

use super::ast::{ExprKind, TemplatePart};
use super::lexer::unescape;
use super::parser::{Failed, Node, Parse, Parser, Sort};
use super::token::Tok;
use bombus_base::diagnostic::Diagnostic;
use bombus_base::{Int, Name, Span};

impl<'t> Parser<'t> {
    #[inline(never)]
    pub fn literal(&mut self) -> Parse<Node> {
        let tok = self.peek();
        let span = self.advance();
        let text = self.slice(span);
        let kind = match tok {
            Tok::Int => {
                let value = match text.strip_prefix("0x") {
                    Some(digits) => Int::parse(digits, 16),
                    None => Int::parse(text, 10),
                };
                ExprKind::Int(value.expect("the lexer read digits only"))
            }
            Tok::Real => ExprKind::Real(self.intern(text)),
            Tok::Str => ExprKind::Str(string_content(text, 1)),
            _ => ExprKind::Str(string_content(text, 3)),
        };
        self.value(kind, span)
    }

    /// A string with parts `${E}`. Options between `$` and `{` would change the text, so they are refused.
    #[inline(never)]
    pub fn template(&mut self) -> Parse<Node> {
        let span = self.advance();
        let (start, end) = (span.start as usize + 3, span.end as usize - 3);
        let mut parts = Vec::new();
        let mut below = 0;
        let mut text_from = start;
        let mut at = start;
        let bytes = self.text.as_bytes();
        while at < end {
            match bytes[at] {
                b'\\' => at += 2,
                b'$' if self.text[at + 1..end].starts_with(['«', '<']) => {
                    let place = Span::new(self.file, at, at + 1);
                    let message = "formatting options of template strings are not supported";
                    return self.fail(Diagnostic::error(place, message));
                }
                b'$' if at + 1 < end && bytes[at + 1] == b'{' => {
                    if text_from < at {
                        parts.push(TemplatePart::Text(Name::from(unescape_template(
                            &self.text[text_from..at],
                        ))));
                    }
                    let Some(close) = closing_brace(&self.text[..end], at + 2) else {
                        let place = Span::new(self.file, at, at + 2);
                        return self.fail(Diagnostic::error(place, "this `${` is not closed by `}`"));
                    };
                    let node = self.part(at + 2, close)?;
                    below = node.depth.max(below);
                    parts.push(TemplatePart::Expr(node.expr));
                    at = close + 1;
                    text_from = at;
                }
                _ => at += 1,
            }
        }
        if text_from < end {
            parts.push(TemplatePart::Text(Name::from(unescape_template(&self.text[text_from..end]))));
        }
        self.node(ExprKind::Template(parts), span, Sort::Expression, below)
    }

    /// The expression of a template part, read by a parser of its own over the same text.
    #[inline(never)]
    fn part(&mut self, from: usize, to: usize) -> Parse<Node> {
        let mut inner = self.inside(from, to);
        let result = inner.in_par().and_then(|node| match inner.peek() {
            Tok::Eof => Ok(node),
            _ => inner.unexpected("`}`"),
        });
        let failed = !inner.diagnostics.is_empty();
        for diagnostic in inner.diagnostics {
            self.report(diagnostic);
        }
        if failed { Err(Failed) } else { result }
    }
}

/// The content of a string between fences of the given length; an unclosed string lacks the last.
fn string_content(text: &str, fence: usize) -> Name {
    let inner = text.get(fence..text.len() - fence).filter(|_| text.len() >= 2 * fence).unwrap_or("");
    Name::from(unescape(inner, &[]))
}

/// A literal `$` or back-quote is escaped inside templates.
fn unescape_template(raw: &str) -> String {
    unescape(raw, &['$', '`'])
}

/// The `}` that closes a part of a template opened before `from`; those in strings and in
/// back-quoted names do not count.
fn closing_brace(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut open = 0usize;
    let mut quote = None;
    let mut at = from;
    while at < bytes.len() {
        match (bytes[at], quote) {
            (b'\\', Some(_)) => at += 1,
            (byte @ (b'"' | b'`'), None) => quote = Some(byte),
            (byte, Some(closing)) if byte == closing => quote = None,
            (_, Some(_)) => {}
            (b'{', None) => open += 1,
            (b'}', None) if open == 0 => return Some(at),
            (b'}', None) => open -= 1,
            _ => {}
        }
        at += 1;
    }
    None
}
