//! House rules that a reader relies on: the order of modules, and headers on files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What each module of the crate `bombus` may name besides itself and the crates below it. Data flows one way; between
/// crates the compiler holds that.
const MAY_NAME: &[(&str, &[&str])] = &[
    ("pins", &[]),
    ("report", &[]),
    ("driver", &["pins", "report"]),
    // The library for users with a formalism of their own: stands beside `driver`.
    ("api", &["report"]),
    // Many checks as processes of their own: stands beside `driver`, knows a check by its JSON alone.
    ("runs", &["report"]),
    // A model as a local web page: what a user of the page asks for is done by `driver`.
    ("serve", &["report", "driver"]),
    ("cli", &["pins", "report", "driver", "runs", "serve"]),
];

/// Crates that know states and steps, and nothing of the languages that these come from.
const WITHOUT_LANGUAGE: &[&str] =
    &["base", "system", "explore", "graph", "ltl", "bdd", "net", "via", "cluster"];

/// Crates of the languages, which those without a language must not name.
const OF_LANGUAGES: &[&str] =
    &["source", "syntax", "lang", "analyse", "model", "evaluate", "explain", "program", "symbolic", "csp"];

/// The folders of `src` that are crates, with their manifests.
fn crates_of_src() -> Vec<(String, String)> {
    let folders = fs::read_dir(root().join("src")).expect("the sources");
    let mut all: Vec<(String, String)> = folders
        .flatten()
        .filter_map(|e| {
            let manifest = fs::read_to_string(e.path().join("Cargo.toml")).ok()?;
            Some((e.file_name().to_string_lossy().into_owned(), manifest))
        })
        .collect();
    all.sort();
    all
}

fn rust_files(dir: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(d) = open.pop() {
        let Ok(entries) = fs::read_dir(&d) else { continue };
        for e in entries.flatten() {
            let p = e.path();
            if p.is_dir() {
                open.push(p);
            } else if p.extension().is_some_and(|x| x == "rs") {
                out.push(p);
            }
        }
    }
    out.sort();
    out
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The text without line comments, so that prose may name any module.
fn code_of(text: &str) -> String {
    text.lines().map(|l| l.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

/// Modules of this crate that the code names: `crate::a`, `crate::{a, b::c}`.
fn named_modules(code: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        if let Some(group) = rest.strip_prefix('{') {
            let mut depth = 1;
            let mut word = String::new();
            let mut first = true;
            for c in group.chars() {
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    _ => {}
                }
                if depth == 1 && (c == ',' || c == '{') {
                    first = true;
                    names.push(std::mem::take(&mut word));
                } else if depth == 1 && first && (c.is_alphanumeric() || c == '_') {
                    word.push(c);
                } else if !c.is_whitespace() {
                    first = false;
                }
                if depth == 0 {
                    break;
                }
            }
            names.push(word);
        } else {
            names.push(rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
        }
    }
    names.retain(|n| !n.is_empty());
    names
}

#[test]
fn a_module_names_only_what_stands_upstream() {
    let allowed: BTreeMap<&str, &[&str]> = MAY_NAME.iter().copied().collect();
    let crates: Vec<String> = crates_of_src().into_iter().map(|(name, _)| name).collect();
    let src = root().join("src");
    let mut wrong = Vec::new();
    for file in rust_files(&src) {
        let rel = file.strip_prefix(&src).unwrap();
        let module = rel.components().next().unwrap().as_os_str().to_string_lossy().replace(".rs", "");
        let Some(may) = allowed.get(module.as_str()) else {
            let elsewhere = crates.contains(&module) || ["main", "lib", "solve"].contains(&module.as_str());
            assert!(elsewhere, "unknown module {module}: give it a place");
            continue;
        };
        for name in named_modules(&code_of(&fs::read_to_string(&file).unwrap())) {
            if allowed.contains_key(name.as_str()) && name != module && !may.contains(&name.as_str()) {
                wrong.push(format!("{} names {name}", rel.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "against the flow of data:\n{}", wrong.join("\n"));
}

#[test]
fn searches_and_graphs_know_no_language() {
    for (name, manifest) in crates_of_src() {
        for language in OF_LANGUAGES {
            assert!(
                !WITHOUT_LANGUAGE.contains(&name.as_str())
                    || !manifest.contains(&format!("bombus-{language}.workspace")),
                "{name} names {language}"
            );
        }
    }
}

#[test]
fn every_file_opens_with_what_it_is() {
    let mut bare = Vec::new();
    for dir in
        ["src", "certify/src", "kernels/src", "oracle/src", "perf/src", "pins/src", "examples", "tests"]
    {
        for file in rust_files(&root().join(dir)) {
            let text = fs::read_to_string(&file).unwrap();
            if !text.starts_with("//! ") {
                bare.push(file.display().to_string());
            }
        }
    }
    assert!(bare.is_empty(), "no `//!` header in:\n{}", bare.join("\n"));
}

#[test]
fn unsafe_stands_only_in_kernels_and_pins() {
    let mut roots = vec![root().join("src/lib.rs")];
    roots.extend(crates_of_src().iter().map(|(name, _)| root().join("src").join(name).join("mod.rs")));
    assert!(roots.len() > 15, "the crates of src were not found");
    for file in roots {
        let text = fs::read_to_string(&file).expect("the root of a crate");
        assert!(text.contains("#![forbid(unsafe_code)]"), "{} allows unsafe code", file.display());
    }
}

/// Documents for readers; `perf/lessons.md` tells of what was, so only its links are followed.
fn documents() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "bench-models/README.md"]
        .iter()
        .map(|name| root().join(name))
        .collect();
    let docs = fs::read_dir(root().join("docs")).expect("there are documents");
    all.extend(docs.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "md")));
    all.sort();
    all
}

#[test]
fn files_that_documents_point_to_exist() {
    let mut missing = Vec::new();
    for doc in documents().into_iter().chain([root().join("perf/lessons.md")]) {
        let text = fs::read_to_string(&doc).expect("a document");
        let base = doc.parent().expect("a folder").to_path_buf();
        for (at, _) in text.match_indices("](") {
            let link: String = text[at + 2..].chars().take_while(|c| *c != ')' && *c != '#').collect();
            if !link.contains("://") && !link.is_empty() && !base.join(&link).exists() {
                missing.push(format!("{}: {link}", doc.display()));
            }
        }
    }
    assert!(missing.is_empty(), "links to nowhere:\n{}", missing.join("\n"));
}

/// Paths of this repository that a text names, by the folders they begin with.
fn named_paths(text: &str) -> Vec<String> {
    const FOLDERS: [&str; 9] =
        ["src/", "docs/", "tests/", "certify/", "kernels/", "oracle/", "examples/", "bench-models/", "pins/"];
    let path = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    text.split(|c: char| !path(c))
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| FOLDERS.iter().any(|folder| word.starts_with(folder) && word.len() > folder.len()))
        .map(str::to_string)
        .collect()
}

#[test]
fn paths_that_prose_names_exist() {
    let mut missing = Vec::new();
    let mut check = |file: &Path, text: &str, bases: &[PathBuf]| {
        for path in named_paths(text) {
            if !bases.iter().any(|base| base.join(&path).exists()) {
                missing.push(format!("{}: {path}", file.display()));
            }
        }
    };
    for doc in documents() {
        let text = fs::read_to_string(&doc).expect("a document");
        let beside = doc.parent().expect("a folder").to_path_buf();
        check(&doc, &text, &[root(), beside]);
    }
    for dir in ["src", "certify/src", "kernels/src", "oracle/src", "perf/src", "pins/src", "tests"] {
        for file in rust_files(&root().join(dir)) {
            let text = fs::read_to_string(&file).expect("a source");
            let prose: Vec<&str> = text.lines().filter(|l| l.trim_start().starts_with("//")).collect();
            let package = root().join(dir.split('/').next().unwrap_or(dir));
            check(&file, &prose.join("\n"), &[root(), package]);
        }
    }
    assert!(missing.is_empty(), "paths to nowhere:\n{}", missing.join("\n"));
}

#[test]
fn only_the_judge_names_the_oracle() {
    let src = root().join("src");
    let mut wrong = Vec::new();
    for file in rust_files(&src) {
        let rel = file.strip_prefix(&src).expect("a file of src").display().to_string();
        let code = code_of(&fs::read_to_string(&file).expect("a source"));
        if code.contains("bombus_oracle") && !rel.starts_with("driver/judge") {
            wrong.push(rel);
        }
    }
    assert!(wrong.is_empty(), "named the oracle: {wrong:?}");
    let manifest = fs::read_to_string(root().join("oracle/Cargo.toml")).expect("the manifest of the oracle");
    let depends = manifest.split("[dependencies]").nth(1).expect("a list of dependencies");
    assert!(!depends.contains("path") && !depends.contains("bombus"), "the oracle depends on us");
    let manifest =
        fs::read_to_string(root().join("certify/Cargo.toml")).expect("the manifest of the checker");
    let depends = manifest.split("[dependencies]").nth(1).expect("a list of dependencies");
    assert_eq!(
        depends.matches("path =").count(),
        1,
        "the checker of certificates depends on the oracle alone"
    );
    assert!(depends.contains("bombus-oracle = { path = \"../oracle\" }"));
}
