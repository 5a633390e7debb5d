//! Models that were compiled to shared libraries, with the symbols that LTSmin loads: the unsafe part.
//!
//! In: the path of a library of DVE2C kind (`get_successor`, …) or of SpinS kind (`spins_get_successor`, …).
//! Out: a `Model` with safe methods: names, dependency and guard matrices, successors of a state.
//! Never here: the search, what a reduction makes of the matrices.
//!
//! A library is code: whoever loads one trusts it as much as the program itself. What can be checked is
//! checked (counts, null pointers, indices in range). States are vectors of `i32`.

mod symbols;

pub use symbols::Flavour;

use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;
use symbols::{Index, Row, Symbols};

/// A loaded model.
pub struct Model {
    symbols: Symbols,
    pub flavour: Flavour,
    pub variables: Vec<Variable>,
    pub types: Vec<Type>,
    pub initial: Vec<i32>,
    /// What transitions are labelled with: names, and types as indices.
    pub edge_labels: Vec<(String, usize)>,
    pub groups: Vec<Group>,
    pub guards: Vec<Guard>,
    /// Labels of states by name, with the number to ask for; guards are among them.
    pub state_labels: Vec<(String, usize)>,
    /// Whether the library says which groups do not accord; else overlaps of what they touch do.
    pub knows_accordance: bool,
    /// Whether a property automaton is part of the model.
    pub has_property: bool,
    // Unloaded last: the symbols above point into it.
    _library: libloading::Library,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    pub ty: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    pub name: String,
    /// Names of the values from 0; empty for plain numbers.
    pub values: Vec<String>,
}

/// A group of transitions, with rows of the matrices about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// By variable.
    pub reads: Vec<bool>,
    pub may_write: Vec<bool>,
    /// Guards that all hold where the group has a transition.
    pub guards: Vec<usize>,
    /// By group: whether the two do not accord. Empty if the library does not say.
    pub not_accord: Vec<bool>,
}

/// A guard, with rows of the matrices about it. Rows are empty where the library does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guard {
    /// By variable.
    pub reads: Vec<bool>,
    /// By guard: whether both may hold in one state.
    pub together: Vec<bool>,
    /// By group: whether its transitions may make the guard true, or false.
    pub enablers: Vec<bool>,
    pub disablers: Vec<bool>,
}

/// A transition as a library tells it.
#[repr(C)]
struct TransitionInfo {
    labels: *mut c_int,
    group: c_int,
    proviso: c_int,
}

/// Where the callback puts transitions.
struct Heard<'a> {
    length: usize,
    labels: usize,
    each: &'a mut dyn FnMut(&[i32], &[i32]),
}

extern "C" fn hear(context: *mut c_void, info: *mut TransitionInfo, target: *mut c_int, _copied: *mut c_int) {
    if context.is_null() || target.is_null() {
        return;
    }
    // SAFETY: `Model::successors` passes a `Heard` that lives through the call, and a library of this kind
    // calls back with a state vector of the length that it named itself.
    let (heard, state) = unsafe {
        let heard = &mut *context.cast::<Heard>();
        let state = std::slice::from_raw_parts(target.cast_const(), heard.length);
        (heard, state)
    };
    // SAFETY: labels are absent, or as many as the library said.
    let labels = unsafe {
        match info.as_ref() {
            Some(info) if !info.labels.is_null() && heard.labels > 0 => {
                std::slice::from_raw_parts(info.labels.cast_const(), heard.labels)
            }
            _ => &[],
        }
    };
    (heard.each)(labels, state);
}

impl Model {
    /// Loads a library, runs its initialisers and reads all that it says of its model.
    pub fn open(path: &Path) -> Result<Model, String> {
        // A bare name would be looked for in the directories of the system.
        let path = path.canonicalize().map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        // SAFETY: loading runs code of the library; the user named it as a model to be run.
        let library =
            unsafe { libloading::Library::new(&path) }.map_err(|e| format!("cannot load it: {e}"))?;
        let (symbols, flavour) = Symbols::find(&library)?;
        read(symbols, flavour, library)
    }

    /// Calls back with labels and target of each transition of a group from a state.
    pub fn successors(&self, group: usize, state: &[i32], each: &mut dyn FnMut(&[i32], &[i32])) {
        assert!(state.len() == self.variables.len() && group < self.groups.len());
        let mut source: Vec<c_int> = state.to_vec();
        let mut heard = Heard { length: state.len(), labels: self.edge_labels.len(), each };
        let context = (&raw mut heard).cast::<c_void>();
        // SAFETY: the symbol has this type in both flavours; the state is a copy that the library may scribble
        // on; the context lives until the call returns. Libraries of this kind keep no state between calls:
        // LTSmin calls them from many threads at once.
        unsafe {
            (self.symbols.successor)(
                std::ptr::null_mut(),
                group as c_int,
                source.as_mut_ptr(),
                hear,
                context,
            );
        }
    }

    /// The value of a label of states.
    pub fn label(&self, number: usize, state: &[i32]) -> i32 {
        assert!(state.len() == self.variables.len());
        let Some(label) = self.symbols.label else { return 0 };
        let mut source: Vec<c_int> = state.to_vec();
        // SAFETY: as for `successors`; the number is one that the library gave out.
        unsafe { label(std::ptr::null_mut(), number as c_int, source.as_mut_ptr()) }
    }
}

/// More than this of anything is taken for a library of another kind.
const MOST: c_int = 1 << 20;

fn count(name: &str, n: c_int) -> Result<usize, String> {
    if (0..=MOST).contains(&n) { Ok(n as usize) } else { Err(format!("{name} says {n}")) }
}

/// Reads all that a library says of its model.
fn read(symbols: Symbols, flavour: Flavour, library: libloading::Library) -> Result<Model, String> {
    let s = &symbols;
    // SAFETY: each symbol has the type that LTSmin declares for its name; arguments are in range.
    unsafe {
        let length = count("the number of variables", (s.variable_count)())?;
        let type_count = count("the number of types", (s.type_count)())?;
        let group_count = count("the number of groups", (s.group_count)())?;
        let guard_count = s.guard_count.map_or(Ok(0), |f| count("the number of guards", f()))?;
        if length == 0 {
            return Err("it has no variables".into());
        }
        let mut types = Vec::new();
        for t in 0..type_count as c_int {
            let values = count("the number of values", (s.value_count)(t))?;
            let values =
                (0..values as c_int).map(|v| text((s.value_name)(t, v))).collect::<Result<_, _>>()?;
            types.push(Type { name: text((s.type_name)(t))?, values });
        }
        let mut variables = Vec::new();
        for v in 0..length as c_int {
            let ty = (s.variable_type)(v);
            let ty = usize::try_from(ty).ok().filter(|ty| *ty < types.len());
            let ty = ty.ok_or("a variable has a type that does not exist")?;
            variables.push(Variable { name: text((s.variable_name)(v))?, ty });
        }
        let mut initial = vec![0; length];
        (s.initial)(initial.as_mut_ptr());
        let mut groups = Vec::new();
        for t in 0..group_count as c_int {
            groups.push(Group {
                reads: row(s.reads, t, length)?.ok_or("it does not say what groups read")?,
                may_write: row(s.may_write, t, length)?.ok_or("it does not say what groups write")?,
                guards: listed(s.guards_of, t, guard_count)?,
                not_accord: s.not_accord.map_or(Ok(None), |f| row(f, t, group_count))?.unwrap_or_default(),
            });
        }
        let mut guards = Vec::new();
        for g in 0..guard_count as c_int {
            let optional = |f: Option<Row>, n: usize| f.map_or(Ok(None), |f| row(f, g, n));
            guards.push(Guard {
                reads: optional(s.guard_reads, length)?.unwrap_or_default(),
                together: optional(s.together, guard_count)?.unwrap_or_default(),
                enablers: optional(s.enablers, group_count)?.unwrap_or_default(),
                disablers: optional(s.disablers, group_count)?.unwrap_or_default(),
            });
        }
        let mut edge_labels = Vec::new();
        if let (Some(n), Some(name), Some(ty)) = (s.edge_count, s.edge_name, s.edge_type) {
            for e in 0..count("the number of edge labels", n())? as c_int {
                edge_labels.push((text(name(e))?, usize::try_from(ty(e)).unwrap_or(usize::MAX)));
            }
        }
        let mut state_labels = Vec::new();
        if let (Some(n), Some(name)) = (s.label_count, s.label_name) {
            for l in 0..count("the number of labels", n())? as c_int {
                state_labels.push((text(name(l))?, l as usize));
            }
        }
        let has_property = s.have_property.is_some_and(|f| f() != 0);
        let knows_accordance = groups.iter().all(|g| g.not_accord.len() == group_count);
        Ok(Model {
            symbols,
            flavour,
            variables,
            types,
            initial,
            edge_labels,
            groups,
            guards,
            state_labels,
            knows_accordance,
            has_property,
            _library: library,
        })
    }
}

/// # Safety
/// The pointer is null or a text of C that lives through the call.
unsafe fn text(pointer: *const c_char) -> Result<String, String> {
    if pointer.is_null() {
        return Err("a name is missing".into());
    }
    // SAFETY: as required of the caller.
    Ok(unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
}

/// # Safety
/// The symbol gives null or an array of at least `length` numbers.
unsafe fn row(symbol: Row, index: c_int, length: usize) -> Result<Option<Vec<bool>>, String> {
    // SAFETY: as required of the caller.
    unsafe {
        let pointer = symbol(index);
        if pointer.is_null() {
            return Ok(None);
        }
        Ok(Some(std::slice::from_raw_parts(pointer, length).iter().map(|n| *n != 0).collect()))
    }
}

/// The numbers of a list that begins with its length.
///
/// # Safety
/// The symbol gives null or such a list.
unsafe fn listed(symbol: Option<Row>, index: c_int, bound: usize) -> Result<Vec<usize>, String> {
    let Some(symbol) = symbol else { return Ok(Vec::new()) };
    // SAFETY: as required of the caller.
    unsafe {
        let pointer = symbol(index);
        if pointer.is_null() {
            return Ok(Vec::new());
        }
        let length = count("the length of a list of guards", *pointer)?;
        let items: &[Index] = std::slice::from_raw_parts(pointer.add(1), length);
        let in_range = |n: &Index| usize::try_from(*n).ok().filter(|n| *n < bound);
        items.iter().map(|n| in_range(n).ok_or_else(|| "a guard that does not exist".into())).collect()
    }
}
