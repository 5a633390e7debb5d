//! Place/transition nets in PNML, the interchange format of ISO/IEC 15909-2.
//!
//! In: the text of a file. Out: a net with all pages flattened and references followed, or every
//! fault with its place. Graphics and tool-specific parts are passed over; whatever else could change
//! the meaning of the net (colours, capacities, inhibitor arcs) is refused by name.
//! Never here: markings other than the initial one.

use super::{Net, Place, Transition};
use bombus_base::diagnostic::Diagnostic;
use bombus_base::hash::HashMap;
use bombus_base::span::{FileId, Span};
use roxmltree::{Document, Node, ParsingOptions};
use std::collections::BTreeMap;

/// Reads a net.
pub fn read(file: FileId, text: &str) -> Result<Net, Vec<Diagnostic>> {
    // Documents may name a DTD; nothing is ever loaded from elsewhere.
    let options = ParsingOptions { allow_dtd: true, nodes_limit: u32::MAX, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|e| {
        let at = offset(text, e.pos().row, e.pos().col);
        vec![Diagnostic::error(Span::new(file, at, at), format!("no well-formed XML: {e}"))]
    })?;
    let mut reader = Reader { file, faults: Vec::new(), nodes: HashMap::new(), arcs: Vec::new() };
    let net = reader.document(document.root_element());
    match net {
        Some(net) if reader.faults.is_empty() => Ok(net),
        _ => {
            if reader.faults.is_empty() {
                reader.faults.push(Diagnostic::plain("there is no net in this file"));
            }
            Err(reader.faults)
        }
    }
}

/// The byte at a row and a column, both counted from 1, columns in characters.
fn offset(text: &str, row: u32, column: u32) -> usize {
    let line = text.split_inclusive('\n').take(row.saturating_sub(1) as usize).map(str::len).sum::<usize>();
    let rest = text.get(line..).unwrap_or("");
    let within = rest.char_indices().nth(column.saturating_sub(1) as usize).map_or(rest.len(), |(at, _)| at);
    line + within
}

/// What an identifier of the file stands for.
#[derive(Clone, Debug)]
enum Meaning {
    Place(usize),
    Transition(usize),
    /// Another identifier, of a place or of a transition.
    Reference(String),
}

struct Reader<'a> {
    file: FileId,
    faults: Vec<Diagnostic>,
    nodes: HashMap<&'a str, (Meaning, Node<'a, 'a>)>,
    arcs: Vec<Node<'a, 'a>>,
}

/// Parts of the format that say nothing about behaviour.
const SILENT: [&str; 3] = ["name", "graphics", "toolspecific"];

impl<'a> Reader<'a> {
    fn span(&self, node: Node) -> Span {
        let range = node.range();
        // The opening tag alone: a caret under a whole page would help nobody.
        let end = range.end.min(range.start + node.tag_name().name().len() + 1);
        Span::new(self.file, range.start, end)
    }

    fn fault(&mut self, node: Node, message: impl Into<String>) {
        self.faults.push(Diagnostic::error(self.span(node), message));
    }

    fn document(&mut self, root: Node<'a, 'a>) -> Option<Net> {
        if root.tag_name().name() != "pnml" {
            self.fault(root, "a PNML document begins with <pnml>");
            return None;
        }
        let mut nets = root.children().filter(|n| n.has_tag_name_local("net"));
        let first = nets.next()?;
        if let Some(second) = nets.next() {
            self.fault(second, "a second net: one file is one model here");
        }
        let kind = first.attribute("type").unwrap_or("");
        // The last word of the type tells; editors of before the standard wrote `ptNetb`.
        let word = kind.rsplit(['/', '#']).next().unwrap_or("").to_ascii_lowercase();
        if !(matches!(word.as_str(), "ptnet" | "ptnetb") || kind.contains("P/T")) {
            let message = format!("a net of type `{kind}`: only place/transition nets (ptnet) can be read");
            self.fault(first, message);
            return None;
        }
        let mut net = Net { name: first.attribute("id").unwrap_or("net").to_string(), ..Net::default() };
        self.pages(first, &mut net);
        self.references();
        self.connect(&mut net);
        Some(net)
    }

    /// Collects what stands on the pages, whatever page it stands on.
    fn pages(&mut self, top: Node<'a, 'a>, net: &mut Net) {
        let mut open = vec![top];
        while let Some(page) = open.pop() {
            for node in page.children().filter(Node::is_element) {
                match node.tag_name().name() {
                    "page" => open.push(node),
                    "place" => {
                        let tokens = self.number(node, "initialMarking", 0);
                        self.only(node, &["initialMarking"]);
                        if let Some(id) = self.declare(node, Meaning::Place(net.places.len())) {
                            net.places.push(Place { id, name: name(node), tokens });
                        }
                    }
                    "transition" => {
                        self.only(node, &[]);
                        if let Some(id) = self.declare(node, Meaning::Transition(net.transitions.len())) {
                            let (takes, puts) = (Vec::new(), Vec::new());
                            net.transitions.push(Transition { id, name: name(node), takes, puts });
                        }
                    }
                    "referencePlace" | "referenceTransition" => match node.attribute("ref") {
                        Some(to) => {
                            self.declare(node, Meaning::Reference(to.to_string()));
                        }
                        None => self.fault(node, "a reference without `ref`"),
                    },
                    "arc" => self.arcs.push(node),
                    silent if SILENT.contains(&silent) => {}
                    other => {
                        self.fault(node, format!("<{other}> has no meaning in a place/transition net"));
                    }
                }
            }
        }
    }

    fn declare(&mut self, node: Node<'a, 'a>, meaning: Meaning) -> Option<String> {
        let Some(id) = node.attribute("id") else {
            self.fault(node, "this element needs an `id`");
            return None;
        };
        if let Some((_, before)) = self.nodes.get(id) {
            let before = self.span(*before);
            let fault = Diagnostic::error(self.span(node), format!("`{id}` is declared twice"));
            self.faults.push(fault.label(before, "here first"));
            return None;
        }
        self.nodes.insert(id, (meaning, node));
        Some(id.to_string())
    }

    /// Refuses parts that a place/transition net does not have.
    fn only(&mut self, node: Node<'a, 'a>, allowed: &[&str]) {
        for part in node.children().filter(Node::is_element) {
            let part_name = part.tag_name().name();
            if !SILENT.contains(&part_name) && !allowed.contains(&part_name) {
                let message = format!("<{part_name}> has no meaning in a place/transition net");
                self.fault(part, message);
            }
        }
    }

    /// The number in the text of a part of a node, or another one if there is no such part.
    fn number(&mut self, node: Node<'a, 'a>, part: &str, otherwise: u64) -> u64 {
        let mut parts = node.children().filter(|n| n.has_tag_name_local(part));
        let Some(found) = parts.next() else { return otherwise };
        if let Some(again) = parts.next() {
            self.fault(again, format!("a second <{part}>"));
        }
        let text = text_of(found).unwrap_or_default();
        match text.parse::<u64>() {
            Ok(number) => number,
            Err(_) => {
                self.fault(found, format!("`{text}` is not a number of tokens below 2^64"));
                otherwise
            }
        }
    }

    /// The place or transition that an end of an arc names.
    fn end(&mut self, arc: Node<'a, 'a>, attribute: &str) -> Option<Meaning> {
        let Some(written) = arc.attribute(attribute) else {
            self.fault(arc, format!("an arc without `{attribute}`"));
            return None;
        };
        if !self.nodes.contains_key(written) {
            self.fault(arc, format!("there is no place and no transition `{written}`"));
        }
        // What is wrong with a reference was told where the reference stands.
        self.followed(written).ok()
    }

    /// The place or transition that an identifier stands for in the end, or what is wrong with it.
    fn followed(&self, written: &str) -> Result<Meaning, String> {
        let mut id = written;
        // A chain of references that is longer than there are nodes goes round.
        for _ in 0..=self.nodes.len() {
            match self.nodes.get(id) {
                None => return Err(format!("there is no place and no transition `{id}`")),
                Some((Meaning::Reference(to), _)) => id = to,
                Some((meaning, _)) => return Ok(meaning.clone()),
            }
        }
        Err(format!("the references from `{written}` go round in a circle"))
    }

    /// A reference to a place leads to a place, one to a transition to a transition.
    fn references(&mut self) {
        let mut all: Vec<(&str, Node)> = Vec::new();
        for (id, (meaning, node)) in &self.nodes {
            if matches!(meaning, Meaning::Reference(_)) {
                all.push((*id, *node));
            }
        }
        all.sort_by_key(|(_, node)| node.range().start);
        for (id, node) in all {
            let place = node.tag_name().name() == "referencePlace";
            match self.followed(id) {
                Ok(Meaning::Place(_)) if place => {}
                Ok(Meaning::Transition(_)) if !place => {}
                Ok(_) => self.fault(node, format!("`{id}` refers to a node of the other kind")),
                Err(wrong) => self.fault(node, wrong),
            }
        }
    }

    /// Puts the arcs into the transitions. Arcs between the same nodes add up.
    fn connect(&mut self, net: &mut Net) {
        let mut takes: Vec<BTreeMap<usize, u64>> = vec![BTreeMap::new(); net.transitions.len()];
        let mut puts = takes.clone();
        for arc in std::mem::take(&mut self.arcs) {
            self.only(arc, &["inscription", "type"]);
            // Some editors write the type of an arc as an attribute, others as an element.
            let elements = arc.children().filter(|part| part.has_tag_name_local("type"));
            let kinds = elements.map(|part| part.attribute("value").unwrap_or(""));
            if let Some(kind) = kinds.chain(arc.attribute("type")).find(|kind| *kind != "normal") {
                self.fault(arc, format!("an arc of type `{kind}`: only plain arcs can be read"));
            }
            let weight = self.number(arc, "inscription", 1);
            if weight == 0 {
                self.fault(arc, "an arc of weight 0");
            }
            let (Some(source), Some(target)) = (self.end(arc, "source"), self.end(arc, "target")) else {
                continue;
            };
            let sum = match (source, target) {
                (Meaning::Place(p), Meaning::Transition(t)) => takes[t].entry(p).or_insert(0),
                (Meaning::Transition(t), Meaning::Place(p)) => puts[t].entry(p).or_insert(0),
                _ => {
                    self.fault(arc, "an arc joins a place and a transition");
                    continue;
                }
            };
            match sum.checked_add(weight) {
                Some(more) => *sum = more,
                None => self.fault(arc, "the arcs between two nodes weigh 2^64 or more"),
            }
        }
        for (t, (takes, puts)) in net.transitions.iter_mut().zip(takes.into_iter().zip(puts)) {
            t.takes = takes.into_iter().collect();
            t.puts = puts.into_iter().collect();
        }
    }
}

/// The name of a node for people.
fn name(node: Node) -> Option<String> {
    text_of(node.children().find(|n| n.has_tag_name_local("name"))?).filter(|text| !text.is_empty())
}

/// The text in the `<text>` of a label, trimmed.
fn text_of(label: Node) -> Option<String> {
    let text = label.children().find(|n| n.has_tag_name_local("text"))?;
    Some(text.text().unwrap_or("").trim().to_string())
}

/// Names of elements whatever their name space, because old files have none.
trait Local {
    fn has_tag_name_local(&self, name: &str) -> bool;
}

impl Local for Node<'_, '_> {
    fn has_tag_name_local(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPE: &str = "http://www.pnml.org/version-2009/grammar/ptnet";

    fn document(inside: &str) -> String {
        format!("<pnml><net id=\"n\" type=\"{TYPE}\">{inside}</net></pnml>")
    }

    fn faults(inside: &str) -> Vec<String> {
        let faults = read(FileId(0), &document(inside)).unwrap_err();
        faults.into_iter().map(|d| d.message).collect()
    }

    #[test]
    fn pages_are_flattened_references_followed_and_parallel_arcs_added_up() {
        let text = document(
            "<page id=\"a\"><place id=\"p\"><initialMarking><text> 3 </text></initialMarking></place>
             <page id=\"b\"><referencePlace id=\"r\" ref=\"p\"/><referencePlace id=\"s\" ref=\"r\"/>
             <transition id=\"t\"><name><text>go</text></name></transition>
             <arc id=\"1\" source=\"s\" target=\"t\"><inscription><text>2</text></inscription></arc>
             <arc id=\"2\" source=\"p\" target=\"t\"/></page>
             <place id=\"q\"/><arc id=\"3\" source=\"t\" target=\"q\"/></page>",
        );
        let net = read(FileId(0), &text).unwrap();
        let places: Vec<(&str, u64)> = net.places.iter().map(|p| (p.id.as_str(), p.tokens)).collect();
        assert_eq!(places, [("p", 3), ("q", 0)]);
        assert_eq!(net.transitions[0].name.as_deref(), Some("go"));
        assert_eq!(
            (&net.transitions[0].takes[..], &net.transitions[0].puts[..]),
            (&[(0, 3)][..], &[(1, 1)][..])
        );
        assert_eq!(net.transitions[0].changes(), [(0, -3), (1, 1)]);
    }

    #[test]
    fn all_faults_of_a_net_are_told_at_once() {
        let told = faults(
            "<page id=\"a\"><place id=\"p\"><initialMarking><text>x</text></initialMarking><capacity/></place>
             <place id=\"p\"/><transition id=\"t\"/><arc id=\"1\" source=\"p\" target=\"nowhere\"/>
             <arc id=\"2\" source=\"p\" target=\"p\"/>
             <arc id=\"3\" source=\"p\" target=\"t\" type=\"inhibitor\"/>
             <referencePlace id=\"u\" ref=\"v\"/><referencePlace id=\"v\" ref=\"u\"/>
             <arc id=\"4\" source=\"u\" target=\"t\"/></page>",
        );
        for part in [
            "`x` is not a number",
            "<capacity>",
            "declared twice",
            "`nowhere`",
            "joins a place",
            "inhibitor",
            "circle",
        ] {
            assert!(told.iter().any(|m| m.contains(part)), "{part} in {told:?}");
        }
    }

    #[test]
    fn coloured_nets_are_refused_by_their_type() {
        let text =
            "<pnml><net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/symmetricnet\"/></pnml>";
        assert!(read(FileId(0), text).unwrap_err()[0].message.contains("symmetricnet"));
        assert!(read(FileId(0), "<pnml>").unwrap_err()[0].message.contains("well-formed"));
        assert!(read(FileId(0), "<pnml/>").unwrap_err()[0].message.contains("no net"));
    }
}
