//! Proof status of a Rodin project: what its authors proved, as far as it can be believed.
//!
//! In: the texts of `.bps` and `.bpo` files. Out: obligations that are discharged, unbroken, and whose
//! stamp is that of the obligation as it stands now; everything else counts as open.

use super::rodin::{attribute, document};
use super::{Proof, ProofStatus};
use bombus_base::diagnostic::{Diagnostic, Sources};
use bombus_base::{FileId, Name};
use std::collections::BTreeMap;

/// Confidence from which Rodin calls an obligation discharged, and reviewed.
const DISCHARGED: i64 = 1000;
const REVIEWED: i64 = 101;

/// Reads the status file of a component; `obligations` is its `.bpo` file, if there is one.
pub fn read(
    sources: &Sources,
    component: &str,
    status: FileId,
    obligations: Option<FileId>,
) -> Result<Vec<Proof>, Diagnostic> {
    let stamps = match obligations {
        Some(file) => Some(stamps(sources, file)?),
        None => None,
    };
    let text = &sources.get(status).text;
    let document = document(text, status)?;
    let mut proofs = Vec::new();
    for node in document.root_element().children().filter(|n| n.is_element()) {
        let Some(name) = node.attribute("name") else { continue };
        let confidence: i64 = attribute(node, "confidence").and_then(|c| c.parse().ok()).unwrap_or(0);
        let broken = attribute(node, "psBroken") == Some("true");
        let stamp = attribute(node, "poStamp");
        // Without the obligations as they are now nobody knows what was proved.
        let now = stamps.as_ref().and_then(|s| s.get(name)).map(String::as_str);
        let current = now.is_some() && now == stamp;
        let status = match confidence {
            _ if broken || !current => ProofStatus::Open,
            DISCHARGED.. => ProofStatus::Discharged,
            REVIEWED.. => ProofStatus::Reviewed,
            _ => ProofStatus::Open,
        };
        proofs.push(proof(component, name, status));
    }
    Ok(proofs)
}

/// Rodin's word for a kind of obligation that ProB's exporter describes in several.
pub fn kind(described: &str) -> Name {
    let words: Vec<&str> = described.split_whitespace().collect();
    match words.as_slice() {
        ["Invariant", ..] => "INV",
        ["Guard", "strengthening", "(merge)"] => "MRG",
        ["Guard", "strengthening", ..] => "GRD",
        ["Action", "simulation"] => "SIM",
        ["Well-definedness", "of", "witness"] => "WWD",
        ["Well-definedness", ..] => "WD",
        ["Feasibility", "of", "witness"] => "WFIS",
        ["Feasibility", ..] => "FIS",
        ["Equality", ..] => "EQL",
        ["Theorem"] => "THM",
        ["Variant", "of", "event"] => "VAR",
        ["Natural", "number", "variant", ..] => "NAT",
        ["Finiteness", ..] => "FIN",
        _ => described,
    }
    .into()
}

/// Stamps of the obligations as they are generated now, by name.
fn stamps(sources: &Sources, file: FileId) -> Result<BTreeMap<String, String>, Diagnostic> {
    let text = &sources.get(file).text;
    let document = document(text, file)?;
    let sequents = document.root_element().children().filter(|n| n.is_element());
    Ok(sequents
        .filter_map(|n| Some((n.attribute("name")?.to_string(), attribute(n, "poStamp")?.to_string())))
        .collect())
}

/// `evt/inv/INV` names the event, the invariant and the kind; `axm1/WD` the axiom and the kind.
fn proof(component: &str, name: &str, status: ProofStatus) -> Proof {
    let parts: Vec<&str> = name.split('/').collect();
    let (kind, rest) = parts.split_last().map_or(("", &parts[..]), |(kind, rest)| (*kind, rest));
    let part = match kind {
        "INV" => "invariant",
        "GRD" => "guard",
        "SIM" | "FIS" => "action",
        "WFIS" | "WWD" => "witness",
        _ => "formula",
    };
    let about = match rest {
        [event, label] => vec![("event".into(), (*event).into()), (part.into(), (*label).into())],
        [one] => vec![(part.into(), (*one).into())],
        _ => Vec::new(),
    };
    Proof { component: component.into(), kind: kind.into(), about, status }
}
