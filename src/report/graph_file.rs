//! A graph of states as a file: `.dot` (Graphviz), `.graphml` (yEd, Gephi, NetworkX), `.json` or `.svg`, by extension.
//!
//! In: nodes and edges in words. Out: text. Whatever is missing from the graph stands in the file.

use super::graph_svg;
use crate::base::text::escape;
use serde_json::json;
use std::fmt::Write;

/// A graph of states, or of the values of an expression.
#[derive(Clone, Debug)]
pub struct Drawn {
    pub machine: String,
    pub dots: Vec<Dot>,
    pub arrows: Vec<Arrow>,
    /// How many states the nodes stand for.
    pub states: usize,
    /// Why the graph is not the whole state space; empty if it is.
    pub missing: Vec<String>,
}

/// A node.
#[derive(Clone, Debug)]
pub struct Dot {
    pub values: Vec<(String, String)>,
    pub states: usize,
    pub initial: bool,
    /// Some of its steps may be missing.
    pub open: bool,
    /// One of its states breaks the invariant or an assertion.
    pub broken: bool,
}

#[derive(Clone, Debug)]
pub struct Arrow {
    pub from: usize,
    pub to: usize,
    pub label: String,
}

/// The extensions that there are formats for.
pub const EXTENSIONS: [&str; 4] = ["dot", "graphml", "json", "svg"];

/// Longer values are cut in labels; JSON has them whole.
const LONGEST: usize = 120;

impl Drawn {
    /// The content of a file with this extension.
    pub fn render(&self, extension: &str) -> Result<String, String> {
        match extension {
            "dot" => Ok(self.dot()),
            "graphml" => Ok(self.graphml()),
            "json" => Ok(format!("{:#}\n", self.json())),
            "svg" => Ok(graph_svg::svg(self)),
            other => Err(format!("unknown kind of graph file '.{other}': use .{}", EXTENSIONS.join(", ."))),
        }
    }

    fn dot(&self) -> String {
        let mut out =
            format!("digraph \"{}\" {{\n  node [shape=box, fontname=monospace];\n", quoted(&self.machine));
        for reason in &self.missing {
            let _ = writeln!(out, "  // missing: {}", reason.replace(['\n', '\r'], " "));
        }
        for (n, dot) in self.dots.iter().enumerate() {
            let mut style = Vec::new();
            style.extend(dot.initial.then_some("bold"));
            style.extend(dot.open.then_some("dashed"));
            let style =
                if style.is_empty() { String::new() } else { format!(", style=\"{}\"", style.join(",")) };
            let colour = if dot.broken { ", color=red" } else { "" };
            let label = quoted(&dot.label()).replace('\n', "\\n");
            let _ = writeln!(out, "  n{n} [label=\"{label}\"{style}{colour}];");
        }
        for a in &self.arrows {
            let _ = writeln!(out, "  n{} -> n{} [label=\"{}\"];", a.from, a.to, quoted(&cut(&a.label)));
        }
        out.push_str("}\n");
        out
    }

    fn graphml(&self) -> String {
        let mut out = String::from(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
        );
        for (id, on, kind) in [
            ("label", "node", "string"),
            ("states", "node", "int"),
            ("initial", "node", "boolean"),
            ("open", "node", "boolean"),
            ("broken", "node", "boolean"),
            ("event", "edge", "string"),
            ("missing", "graph", "string"),
        ] {
            let _ =
                writeln!(out, "  <key id=\"{id}\" for=\"{on}\" attr.name=\"{id}\" attr.type=\"{kind}\"/>");
        }
        let _ = writeln!(out, "  <graph id=\"{}\" edgedefault=\"directed\">", escape(&self.machine));
        let _ = writeln!(out, "    <data key=\"missing\">{}</data>", escape(&self.missing.join("; ")));
        for (n, dot) in self.dots.iter().enumerate() {
            let _ = writeln!(
                out,
                "    <node id=\"n{n}\"><data key=\"label\">{}</data><data key=\"states\">{}</data>\
                 <data key=\"initial\">{}</data><data key=\"open\">{}</data><data key=\"broken\">{}</data></node>",
                escape(&dot.label()),
                dot.states,
                dot.initial,
                dot.open,
                dot.broken
            );
        }
        for (n, a) in self.arrows.iter().enumerate() {
            let _ = writeln!(
                out,
                "    <edge id=\"e{n}\" source=\"n{}\" target=\"n{}\"><data key=\"event\">{}</data></edge>",
                a.from,
                a.to,
                escape(&a.label)
            );
        }
        out.push_str("  </graph>\n</graphml>\n");
        out
    }

    fn json(&self) -> serde_json::Value {
        let dots: Vec<_> = self
            .dots
            .iter()
            .map(|d| {
                let values: serde_json::Map<String, serde_json::Value> =
                    d.values.iter().map(|(n, v)| (n.clone(), v.as_str().into())).collect();
                json!({
                    "values": values, "states": d.states, "initial": d.initial, "open": d.open, "broken": d.broken,
                })
            })
            .collect();
        let arrows: Vec<_> =
            self.arrows.iter().map(|a| json!({"from": a.from, "to": a.to, "event": a.label})).collect();
        json!({
            "machine": self.machine, "complete": self.missing.is_empty(), "missing": self.missing,
            "states": self.states, "nodes": dots, "edges": arrows,
        })
    }
}

impl Dot {
    fn label(&self) -> String {
        let line = |(name, value): &(String, String)| format!("{name} = {}", cut(value));
        self.values.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_string(),
    }
}

/// Text inside the quotes of a dot file.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_backslashes_and_tags_of_a_model_stay_inside_their_labels() {
        let nasty = "\"a\\/b\" <c>";
        let drawn = Drawn {
            machine: "M".into(),
            dots: vec![Dot {
                values: vec![("s".into(), nasty.into())],
                states: 1,
                initial: true,
                open: true,
                broken: true,
            }],
            arrows: vec![Arrow { from: 0, to: 0, label: nasty.into() }],
            states: 1,
            missing: vec!["a limit".into()],
        };
        let dot = drawn.render("dot").unwrap();
        assert!(dot.contains(r#"n0 [label="s = \"a\\/b\" <c>", style="bold,dashed", color=red];"#), "{dot}");
        assert!(dot.contains("// missing: a limit"));
        let xml = drawn.render("graphml").unwrap();
        let parsed = roxmltree::Document::parse(&xml).expect("the file is XML");
        assert_eq!(
            parsed.descendants().filter(|n| n.has_tag_name("node") || n.tag_name().name() == "node").count(),
            1
        );
        let json: serde_json::Value = serde_json::from_str(&drawn.render("json").unwrap()).unwrap();
        assert_eq!((&json["nodes"][0]["values"]["s"], &json["complete"]), (&nasty.into(), &false.into()));
        assert!(drawn.render("png").is_err());
    }
}
