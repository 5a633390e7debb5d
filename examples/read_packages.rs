//! Reads every `.eventb` package named on the command line and says which could not be read, and which
//! printed formula does not read back as the same tree.

use bombus::base::diagnostic::Sources;
use bombus::model::eventb::{Options, flatten};
use bombus::syntax::ast::Expr;
use bombus::syntax::eventb::{formula, package};

fn main() {
    let (mut good, mut bad, mut formulas, mut changed) = (0, 0, 0, 0);
    for path in std::env::args().skip(1) {
        let Ok(text) = std::fs::read_to_string(&path) else {
            println!("{path}: cannot be opened as UTF-8 text");
            continue;
        };
        let mut sources = Sources::default();
        let file = sources.add(path.as_str(), None, text);
        let read = package::read(&mut sources, file);
        if let Ok(project) = &read {
            let contexts = project.contexts.iter().flat_map(|c| &c.axioms);
            let invariants = project.machines.iter().flat_map(|m| &m.invariants);
            let events = || project.machines.iter().flat_map(|m| &m.events);
            let guards = events().flat_map(|e| e.guards.iter().chain(&e.witnesses));
            for f in contexts.chain(invariants).chain(guards) {
                formulas += 1;
                changed += usize::from(!reads_back(&sources, &f.expr));
            }
            for action in events().flat_map(|e| &e.actions) {
                formulas += 1;
                let text = sources.slice(action.stmt.span).to_string();
                match formula::assignment(action.stmt.span.file, &text) {
                    Ok(again) if again == action.stmt => {}
                    other => {
                        changed += 1;
                        println!("{text}\n   {other:?}");
                    }
                }
            }
        }
        match read.and_then(|project| flatten(&project, &Options::default())) {
            Ok(_) => good += 1,
            Err(errors) => {
                bad += 1;
                for error in errors.iter().take(3) {
                    print!("{}", sources.render(error));
                }
            }
        }
    }
    println!("{good} read, {bad} not; {formulas} formulas, {changed} read back differently");
}

fn reads_back(sources: &Sources, e: &Expr) -> bool {
    let text = &sources.get(e.span.file).text;
    match formula::formula(e.span.file, text) {
        Ok(again) if again == *e => true,
        Ok(_) => {
            println!("{text}");
            false
        }
        Err(error) => {
            print!("{}", sources.render(&error));
            false
        }
    }
}
