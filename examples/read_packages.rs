//! Reads every `.eventb` package named on the command line and says which could not be read.

use bombus::base::diagnostic::Sources;
use bombus::model::eventb::{Options, flatten};
use bombus::syntax::eventb::package;

fn main() {
    let (mut good, mut bad) = (0, 0);
    for path in std::env::args().skip(1) {
        let Ok(text) = std::fs::read_to_string(&path) else {
            println!("{path}: cannot be opened as UTF-8 text");
            continue;
        };
        let mut sources = Sources::default();
        let file = sources.add(path.as_str(), None, text);
        let read = package::read(&mut sources, file);
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
    println!("{good} read, {bad} not");
}
