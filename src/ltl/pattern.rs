//! Pattern files: definitions with parameters that formulas call, expanded before anything is parsed.
//!
//! In: the text of a file. Out: its formulas without calls, each with the line it stands on; or faults by
//! line. Never here: what a formula means.
//!
//! One statement on each line. `def name(p, n:num):` begins a definition; lines `var v: formula`,
//! `num v: number`, `v: new value` and `count i: 1 up to n:` … `end` may follow, and the first formula
//! ends it. Parameters and variables stand for whole formulas: they are put into parentheses. Scopes and
//! sequences of ProB's pattern language (`before`, `seq`, …) are refused, for nothing we know fixes
//! their meaning at the ends of finite paths.

use super::token::is_call;
use std::collections::BTreeMap;

/// A formula of the file, ready to be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready {
    /// Byte offset of the formula as written, and what it is.
    pub offset: usize,
    pub written: String,
    /// The same if there was nothing to expand.
    pub expanded: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where the line stands in the file.
    pub start: usize,
    pub end: usize,
    pub message: String,
}

/// Calls inside calls beyond this depth are taken for a pattern that calls itself.
const MAX_CALLS: usize = 64;
/// Bytes of an expanded formula.
const MAX_TEXT: usize = 1 << 16;
/// Rounds of all loops of one call.
const MAX_ROUNDS: usize = 1000;

const REFUSED: &[&str] = &["before", "after", "between", "after_until", "seq", "without"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    Formula,
    Number,
}

#[derive(Clone, Debug)]
enum Given {
    Formula(String),
    Number(i64),
}

struct Definition<'t> {
    parameters: Vec<(&'t str, Sort)>,
    body: Vec<Statement<'t>>,
    result: &'t str,
}

enum Statement<'t> {
    /// `var v: …`, `num v: …`, or `v: …` for one that exists.
    Set {
        name: &'t str,
        sort: Option<Sort>,
        value: &'t str,
    },
    Count {
        name: &'t str,
        from: &'t str,
        up: bool,
        to: &'t str,
        body: Vec<Statement<'t>>,
    },
}

/// Definitions by name and number of parameters.
type Library<'t> = BTreeMap<(&'t str, usize), Definition<'t>>;
type Scope<'t> = BTreeMap<&'t str, Given>;

#[derive(Clone, Copy)]
struct Line<'t> {
    offset: usize,
    text: &'t str,
}

/// Reads a file of definitions and formulas.
pub fn read(text: &str) -> Result<Vec<Ready>, Vec<Fault>> {
    let mut lines = Vec::new();
    let mut offset = 0;
    for raw in text.split_inclusive('\n') {
        let line = raw.trim();
        // `#x.(…)` is a quantified formula, any other `#` begins a comment.
        if !(line.is_empty() || line.starts_with("//") || line.starts_with('#') && !is_quantifier(line)) {
            lines.push(Line { offset: offset + raw.len() - raw.trim_start().len(), text: line });
        }
        offset += raw.len();
    }
    let fault = |line: &Line<'_>, message: String| Fault {
        start: line.offset,
        end: line.offset + line.text.len(),
        message,
    };
    let mut library = Library::new();
    let mut formulas = Vec::new();
    let mut faults = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        at += 1;
        let Some(header) = keyword(line.text, "def") else {
            formulas.push(line);
            continue;
        };
        match definition(header, &lines, &mut at) {
            Ok((name, d)) => {
                if library.insert((name, d.parameters.len()), d).is_some() {
                    faults.push(fault(&line, format!("`{name}` is defined twice for so many parameters")));
                }
            }
            Err(message) => faults.push(fault(&line, message)),
        }
    }
    let mut ready = Vec::new();
    for line in formulas {
        match expand(line.text, &Scope::new(), &library, 0) {
            Ok(expanded) => {
                ready.push(Ready { offset: line.offset, written: line.text.to_string(), expanded })
            }
            Err(message) => faults.push(fault(&line, message)),
        }
    }
    if faults.is_empty() { Ok(ready) } else { Err(faults) }
}

/// Whether a line begins with `#x.(`.
fn is_quantifier(line: &str) -> bool {
    let rest = line.trim_start_matches('#').trim_start();
    let name = name_of(rest);
    let after = rest[name.len()..].trim_start().strip_prefix('.');
    name.starts_with(char::is_alphabetic) && after.is_some_and(|body| body.trim_start().starts_with('('))
}

fn name_of(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    &text[..end]
}

/// What follows a word that stands alone at the beginning.
fn keyword<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    text.strip_prefix(word).filter(|rest| rest.starts_with(char::is_whitespace)).map(str::trim)
}

/// `name: rest`, where the colon is no part of a formula.
fn labelled(text: &str) -> Option<(&str, &str)> {
    let name = name_of(text);
    let rest = text[name.len()..].trim_start().strip_prefix(':')?;
    name.starts_with(char::is_alphabetic).then_some((name, rest.trim()))
}

fn definition<'t>(
    header: &'t str,
    lines: &[Line<'t>],
    at: &mut usize,
) -> Result<(&'t str, Definition<'t>), String> {
    const SHAPE: &str = "a definition is written `def name(p, q, n:num):`";
    let name = name_of(header);
    let rest = header[name.len()..].trim_start().strip_prefix('(').ok_or(SHAPE)?;
    let (list, rest) = rest.split_once(')').ok_or(SHAPE)?;
    let rest = rest.trim_start().strip_prefix(':').ok_or(SHAPE)?.trim();
    if name.is_empty() || is_call(name) || REFUSED.contains(&name) {
        return Err(format!("`{name}` cannot be the name of a pattern"));
    }
    let mut parameters = Vec::new();
    for one in list.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let (name, sort) = one.split_once(':').map_or((one, "var"), |(n, s)| (n.trim(), s.trim()));
        let sort = match sort {
            "var" => Sort::Formula,
            "num" => Sort::Number,
            other => return Err(format!("a parameter is a formula or a `num`, not a `{other}`")),
        };
        if name_of(name) != name || name.is_empty() {
            return Err(SHAPE.into());
        }
        parameters.push((name, sort));
    }
    if !rest.is_empty() {
        return Ok((name, Definition { parameters, body: Vec::new(), result: rest }));
    }
    let body = statements(lines, at)?;
    let result = lines.get(*at).filter(|l| l.text != "end" && keyword(l.text, "def").is_none());
    let result = result.ok_or_else(|| format!("the definition of `{name}` has no formula"))?.text;
    *at += 1;
    Ok((name, Definition { parameters, body, result }))
}

fn statements<'t>(lines: &[Line<'t>], at: &mut usize) -> Result<Vec<Statement<'t>>, String> {
    let mut all = Vec::new();
    while let Some(line) = lines.get(*at) {
        let statement = if let Some(rest) = keyword(line.text, "count") {
            *at += 1;
            const SHAPE: &str = "a loop is written `count i: 1 up to n:` and ends with `end`";
            let (name, rest) = labelled(rest).ok_or(SHAPE)?;
            let rest = rest.strip_suffix(':').ok_or(SHAPE)?;
            let up = rest.contains(" up to ");
            let (from, to) = rest.split_once(if up { " up to " } else { " down to " }).ok_or(SHAPE)?;
            let body = statements(lines, at)?;
            if lines.get(*at).map(|l| l.text) != Some("end") {
                return Err(SHAPE.into());
            }
            Statement::Count { name, from: from.trim(), up, to: to.trim(), body }
        } else {
            let sorts = [("var", Sort::Formula), ("num", Sort::Number)];
            let declared = sorts.iter().find_map(|(word, sort)| {
                let (name, value) = labelled(keyword(line.text, word)?)?;
                Some(Statement::Set { name, sort: Some(*sort), value })
            });
            let assigned = || {
                let (name, value) = labelled(line.text)?;
                Some(Statement::Set { name, sort: None, value })
            };
            match declared.or_else(assigned) {
                Some(set) => set,
                None => break,
            }
        };
        all.push(statement);
        *at += 1;
    }
    Ok(all)
}

fn number(text: &str, scope: &Scope<'_>) -> Result<i64, String> {
    let text = text.trim();
    if let Some(at) = text.rfind(['+', '-']).filter(|at| *at > 0) {
        let (left, right) = (number(&text[..at], scope)?, number(&text[at + 1..], scope)?);
        let sum = if text[at..].starts_with('+') { left.checked_add(right) } else { left.checked_sub(right) };
        return sum.ok_or_else(|| format!("`{text}` is too large"));
    }
    match scope.get(text) {
        Some(Given::Number(n)) => Ok(*n),
        _ => text.parse().map_err(|_| format!("`{text}` is not a number")),
    }
}

fn execute<'t>(
    statements: &[Statement<'t>],
    scope: &mut Scope<'t>,
    library: &Library<'_>,
    depth: usize,
    rounds: &mut usize,
) -> Result<(), String> {
    for statement in statements {
        match statement {
            Statement::Set { name, sort, value } => {
                let known = scope.get(name).map(|given| match given {
                    Given::Formula(_) => Sort::Formula,
                    Given::Number(_) => Sort::Number,
                });
                let sort = match (sort, known) {
                    (Some(sort), None) => *sort,
                    (Some(_), Some(_)) => return Err(format!("`{name}` exists already")),
                    (None, Some(sort)) => sort,
                    (None, None) => return Err(format!("`{name}` was not defined by `var` or `num`")),
                };
                let given = match sort {
                    Sort::Formula => Given::Formula(expand(value, scope, library, depth)?),
                    Sort::Number => Given::Number(number(value, scope)?),
                };
                scope.insert(name, given);
            }
            Statement::Count { name, from, up, to, body } => {
                let (from, to) = (number(from, scope)?, number(to, scope)?);
                let before = scope.get(name).cloned();
                let mut i = from;
                while if *up { i <= to } else { i >= to } {
                    *rounds += 1;
                    if *rounds > MAX_ROUNDS {
                        return Err(format!("loops of more than {MAX_ROUNDS} rounds"));
                    }
                    scope.insert(name, Given::Number(i));
                    execute(body, scope, library, depth, rounds)?;
                    i += if *up { 1 } else { -1 };
                }
                match before {
                    Some(given) => scope.insert(name, given),
                    None => scope.remove(name),
                };
            }
        }
    }
    Ok(())
}

/// A formula with its calls and variables replaced.
fn expand(text: &str, scope: &Scope<'_>, library: &Library<'_>, depth: usize) -> Result<String, String> {
    if depth > MAX_CALLS {
        return Err("the patterns call each other without end".into());
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if out.len() > MAX_TEXT {
            return Err("the patterns make a formula too large".into());
        }
        if c == '{' || c == '[' {
            let (inner, after) = enclosed(rest)?;
            out.push_str(inner);
            rest = after;
            continue;
        }
        if !(c.is_alphabetic() || c == '_') {
            out.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let name = name_of(rest);
        let after = &rest[name.len()..];
        let called = after.trim_start().starts_with('(');
        rest = after;
        if called && library.keys().any(|(known, _)| *known == name) {
            let (list, after) = enclosed(after.trim_start())?;
            rest = after;
            out.push_str(&call(name, &arguments(&list[1..list.len() - 1]), scope, library, depth)?);
        } else if called && is_call(name) {
            let (list, after) = enclosed(after.trim_start())?;
            rest = after;
            out.push_str(name);
            out.push_str(list);
        } else if REFUSED.contains(&name) {
            return Err(format!("`{name}` of the pattern language is not supported: write the formula out"));
        } else {
            match scope.get(name) {
                Some(Given::Formula(formula)) => out.push_str(&format!("({formula})")),
                Some(Given::Number(_)) => return Err(format!("`{name}` is a number, not a formula")),
                None => out.push_str(name),
            }
        }
    }
    Ok(out)
}

fn call(
    name: &str,
    given: &[&str],
    scope: &Scope<'_>,
    library: &Library<'_>,
    depth: usize,
) -> Result<String, String> {
    let Some(d) = library.get(&(name, given.len())) else {
        return Err(format!("no pattern `{name}` has {} parameters", given.len()));
    };
    let mut inner = Scope::new();
    for ((parameter, sort), argument) in d.parameters.iter().zip(given) {
        let value = match sort {
            Sort::Formula => Given::Formula(expand(argument, scope, library, depth + 1)?),
            Sort::Number => Given::Number(number(argument, scope)?),
        };
        inner.insert(parameter, value);
    }
    execute(&d.body, &mut inner, library, depth + 1, &mut 0)?;
    Ok(format!("({})", expand(d.result, &inner, library, depth + 1)?))
}

/// A bracket with all up to its partner, and what follows.
fn enclosed(text: &str) -> Result<(&str, &str), String> {
    let mut depth = 0;
    for (i, c) in text.char_indices() {
        depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        if depth == 0 {
            return Ok(text.split_at(i + c.len_utf8()));
        }
    }
    Err(format!("`{}` is never closed", text.chars().next().unwrap_or('(')))
}

fn arguments(list: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut from) = (0, 0);
    for (i, c) in list.char_indices() {
        depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        if c == ',' && depth == 0 {
            parts.push(list[from..i].trim());
            from = i + 1;
        }
    }
    parts.push(list[from..].trim());
    if parts == [""] { Vec::new() } else { parts }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formulas(text: &str) -> Vec<String> {
        let ready = read(text).unwrap_or_else(|faults| panic!("{faults:?}"));
        ready.into_iter().map(|r| r.expanded).collect()
    }

    fn refused(text: &str, words: &str) {
        let faults = read(text).expect_err(text);
        assert!(faults.iter().any(|f| f.message.contains(words)), "{faults:?}");
    }

    #[test]
    fn a_file_without_patterns_is_a_list_of_formulas() {
        let text = "# comment\n\nG F {x=0}\n// comment\n  F {x=3}\n#v.({v : 0..3} & F {x=v})\n";
        assert_eq!(formulas(text), ["G F {x=0}", "F {x=3}", "#v.({v : 0..3} & F {x=v})"]);
        assert_eq!(read(text).unwrap()[1].offset, text.find("F {x=3}").unwrap());
    }

    #[test]
    fn parameters_stand_for_whole_formulas() {
        let text = "def absence(p): G not p\ndef response(p, q): G (p => F q)\n\
                    absence({x=1} & [a])\nresponse({x=1}, absence([p]))\n";
        assert_eq!(formulas(text), ["(G not ({x=1} & [a]))", "(G (({x=1}) => F ((G not ([p])))))"]);
    }

    #[test]
    fn a_pattern_is_chosen_by_the_number_of_its_parameters_and_may_come_later() {
        let text =
            "often(e(a))\noften(e(a), e(p))\ndef often(p): G F p\ndef often(p, q):\n  often(p) & often(q)\n";
        assert_eq!(formulas(text), ["(G F (e(a)))", "((G F ((e(a)))) & (G F ((e(p)))))"]);
        refused("def f(p): G p\nf({x=1},{x=2})\n", "no pattern `f` has 2 parameters");
        refused("def f(p): G p\ndef f(q): F q\nf({x=1})\n", "defined twice");
    }

    #[test]
    fn loops_build_formulas_up_and_down() {
        let text = "def times(n:num, p):\n  var r: p\n  count i: 2 up to n:\n    r: p & X F r\n  end\n  F r\n\
                    times(3, {x=1})\n";
        assert_eq!(formulas(text), ["(F (({x=1}) & X F (({x=1}) & X F (({x=1})))))"]);
        let text = "def next(n:num, p):\n  var r: p\n  num k: n-1\n  count i: k down to 0:\n    r: X r\n  end\n  r\n\
                    next(2, {x=1})\n";
        assert_eq!(formulas(text), ["((X (X (({x=1})))))"]);
    }

    #[test]
    fn what_cannot_be_expanded_is_refused() {
        refused("def f(p): G f(p)\nf({x=1})\n", "without end");
        refused("before({x=1}, G {x=2})\n", "not supported");
        refused("def f(p): seq(p, p)\nf({x=1})\n", "not supported");
        refused("def f(p):\ndef g(p): p\n", "no formula");
        refused("def f(p): G (p\nf({x=1}\n", "never closed");
        refused("def f(n:num): G {x=1}\nf({x=1})\n", "not a number");
        refused("def f(s:seq): G {x=1}\n", "not a `seq`");
        refused("def f(n:num):\n  count i: 1 up to 99999:\n    n: i\n  end\n  true\nf(1)\n", "more than");
        refused("def e(p): G p\n", "cannot be the name");
    }
}
