//! Prints the components of an Event-B model as text.

use bombus::base::diagnostic::Sources;
use bombus::model::LoadOptions;
use bombus::model::eventb::components;
use std::path::Path;

fn main() {
    for path in std::env::args().skip(1) {
        let mut sources = Sources::default();
        let project = match components(Path::new(&path), &LoadOptions::default(), &mut sources) {
            Ok(project) => project,
            Err(errors) => {
                errors.iter().for_each(|e| print!("{}", sources.render(e)));
                continue;
            }
        };
        print!("{}", bombus::syntax::eventb::printer::project_text(&project, &sources));
    }
}
