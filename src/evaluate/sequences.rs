//! Sequences and trees: functions from `1..n`, and functions from paths.
//!
//! In: listed values. Out: listed values, or an error when a value is not the sequence or tree that
//! the operator is defined on.

use crate::Interpreter;
use crate::env::Env;
use crate::error::{Error, Res};
use bombus_base::{Int, Span};
use bombus_lang::typed::{BinOp, UnOp};
use bombus_lang::value::{Symbolic, Value};
use std::collections::{BTreeMap, BTreeSet};

impl Interpreter<'_> {
    /// The items of a sequence.
    fn items(&self, env: &mut Env, v: &Value, span: Span) -> Res<Vec<Value>> {
        let listed = Value::Set(self.need_list(env, v, span)?);
        listed
            .as_seq()
            .map(|s| s.into_iter().cloned().collect())
            .ok_or_else(|| Error::undefined(span, "the argument is not a sequence"))
    }

    pub(crate) fn unary_seq(&self, env: &mut Env, op: UnOp, a: Value, span: Span) -> Res<Value> {
        let mut items = self.items(env, &a, span)?;
        let empty = |name: &str| Error::undefined(span, format!("{name} of the empty sequence"));
        Ok(match op {
            UnOp::Size => Value::Int(Int::from(items.len())),
            UnOp::First => items.first().cloned().ok_or_else(|| empty("first"))?,
            UnOp::Last => items.last().cloned().ok_or_else(|| empty("last"))?,
            UnOp::Front => {
                items.pop().ok_or_else(|| empty("front"))?;
                Value::seq(items)
            }
            UnOp::Tail => {
                if items.is_empty() {
                    return Err(empty("tail"));
                }
                Value::seq(items.into_iter().skip(1))
            }
            UnOp::Rev => Value::seq(items.into_iter().rev()),
            UnOp::Conc => {
                if items.first().is_some_and(|s| matches!(s, Value::Str(_))) {
                    let text: String = items.iter().filter_map(|s| s.as_str()).map(|s| &**s).collect();
                    return Ok(Value::str(&text));
                }
                let mut all = Vec::new();
                for s in &items {
                    all.extend(self.items(env, s, span)?);
                }
                Value::seq(all)
            }
            _ => return Err(Error::unsupported(span, "this operator on sequences")),
        })
    }

    pub(crate) fn binary_seq(&self, env: &mut Env, op: BinOp, a: Value, b: Value, span: Span) -> Res<Value> {
        match op {
            BinOp::Concat => {
                let mut items = self.items(env, &a, span)?;
                items.extend(self.items(env, &b, span)?);
                Ok(Value::seq(items))
            }
            BinOp::Prepend => {
                let mut items = vec![self.canon(env, a)?];
                items.extend(self.items(env, &b, span)?);
                Ok(Value::seq(items))
            }
            BinOp::Append => {
                let mut items = self.items(env, &a, span)?;
                items.push(self.canon(env, b)?);
                Ok(Value::seq(items))
            }
            BinOp::Take | BinOp::Drop => {
                let items = self.items(env, &a, span)?;
                let n = match &b {
                    Value::Int(n) if n.is_negative() => None,
                    // A number without an index is larger than every sequence.
                    Value::Int(n) => {
                        Some(n.small().and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX))
                    }
                    other => return Err(self.ill_typed("an integer", other, span)),
                };
                match n {
                    Some(n) if n <= items.len() => Ok(if op == BinOp::Take {
                        Value::seq(items.into_iter().take(n))
                    } else {
                        Value::seq(items.into_iter().skip(n))
                    }),
                    // Taking more than there is yields the whole sequence, as ProB does.
                    Some(_) if op == BinOp::Take => Ok(Value::seq(items)),
                    _ => Err(Error::undefined(span, "the number of items is outside 0..size")),
                }
            }
            _ => Err(Error::unsupported(span, "this operator on sequences")),
        }
    }

    /// The nodes of a tree: paths (sequences of child numbers) with their labels.
    fn nodes(&self, env: &mut Env, v: &Value, span: Span) -> Res<Vec<(Vec<Value>, Value)>> {
        let mut nodes = Vec::new();
        for (path, label) in self.need_list(env, v, span)?.iter().filter_map(Value::as_pair) {
            nodes.push((self.items(env, path, span)?, label.clone()));
        }
        if !nodes.iter().any(|(p, _)| p.is_empty()) {
            return Err(Error::undefined(span, "the argument is not a tree"));
        }
        nodes.sort();
        Ok(nodes)
    }

    /// Whether a value is a tree, or a binary one, with labels in a set. Sons are numbered from 1 without gaps.
    pub(crate) fn is_tree(&self, env: &mut Env, v: &Value, labels: &Value, binary: bool) -> Res<bool> {
        let Some(pairs) = self.list(env, v)? else {
            return Err(Error::undecided("whether a symbolic set is a tree"));
        };
        let mut paths: BTreeSet<Vec<Int>> = BTreeSet::new();
        for (path, label) in pairs.iter().filter_map(Value::as_pair) {
            let Some(path) = path.as_seq().and_then(|p| p.into_iter().map(|n| n.as_int().cloned()).collect())
            else {
                return Ok(false);
            };
            // A path with two labels is no function.
            if !paths.insert(path) || !self.member(env, label, labels)? {
                return Ok(false);
            }
        }
        let mut sons: BTreeMap<&[Int], usize> = BTreeMap::new();
        for path in &paths {
            let Some((last, parent)) = path.split_last() else { continue };
            let mut elder = parent.to_vec();
            elder.push(last.sub(&Int::ONE));
            if !paths.contains(parent) || !(*last == Int::ONE || paths.contains(&elder)) {
                return Ok(false);
            }
            *sons.entry(parent).or_default() += 1;
        }
        Ok(paths.contains(&Vec::new()) && (!binary || sons.values().all(|n| *n == 2)))
    }

    pub(crate) fn unary_tree(&self, env: &mut Env, op: UnOp, a: Value, span: Span) -> Res<Value> {
        if op == UnOp::Bin1 {
            let label = self.canon(env, a)?;
            return Ok(tree(vec![(Vec::new(), label)]));
        }
        if matches!(op, UnOp::Tree | UnOp::Btree) {
            return Ok(Value::symbolic(Symbolic::Unary(op, a)));
        }
        let nodes = self.nodes(env, &a, span)?;
        let sons = sons(&nodes);
        let child = |i: usize| {
            sons.get(i)
                .filter(|_| sons.len() == 2)
                .map(|s| tree(s.clone()))
                .ok_or_else(|| Error::undefined(span, "the tree has no such branch"))
        };
        Ok(match op {
            UnOp::Top => nodes[0].1.clone(),
            UnOp::Sons => Value::seq(sons.into_iter().map(tree)),
            UnOp::Sizet => Value::Int(Int::from(nodes.len())),
            UnOp::Prefix => Value::seq(nodes.into_iter().map(|(_, l)| l)),
            UnOp::Postfix => Value::seq(postfix(&nodes)),
            UnOp::Infix => Value::seq(infix(&nodes, span)?),
            UnOp::Left => child(0)?,
            UnOp::Right => child(1)?,
            UnOp::Mirror => {
                let mirrored = nodes
                    .iter()
                    .map(|(path, label)| {
                        let path = (0..path.len())
                            .map(|i| {
                                let arity = arity(&nodes, &path[..i]);
                                match &path[i] {
                                    Value::Int(n) => Value::Int(Int::from(arity + 1).sub(n)),
                                    other => other.clone(),
                                }
                            })
                            .collect();
                        (path, label.clone())
                    })
                    .collect();
                tree(mirrored)
            }
            _ => return Err(Error::unsupported(span, "this operator on trees")),
        })
    }

    pub(crate) fn binary_tree(&self, env: &mut Env, op: BinOp, a: Value, b: Value, span: Span) -> Res<Value> {
        let no_node = || Error::undefined(span, "the path is not in the tree");
        match op {
            BinOp::TreeConst => {
                let label = self.canon(env, a)?;
                let mut nodes = vec![(Vec::new(), label)];
                for (i, son) in self.items(env, &b, span)?.iter().enumerate() {
                    nodes.extend(below(i + 1, self.nodes(env, son, span)?));
                }
                Ok(tree(nodes))
            }
            BinOp::Bin3 => {
                let label = self.canon(env, b)?;
                let (l, r) = a.as_pair().ok_or_else(no_node)?;
                let mut nodes = vec![(Vec::new(), label)];
                nodes.extend(below(1, self.nodes(env, l, span)?));
                nodes.extend(below(2, self.nodes(env, r, span)?));
                Ok(tree(nodes))
            }
            BinOp::Son => {
                let (p, n) = b.as_pair().ok_or_else(no_node)?;
                let nodes = self.nodes(env, &a, span)?;
                let mut path = self.items(env, p, span)?;
                path.push(n.clone());
                if !nodes.iter().any(|(q, _)| *q == path) {
                    return Err(no_node());
                }
                Ok(Value::seq(path))
            }
            _ => {
                let nodes = self.nodes(env, &a, span)?;
                let mut path = self.items(env, &b, span)?;
                if !nodes.iter().any(|(q, _)| *q == path) {
                    return Err(no_node());
                }
                match op {
                    BinOp::Rank => path.pop().ok_or_else(no_node),
                    BinOp::Father => {
                        path.pop().ok_or_else(no_node)?;
                        Ok(Value::seq(path))
                    }
                    BinOp::Arity => Ok(Value::Int(Int::from(arity(&nodes, &path)))),
                    _ => Ok(tree(
                        nodes
                            .into_iter()
                            .filter(|(q, _)| q.starts_with(&path))
                            .map(|(q, l)| (q[path.len()..].to_vec(), l))
                            .collect(),
                    )),
                }
            }
        }
    }
}

type Nodes = Vec<(Vec<Value>, Value)>;

fn tree(nodes: Nodes) -> Value {
    Value::set(nodes.into_iter().map(|(p, l)| Value::pair(Value::seq(p), l)).collect())
}

/// The nodes moved under child `i`.
fn below(i: usize, nodes: Nodes) -> impl Iterator<Item = (Vec<Value>, Value)> {
    nodes.into_iter().map(move |(mut p, l)| {
        p.insert(0, Value::Int(Int::from(i)));
        (p, l)
    })
}

fn arity(nodes: &[(Vec<Value>, Value)], path: &[Value]) -> usize {
    nodes.iter().filter(|(q, _)| q.len() == path.len() + 1 && q.starts_with(path)).count()
}

fn sons(nodes: &[(Vec<Value>, Value)]) -> Vec<Nodes> {
    (1..=arity(nodes, &[]))
        .map(|i| {
            let first = Value::Int(Int::from(i));
            nodes
                .iter()
                .filter(|(p, _)| p.first() == Some(&first))
                .map(|(p, l)| (p[1..].to_vec(), l.clone()))
                .collect()
        })
        .collect()
}

fn postfix(nodes: &[(Vec<Value>, Value)]) -> Vec<Value> {
    let mut out = Vec::new();
    for son in sons(nodes) {
        out.extend(postfix(&son));
    }
    out.extend(nodes.iter().find(|(p, _)| p.is_empty()).map(|(_, l)| l.clone()));
    out
}

fn infix(nodes: &[(Vec<Value>, Value)], span: Span) -> Res<Vec<Value>> {
    let sons = sons(nodes);
    let top = nodes.iter().find(|(p, _)| p.is_empty()).map(|(_, l)| l.clone());
    let mut out = Vec::new();
    match sons.as_slice() {
        [] => out.extend(top),
        [left, right] => {
            out.extend(infix(left, span)?);
            out.extend(top);
            out.extend(infix(right, span)?);
        }
        _ => return Err(Error::undefined(span, "infix of a tree that is not binary")),
    }
    Ok(out)
}
