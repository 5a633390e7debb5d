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
/// Arrows times nodes up to which arrows are led around the nodes that stand in their way.
const ROUTED: usize = 300_000;
/// How much an arrow may be bent, as a share of its length; the first that meets no node counts.
const BENDS: [f64; 11] = [0.12, 0.2, -0.2, 0.3, -0.3, 0.45, -0.45, 0.65, -0.65, 0.9, -0.9];
/// Width of a character, height of a line, room inside a node.
const CHARACTER: f64 = 6.7;
const LINE: f64 = 14.0;
const ROOM: f64 = 8.0;

const STYLE: &str = "svg { color-scheme: light dark; background: light-dark(#fff, #14171b); font: 11px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; }
rect { fill: light-dark(#f6f7f9, #1b2026); stroke: light-dark(#7a8593, #8b96a5); } rect.initial { stroke-width: 2.5; } rect.open { stroke-dasharray: 4 3; } rect.broken { fill: light-dark(#fdd9c9, #5b2413); stroke: light-dark(#b3261e, #f2b8b5); }
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
    let boxes: Vec<Box> = (0..graph.dots.len())
        .map(|n| Box {
            x: places.x[n],
            y: places.y[n],
            half_width: widths[n] / 2.0,
            half_height: (labels[n].len() as f64 * LINE + ROOM) / 2.0,
        })
        .collect();
    let routed = arrows.len() * boxes.len() <= ROUTED;
    let curves: Vec<Curve> =
        arrows.keys().map(|(from, to)| Curve::around(&boxes, *from, *to, routed)).collect();
    let [left, top, right, bottom] = bounds(&boxes, &curves);
    let (wide, high) = (right - left + 2.0 * MARGIN, bottom - top + 2.0 * MARGIN);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{:.0} {:.0} {wide:.0} {high:.0}\" width=\"{wide:.0}\" height=\"{high:.0}\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" \
         markerHeight=\"7\" orient=\"auto\"><path class=\"head\" d=\"M0 0L8 4L0 8z\"/></marker></defs>\n",
        left - MARGIN,
        top - MARGIN,
        escape(&graph.machine)
    );
    for reason in &graph.missing {
        let _ = writeln!(out, "<desc>missing: {}</desc>", escape(reason));
    }
    // Labels come last, so that no node covers one.
    let mut words = Labels { taken: boxes.clone(), out: String::new() };
    for (curve, labels) in curves.iter().zip(arrows.values()) {
        curve.draw(&mut out, labels);
        if arrows.len() <= LABELLED {
            words.put(curve, labels);
        }
    }
    for (n, dot) in graph.dots.iter().enumerate() {
        let classes = [(dot.initial, "initial"), (dot.open, "open"), (dot.broken, "broken")];
        let class: Vec<&str> = classes.into_iter().filter(|(is, _)| *is).map(|(_, class)| class).collect();
        node(&mut out, &boxes[n], &labels[n], &class.join(" "), &dot.values);
    }
    out.push_str(&words.out);
    out.push_str("</svg>\n");
    out
}

/// Room around the drawing.
const MARGIN: f64 = 40.0;

/// The least and greatest coordinates of nodes and arrows: left, top, right, bottom.
fn bounds(boxes: &[Box], curves: &[Curve]) -> [f64; 4] {
    let of_nodes = boxes
        .iter()
        .map(|b| [b.x - b.half_width, b.y - b.half_height, b.x + b.half_width, b.y + b.half_height]);
    let of_arrows = curves.iter().flat_map(|c| [0.2, 0.35, 0.5, 0.65, 0.8].map(|t| c.at(t)));
    let all = of_nodes.chain(of_arrows.map(|(x, y)| [x, y, x, y]));
    let wider = |a: [f64; 4], b: [f64; 4]| [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])];
    all.reduce(wider).unwrap_or_default()
}

/// A node, or the label of an arrow, by its middle.
#[derive(Clone)]
struct Box {
    x: f64,
    y: f64,
    half_width: f64,
    half_height: f64,
}

impl Box {
    fn touches(&self, other: &Box) -> bool {
        (self.x - other.x).abs() < self.half_width + other.half_width
            && (self.y - other.y).abs() < self.half_height + other.half_height
    }

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

/// The line of an arrow: where it begins, the points that bend it, where it ends.
struct Curve {
    points: [(f64, f64); 4],
}

impl Curve {
    /// From node to node; where it is asked for, around the nodes between the two.
    fn around(boxes: &[Box], from: usize, to: usize, routed: bool) -> Curve {
        let bent = |bend: f64| Curve::between(&boxes[from], &boxes[to], bend, from == to);
        let is_free = |curve: &Curve| {
            let met = |at: &usize| *at != from && *at != to && curve.meets(&boxes[*at]);
            !(0..boxes.len()).any(|at| met(&at))
        };
        let mut candidates = BENDS.into_iter().map(bent);
        if routed { candidates.find(is_free) } else { None }.unwrap_or_else(|| bent(BENDS[0]))
    }

    /// Whether the line goes through a node.
    fn meets(&self, node: &Box) -> bool {
        const POINTS: usize = 24;
        (1..POINTS).any(|n| {
            let (x, y) = self.at(n as f64 / POINTS as f64);
            (x - node.x).abs() < node.half_width + 2.0 && (y - node.y).abs() < node.half_height + 2.0
        })
    }

    /// From box to box, bent a little so that there and back are two lines; a step to the same node is a loop.
    fn between(from: &Box, to: &Box, bend: f64, is_loop: bool) -> Curve {
        if is_loop {
            let (x, y) = (from.x + from.half_width, from.y);
            return Curve {
                points: [(x, y - 6.0), (x + 26.0, y - 20.0), (x + 26.0, y + 20.0), (x, y + 6.0)],
            };
        }
        let (dx, dy) = (to.x - from.x, to.y - from.y);
        // Along a row the way leads around the nodes between the two.
        let aside = if dy.abs() < 1e-9 { ASIDE.copysign(dx) } else { dx * bend };
        let control = (from.x + dx / 2.0 - dy * bend, from.y + dy / 2.0 + aside);
        let (a, b) = (from.edge_towards(control.0, control.1), to.edge_towards(control.0, control.1));
        let towards = |p: (f64, f64)| (p.0 + (control.0 - p.0) / 1.5, p.1 + (control.1 - p.1) / 1.5);
        Curve { points: [a, towards(a), towards(b), b] }
    }

    /// The point at a share of the way.
    fn at(&self, t: f64) -> (f64, f64) {
        let s = 1.0 - t;
        let weights = [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t];
        let sum = |pick: fn(&(f64, f64)) -> f64| -> f64 {
            self.points.iter().zip(weights).map(|(p, w)| pick(p) * w).sum()
        };
        (sum(|p| p.0), sum(|p| p.1))
    }

    fn draw(&self, out: &mut String, labels: &[&str]) {
        let [a, b, c, d] = self.points;
        let _ = writeln!(
            out,
            "<g><title>{}</title><path d=\"M{:.1} {:.1}C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}\" marker-end=\"url(#head)\"/></g>",
            escape(&labels.join("\n")),
            a.0,
            a.1,
            b.0,
            b.1,
            c.0,
            c.1,
            d.0,
            d.1
        );
    }
}

/// How far arrows between nodes of one row leave it.
const ASIDE: f64 = 62.0;
/// Half the height of a label.
const HALF_LABEL: f64 = 6.0;
/// Width of a character of a label.
const SMALL: f64 = 6.1;

/// The labels of arrows, and what they must not cover.
struct Labels {
    taken: Vec<Box>,
    out: String,
}

impl Labels {
    /// Puts a label on its arrow where it covers neither a node nor another label; nearer to the beginning than to the end.
    fn put(&mut self, curve: &Curve, labels: &[&str]) {
        let more = if labels.len() > 1 { format!(" +{}", labels.len() - 1) } else { String::new() };
        let text = format!("{}{more}", labels[0]);
        let half_width = text.chars().count() as f64 * SMALL / 2.0;
        let at = |t: f64| {
            let (x, y) = curve.at(t);
            Box { x, y, half_width, half_height: HALF_LABEL }
        };
        let shares = [0.35, 0.4, 0.3, 0.45, 0.25, 0.5, 0.55, 0.2, 0.6, 0.65, 0.15, 0.7, 0.75, 0.8, 0.85];
        let free = |place: &Box| !self.taken.iter().any(|other| other.touches(place));
        let place = shares.into_iter().map(at).find(free).unwrap_or_else(|| at(shares[0]));
        let _ = writeln!(
            self.out,
            "<text class=\"label\" text-anchor=\"middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            place.x,
            place.y + HALF_LABEL / 2.0,
            escape(&text)
        );
        self.taken.push(place);
    }
}

#[cfg(test)]
mod tests {
    use super::super::graph_file::{Arrow, Dot};
    use super::*;

    #[test]
    fn labels_of_arrows_cover_neither_nodes_nor_each_other() {
        let dots = (0..9).map(|n| Dot {
            values: vec![("inside".into(), format!("{{p{n}}}")), ("flag".into(), "{(p|->TRUE)}".into())],
            states: 1,
            initial: n == 0,
            open: false,
            broken: false,
        });
        // A grid of three by three, with every step back and some to the first node.
        let mut arrows = Vec::new();
        for n in 0..9usize {
            for m in [n + 3, (n + 1) * usize::from(n % 3 < 2)].into_iter().filter(|m| (1..9).contains(m)) {
                arrows.push(Arrow { from: n, to: m, label: format!("enter({m})") });
                arrows.push(Arrow { from: m, to: n, label: format!("leave({n})") });
            }
        }
        arrows.push(Arrow { from: 8, to: 0, label: "reset".into() });
        let count = arrows.len();
        let graph = Drawn { machine: "M".into(), dots: dots.collect(), arrows, states: 9, missing: vec![] };
        let page = svg(&graph);
        let number = |text: &str, key: &str| -> f64 {
            let rest = text.split(&format!(" {key}=\"")).nth(1).expect("the attribute is there");
            rest.split('"').next().and_then(|n| n.parse().ok()).expect("a number")
        };
        let mut seen: Vec<Box> = Vec::new();
        for rect in page.split("<rect").skip(1) {
            let (w, h) = (number(rect, "width"), number(rect, "height"));
            let (x, y) = (number(rect, "x") + w / 2.0, number(rect, "y") + h / 2.0);
            seen.push(Box { x, y, half_width: w / 2.0 - 1.0, half_height: h / 2.0 - 1.0 });
        }
        let labels: Vec<&str> = page.split("<text class=\"label\"").skip(1).collect();
        assert_eq!(labels.len(), count);
        for label in labels {
            let text = label.split('>').nth(1).and_then(|t| t.split('<').next()).expect("a text");
            let half_width = text.len() as f64 * SMALL / 2.0 - 1.0;
            let (x, y) = (number(label, "x"), number(label, "y") - HALF_LABEL / 2.0);
            let place = Box { x, y, half_width, half_height: HALF_LABEL - 1.0 };
            assert!(!seen.iter().any(|other| other.touches(&place)), "{text} covers something\n{page}");
            seen.push(place);
        }
    }

    #[test]
    fn an_arrow_goes_around_the_node_between_its_ends() {
        let node = |y: f64| Box { x: 0.0, y, half_width: 60.0, half_height: 18.0 };
        let boxes = [node(0.0), node(84.0), node(168.0)];
        assert!(Curve::between(&boxes[2], &boxes[0], BENDS[0], false).meets(&boxes[1]));
        assert!(!Curve::around(&boxes, 2, 0, true).meets(&boxes[1]));
        assert!(!Curve::around(&boxes, 0, 2, true).meets(&boxes[1]));
    }

    #[test]
    fn a_thousand_nodes_are_drawn_and_steps_between_two_nodes_are_one_arrow() {
        let dot = |n: usize| Dot {
            values: vec![("x".into(), format!("<{n}>"))],
            states: 1,
            initial: n == 0,
            open: n == 999,
            broken: n == 7,
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
