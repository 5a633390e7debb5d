//! Modules, instances and timed sections made flat.
//!
//! In: the declarations of a script as written. Out: declarations without nesting, whose names are those of the whole
//! script (`M::x`), each with its place: the level of names that tells what its names mean, and the timing of its section.
//! A module with parameters is copied for each instance, with the parameters as definitions. Never here: expressions.

use super::token::{Names, Sym};
use super::tree::{Decl, DeclKind, Expr, Kind, Place};
use bombus_base::Span;
use bombus_base::diagnostic::Diagnostic;
use std::collections::{HashMap, HashSet};

/// Modules inside of each other.
const DEEPEST: usize = 60;
/// Instances of a script, those inside of instances counted each time.
const MOST: usize = 20_000;

/// The names of one module, or of the script.
#[derive(Default)]
struct Level {
    outer: Option<u32>,
    /// What stands before each name of the level, with `::` at its end.
    path: String,
    /// What is declared here, by the name as written.
    names: HashMap<Sym, Sym>,
    /// Modules and instances that are declared here, by the name as written.
    modules: HashMap<Sym, Sym>,
}

/// What the names of each level mean.
#[derive(Default)]
pub struct Levels {
    levels: Vec<Level>,
    /// Names that only the module itself may use.
    hidden: HashSet<Sym>,
}

/// What a name as written stands for.
pub enum Meaning {
    Name(Sym),
    /// The name of a module that does not export it.
    Hidden(Sym),
}

impl Levels {
    /// The name of the whole script that a name as written means.
    pub fn meaning(&self, name: Sym, level: u32, names: &mut Names) -> Meaning {
        let text = names.text(name).to_string();
        let Some((head, rest)) = text.split_once("::") else {
            let found = self.search(level, |l| l.names.get(&name).copied());
            return Meaning::Name(found.unwrap_or(name));
        };
        let head = names.sym(head);
        let Some(module) = self.search(level, |l| l.modules.get(&head).copied()) else {
            return Meaning::Name(name);
        };
        let mut so_far = names.text(module).to_string();
        for part in rest.split("::") {
            so_far = format!("{so_far}::{part}");
            let at = names.sym(&so_far);
            if self.hidden.contains(&at) {
                return Meaning::Hidden(at);
            }
        }
        Meaning::Name(names.sym(&so_far))
    }

    fn search(&self, level: u32, find: impl Fn(&Level) -> Option<Sym>) -> Option<Sym> {
        let mut at = self.levels.get(level as usize);
        while let Some(level) = at {
            if let Some(found) = find(level) {
                return Some(found);
            }
            at = level.outer.map(|n| &self.levels[n as usize]);
        }
        None
    }
}

/// A module that instances are made of.
struct Template {
    parameters: Vec<(Sym, Span)>,
    inside: Vec<Decl>,
    exports: Vec<Decl>,
    /// Where the module was declared.
    place: Place,
}

/// An instance whose module is still to be found.
struct Waiting {
    name: Sym,
    module: Sym,
    span: Span,
    arguments: Vec<Expr>,
    place: Place,
    depth: usize,
}

struct Flattener<'n> {
    names: &'n mut Names,
    out: Vec<Decl>,
    levels: Levels,
    templates: HashMap<Sym, std::rc::Rc<Template>>,
    waiting: Vec<Waiting>,
    faults: Vec<Diagnostic>,
    made: usize,
    /// Names of channels and constructors: they stand for themselves in patterns.
    constants: HashSet<Sym>,
    sections: usize,
}

/// The flat declarations, the meaning of their names, and what is wrong with the modules.
pub fn flat(decls: Vec<Decl>, names: &mut Names) -> (Vec<Decl>, Levels, Vec<Diagnostic>) {
    let mut flattener = Flattener {
        names,
        out: Vec::new(),
        levels: Levels::default(),
        templates: HashMap::new(),
        waiting: Vec::new(),
        faults: Vec::new(),
        made: 0,
        constants: HashSet::new(),
        sections: 0,
    };
    flattener.levels.levels.push(Level::default());
    flattener.declare(decls, Place { level: 0, timed: None }, "", false, 0);
    flattener.instances();
    flattener.patterns();
    (flattener.out, flattener.levels, flattener.faults)
}

impl Flattener<'_> {
    fn fault(&mut self, span: Span, message: String) {
        self.faults.push(Diagnostic::error(span, message));
    }

    /// The name of the whole script for one that is declared here.
    fn owned(&mut self, name: Sym, place: Place, path: &str, hidden: bool) -> Sym {
        if path.is_empty() {
            return name;
        }
        let whole = format!("{path}{}", self.names.text(name));
        let whole = self.names.sym(&whole);
        self.levels.levels[place.level as usize].names.insert(name, whole);
        if hidden {
            self.levels.hidden.insert(whole);
        }
        whole
    }

    fn declare(&mut self, decls: Vec<Decl>, place: Place, path: &str, hidden: bool, depth: usize) {
        for mut decl in decls {
            match decl.kind {
                DeclKind::Module(name, parameters, inside, exports) => {
                    let template = Template { parameters, inside, exports, place };
                    self.module(name, template, place, path, hidden, depth);
                    continue;
                }
                DeclKind::Instance(name, module, span, arguments) => {
                    let name = self.owned_module(name, place, path, hidden);
                    self.waiting.push(Waiting { name, module, span, arguments, place, depth });
                    continue;
                }
                DeclKind::Timed(function, inner) => {
                    let timed = self.section(function, place, decl.span);
                    self.declare(inner, Place { timed: Some(timed), ..place }, path, hidden, depth);
                    continue;
                }
                _ => {}
            }
            self.rename(&mut decl.kind, place, path, hidden);
            decl.place = Some(place);
            self.out.push(decl);
        }
    }

    /// The definition of the timing of a section, and its name.
    fn section(&mut self, function: Option<Expr>, place: Place, span: Span) -> Sym {
        self.sections += 1;
        timing(function, place, span, self.sections, self.names, &mut self.out)
    }

    fn rename(&mut self, kind: &mut DeclKind, place: Place, path: &str, hidden: bool) {
        match kind {
            DeclKind::Clause(name, ..) | DeclKind::Subtype(name, _) | DeclKind::Nametype(name, _) => {
                *name = self.owned(*name, place, path, hidden);
            }
            DeclKind::Channel(names, _) => {
                for (name, _) in names {
                    *name = self.owned(*name, place, path, hidden);
                    self.constants.insert(*name);
                }
            }
            DeclKind::Datatype(name, arms) => {
                *name = self.owned(*name, place, path, hidden);
                for arm in arms {
                    arm.name = self.owned(arm.name, place, path, hidden);
                    self.constants.insert(arm.name);
                }
            }
            DeclKind::Extern(names) | DeclKind::Annotation(names) => {
                names.iter_mut().for_each(|(name, _)| *name = self.owned(*name, place, path, hidden));
            }
            _ => {}
        }
    }

    fn owned_module(&mut self, name: Sym, place: Place, path: &str, hidden: bool) -> Sym {
        let whole = format!("{path}{}", self.names.text(name));
        let whole = self.names.sym(&whole);
        self.levels.levels[place.level as usize].modules.insert(name, whole);
        if hidden {
            self.levels.hidden.insert(whole);
        }
        whole
    }

    /// A module without parameters is there at once, one with parameters waits for its instances.
    fn module(
        &mut self,
        name: Sym,
        template: Template,
        place: Place,
        path: &str,
        hidden: bool,
        depth: usize,
    ) {
        let whole = self.owned_module(name, place, path, hidden);
        let template = std::rc::Rc::new(template);
        if self.templates.insert(whole, template.clone()).is_some() {
            let text = self.names.text(whole).to_string();
            let span = template.inside.iter().chain(&template.exports).map(|d| d.span).next();
            self.fault(span.unwrap_or_default(), format!("the module `{text}` is declared more than once"));
        } else if template.parameters.is_empty() {
            self.copy(whole, &template, depth);
        }
    }

    /// The declarations of a module under a name; the number of their level.
    fn copy(&mut self, name: Sym, template: &Template, depth: usize) -> u32 {
        let level = self.levels.levels.len() as u32;
        let path = format!("{}::", self.names.text(name));
        let outer = Some(template.place.level);
        self.levels.levels.push(Level { outer, path: path.clone(), ..Level::default() });
        let place = Place { level, timed: template.place.timed };
        self.declare(template.inside.clone(), place, &path, true, depth + 1);
        self.declare(template.exports.clone(), place, &path, false, depth + 1);
        level
    }

    /// Makes instances until no module is found any more.
    fn instances(&mut self) {
        loop {
            let mut made = false;
            for one in std::mem::take(&mut self.waiting) {
                let known = self.levels.search(one.place.level, |l| l.modules.get(&one.module).copied());
                let whole =
                    known.or_else(|| match self.levels.meaning(one.module, one.place.level, self.names) {
                        Meaning::Name(name) => Some(name),
                        Meaning::Hidden(_) => None,
                    });
                let Some(template) = whole.and_then(|name| self.templates.get(&name).cloned()) else {
                    self.waiting.push(one);
                    continue;
                };
                made = true;
                self.instance(one, &template);
            }
            if !made {
                break;
            }
        }
        for one in std::mem::take(&mut self.waiting) {
            let text = self.names.text(one.module).to_string();
            self.fault(one.span, format!("there is no module `{text}`"));
        }
    }

    fn instance(&mut self, one: Waiting, template: &Template) {
        let (wanted, given) = (template.parameters.len(), one.arguments.len());
        if wanted != given {
            let text = self.names.text(one.module).to_string();
            let message = format!("the module `{text}` takes {wanted} arguments, {given} are given");
            return self.fault(one.span, message);
        }
        self.made += 1;
        if one.depth > DEEPEST || self.made > MOST {
            return self.fault(one.span, "there is no end of instances inside of instances".to_string());
        }
        let level = self.copy(one.name, template, one.depth);
        let path = format!("{}::", self.names.text(one.name));
        let inner = Place { level, timed: None };
        for ((name, span), argument) in template.parameters.iter().zip(one.arguments) {
            let name = self.owned(*name, inner, &path, true);
            let kind = DeclKind::Clause(name, Vec::new(), argument);
            // The argument is evaluated where the instance stands.
            self.out.push(Decl { kind, span: *span, place: Some(one.place) });
        }
    }

    /// Names that patterns of modules define; those of channels and constructors are none.
    fn patterns(&mut self) {
        for i in 0..self.out.len() {
            let Some(place) = self.out[i].place.filter(|p| p.level > 0) else { continue };
            let DeclKind::Pattern(mut left, right) = self.out[i].kind.clone() else { continue };
            self.pattern(&mut left, place);
            self.out[i].kind = DeclKind::Pattern(left, right);
        }
    }

    fn pattern(&mut self, e: &mut Expr, place: Place) {
        match &mut e.kind {
            Kind::Name(name) => {
                let known = match self.levels.meaning(*name, place.level, self.names) {
                    Meaning::Name(known) | Meaning::Hidden(known) => known,
                };
                if !self.constants.contains(&known) {
                    let path = self.levels.levels[place.level as usize].path.clone();
                    *name = self.owned(*name, place, &path, false);
                }
            }
            Kind::Tuple(list) | Kind::Dot(list) | Kind::Seq(list, _) | Kind::Set(list, _) => {
                list.iter_mut().for_each(|e| self.pattern(e, place));
            }
            Kind::Both(a, b) | Kind::Binary(_, a, b) => {
                self.pattern(a, place);
                self.pattern(b, place);
            }
            _ => {}
        }
    }
}

/// Puts the definition of the timing of a section among declarations; its name, which no script can write.
pub fn timing(
    function: Option<Expr>,
    place: Place,
    span: Span,
    number: usize,
    names: &mut Names,
    out: &mut Vec<Decl>,
) -> Sym {
    let name = names.sym(&format!("timed function {number}"));
    let at = function.as_ref().map_or(span, |f| f.span);
    let function = function.unwrap_or_else(|| {
        let one = Expr { kind: Kind::Int(bombus_base::Int::ONE), span };
        let any = Expr { kind: Kind::Wildcard, span };
        Expr { kind: Kind::Lambda(vec![any], Box::new(one)), span }
    });
    let place = Some(Place { timed: None, ..place });
    out.push(Decl { kind: DeclKind::Clause(name, Vec::new(), function), span: at, place });
    name
}
