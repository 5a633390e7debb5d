//! A graph of states as one SVG file, laid out in rows from the initial states on.
//!
//! In: nodes and edges in words. Out: SVG, light or dark as the desktop is. Steps between the same two nodes are one
//! arrow; labels of arrows stand on them in small graphs and show under the pointer in large ones.
//! Never here: where nodes stand (`layers`).

use super::graph_file::Drawn;
use super::layers::Layers;
use crate::base::text::escape;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Lines of a node, and characters of a line; more is cut, and stands whole under the pointer.
const LINES: usize = 4;
const CHARACTERS: usize = 44;
/// Arrows that carry their labels; in larger graphs the labels would cover each other.
const LABELLED: usize = 80;
/// Width of a character, height of a line, room inside a node.
const CHARACTER: f64 = 6.7;
const LINE: f64 = 14.0;
const ROOM: f64 = 8.0;

const STYLE: &str = "svg { color-scheme: light dark; background: light-dark(#fff, #14171b); font: 11px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; }
rect { fill: light-dark(#f6f7f9, #1b2026); stroke: light-dark(#7a8593, #8b96a5); } rect.initial { stroke-width: 2.5; } rect.open { stroke-dasharray: 4 3; }
text { fill: light-dark(#1a1d21, #e6e9ee); } path { fill: none; stroke: light-dark(#5b6470, #9aa5b3); } .head { fill: light-dark(#5b6470, #9aa5b3); stroke: none; } .label { fill: light-dark(#0b5cad, #7db8f5); font-size: 10px; paint-order: stroke; stroke: light-dark(#fff, #14171b); stroke-width: 3px; }
";

/// The drawing of a graph.
pub fn svg(graph: &Drawn) -> String {
    let labels: Vec<Vec<String>> = graph.dots.iter().map(|dot| lines(&dot.values)).collect();
    let width = |label: &Vec<String>| {
        let longest = label.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        longest as f64 * CHARACTER + 2.0 * ROOM
    };
    let widths: Vec<f64> = labels.iter().map(width).collect();
    let mut arrows: BTreeMap<(usize, usize), Vec<&str>> = BTreeMap::new();
    for arrow in &graph.arrows {
        arrows.entry((arrow.from, arrow.to)).or_default().push(&arrow.label);
    }
    let edges: Vec<(usize, usize)> = arrows.keys().copied().collect();
    let roots: Vec<usize> = (0..graph.dots.len()).filter(|n| graph.dots[*n].initial).collect();
    let places = Layers::place(&widths, &edges, &roots);
    let (wide, high) = (places.width + 80.0, places.height + 80.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-40 -40 {wide:.0} {high:.0}\" width=\"{wide:.0}\" height=\"{high:.0}\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" \
         markerHeight=\"7\" orient=\"auto\"><path class=\"head\" d=\"M0 0L8 4L0 8z\"/></marker></defs>\n",
        escape(&graph.machine)
    );
    for reason in &graph.missing {
        let _ = writeln!(out, "<desc>missing: {}</desc>", escape(reason));
    }
    let boxes: Vec<Box> = (0..graph.dots.len())
        .map(|n| Box {
            x: places.x[n],
            y: places.y[n],
            half_width: widths[n] / 2.0,
            half_height: (labels[n].len() as f64 * LINE + ROOM) / 2.0,
        })
        .collect();
    // Labels come last, so that no node covers one.
    let mut words = String::new();
    for ((from, to), labels) in &arrows {
        let words = (arrows.len() <= LABELLED).then_some(&mut words);
        arrow(&mut out, words, &boxes[*from], &boxes[*to], from == to, labels);
    }
    for (n, dot) in graph.dots.iter().enumerate() {
        let class = match (dot.initial, dot.open) {
            (true, true) => "initial open",
            (true, false) => "initial",
            (false, true) => "open",
            (false, false) => "",
        };
        node(&mut out, &boxes[n], &labels[n], class, &dot.values);
    }
    out.push_str(&words);
    out.push_str("</svg>\n");
    out
}

/// A node by its middle.
struct Box {
    x: f64,
    y: f64,
    half_width: f64,
    half_height: f64,
}

impl Box {
    /// Where the line from the middle to a point leaves the box.
    fn edge_towards(&self, x: f64, y: f64) -> (f64, f64) {
        let (dx, dy) = (x - self.x, y - self.y);
        let share = |half: f64, d: f64| if d.abs() < 1e-9 { f64::INFINITY } else { half / d.abs() };
        let t = share(self.half_width, dx).min(share(self.half_height, dy)).min(1.0);
        (self.x + dx * t, self.y + dy * t)
    }
}

/// The lines of a node.
fn lines(values: &[(String, String)]) -> Vec<String> {
    let cut = |text: String| match text.char_indices().nth(CHARACTERS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    };
    let mut all: Vec<String> = values.iter().take(LINES).map(|(n, v)| cut(format!("{n} = {v}"))).collect();
    if values.len() > LINES {
        all[LINES - 1] = format!("… {} more", values.len() - LINES + 1);
    }
    if all.is_empty() { vec!["·".into()] } else { all }
}

fn node(out: &mut String, place: &Box, label: &[String], class: &str, values: &[(String, String)]) {
    let (x, y) = (place.x - place.half_width, place.y - place.half_height);
    let (width, height) = (2.0 * place.half_width, 2.0 * place.half_height);
    let whole: Vec<String> = values.iter().map(|(n, v)| format!("{n} = {v}")).collect();
    let _ = writeln!(
        out,
        "<g><title>{}</title><rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"4\"/>",
        escape(&whole.join("\n"))
    );
    for (n, line) in label.iter().enumerate() {
        let base = y + ROOM / 2.0 + LINE * (n as f64 + 0.75);
        let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{base:.1}\">{}</text>", x + ROOM, escape(line));
    }
    out.push_str("</g>\n");
}

/// An arrow from box to box, bent a little so that there and back are two lines; a step to the same node is a loop.
fn arrow(out: &mut String, words: Option<&mut String>, from: &Box, to: &Box, is_loop: bool, labels: &[&str]) {
    let (path, middle) = if is_loop {
        let (x, y) = (from.x + from.half_width, from.y);
        (format!("M{x:.1} {:.1}c26 -14 26 26 0 12", y - 6.0), (x + 22.0, y + 3.0))
    } else {
        let bend = 0.12;
        let (dx, dy) = (to.x - from.x, to.y - from.y);
        let control = (from.x + dx / 2.0 - dy * bend, from.y + dy / 2.0 + dx * bend);
        let ((ax, ay), (bx, by)) =
            (from.edge_towards(control.0, control.1), to.edge_towards(control.0, control.1));
        // Near its beginning an arrow is between two rows; further on a node of a row could lie on the label.
        let at = |a: f64, c: f64, b: f64| 0.5625 * a + 0.375 * c + 0.0625 * b;
        let middle = (at(ax, control.0, bx), at(ay, control.1, by));
        (format!("M{ax:.1} {ay:.1}Q{:.1} {:.1} {bx:.1} {by:.1}", control.0, control.1), middle)
    };
    let _ = writeln!(
        out,
        "<g><title>{}</title><path d=\"{path}\" marker-end=\"url(#head)\"/>",
        escape(&labels.join("\n"))
    );
    out.push_str("</g>\n");
    if let Some(words) = words {
        let more = if labels.len() > 1 { format!(" +{}", labels.len() - 1) } else { String::new() };
        let text = format!("{}{more}", labels[0]);
        let anchor = if is_loop { "start" } else { "middle" };
        let _ = writeln!(
            words,
            "<text class=\"label\" text-anchor=\"{anchor}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            middle.0,
            middle.1,
            escape(&text)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::graph_file::{Arrow, Dot};
    use super::*;

    #[test]
    fn a_thousand_nodes_are_drawn_and_steps_between_two_nodes_are_one_arrow() {
        let dot = |n: usize| Dot {
            values: vec![("x".into(), format!("<{n}>"))],
            states: 1,
            initial: n == 0,
            open: n == 999,
        };
        let mut arrows: Vec<Arrow> =
            (1..1000).map(|n| Arrow { from: (n - 1) / 3, to: n, label: format!("step({n})") }).collect();
        arrows.push(Arrow { from: 0, to: 1, label: "again".into() });
        arrows.push(Arrow { from: 5, to: 5, label: "stay".into() });
        let dots = (0..1000).map(dot).collect();
        let graph =
            Drawn { machine: "M".into(), dots, arrows, states: 1000, missing: vec!["a limit".into()] };
        let page = svg(&graph);
        assert_eq!(page.matches("<rect").count(), 1000);
        assert_eq!(page.matches("marker-end").count(), 1000);
        assert!(page.contains("step(1)\nagain") && page.contains("missing: a limit"));
        assert!(page.contains("&lt;999&gt;") && !page.contains("<999>"));
        assert!(!page.contains("NaN") && !page.contains("inf"));
    }
}
