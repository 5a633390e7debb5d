//! The symbols of both flavours of libraries, by the roles that they have in common.
//!
//! In: a loaded library. Out: functions; the missing ones are named in an error.
//! Never here: calls.

use super::TransitionInfo;
use libloading::Library;
use std::ffi::{c_char, c_int, c_void};

/// Which translator made a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// DiVinE's compiler with LTSmin's patches.
    Dve2C,
    /// SpinS, from Promela.
    SpinS,
}

pub type Index = c_int;
pub type Number = unsafe extern "C" fn() -> c_int;
pub type NumberOf = unsafe extern "C" fn(c_int) -> c_int;
pub type Name = unsafe extern "C" fn(c_int) -> *const c_char;
pub type ValueName = unsafe extern "C" fn(c_int, c_int) -> *const c_char;
pub type Row = unsafe extern "C" fn(c_int) -> *const Index;
pub type Initial = unsafe extern "C" fn(*mut c_int);
pub type Callback = extern "C" fn(*mut c_void, *mut TransitionInfo, *mut c_int, *mut c_int);
pub type Successor = unsafe extern "C" fn(*mut c_void, c_int, *mut c_int, Callback, *mut c_void) -> c_int;
pub type Label = unsafe extern "C" fn(*mut c_void, c_int, *mut c_int) -> c_int;

/// The functions of a library by their roles; optional ones are for reductions and labels.
pub struct Symbols {
    pub initial: Initial,
    pub successor: Successor,
    pub variable_count: Number,
    pub variable_name: Name,
    pub variable_type: NumberOf,
    pub type_count: Number,
    pub type_name: Name,
    pub value_count: NumberOf,
    pub value_name: ValueName,
    pub group_count: Number,
    pub reads: Row,
    pub may_write: Row,
    pub guard_count: Option<Number>,
    pub guards_of: Option<Row>,
    pub label: Option<Label>,
    pub guard_reads: Option<Row>,
    pub together: Option<Row>,
    pub enablers: Option<Row>,
    pub disablers: Option<Row>,
    pub not_accord: Option<Row>,
    pub edge_count: Option<Number>,
    pub edge_name: Option<Name>,
    pub edge_type: Option<NumberOf>,
    pub label_count: Option<Number>,
    pub label_name: Option<Name>,
    pub have_property: Option<Number>,
}

impl Symbols {
    pub fn find(library: &Library) -> Result<(Symbols, Flavour), String> {
        let l = Finder(library);
        if l.has("spins_get_successor") {
            Ok((l.spins()?, Flavour::SpinS))
        } else if l.has("get_successor") {
            Ok((l.dve()?, Flavour::Dve2C))
        } else {
            Err("it has neither `get_successor` nor `spins_get_successor`: no model of DVE2C or SpinS kind"
                .into())
        }
    }
}

struct Finder<'a>(&'a Library);

impl Finder<'_> {
    fn has(&self, name: &str) -> bool {
        // SAFETY: the symbol is looked up and never used.
        unsafe { self.0.get::<*const c_void>(name.as_bytes()) }.is_ok()
    }

    fn may<T: Copy>(&self, name: &str) -> Option<T> {
        // SAFETY: `T` is the type that LTSmin declares for this name; the library outlives the copy, for
        // `Model` owns both.
        unsafe { self.0.get::<T>(name.as_bytes()) }.ok().map(|symbol| *symbol)
    }

    fn must<T: Copy>(&self, name: &str) -> Result<T, String> {
        self.may(name).ok_or_else(|| format!("it lacks the symbol `{name}`"))
    }

    fn dve(&self) -> Result<Symbols, String> {
        Ok(Symbols {
            initial: self.must("get_initial_state")?,
            successor: self.must("get_successor")?,
            variable_count: self.must("get_state_variable_count")?,
            variable_name: self.must("get_state_variable_name")?,
            variable_type: self.must("get_state_variable_type")?,
            type_count: self.must("get_state_variable_type_count")?,
            type_name: self.must("get_state_variable_type_name")?,
            value_count: self.must("get_state_variable_type_value_count")?,
            value_name: self.must("get_state_variable_type_value")?,
            group_count: self.must("get_transition_count")?,
            reads: self.must("get_transition_read_dependencies")?,
            may_write: self.must("get_transition_may_write_dependencies")?,
            guard_count: self.may("get_guard_count"),
            guards_of: self.may("get_guards"),
            label: self.may("get_guard"),
            guard_reads: self.may("get_guard_matrix"),
            together: self.may("get_guard_may_be_coenabled_matrix"),
            enablers: self.may("get_guard_nes_matrix"),
            disablers: self.may("get_guard_nds_matrix"),
            not_accord: self.may("get_dna_matrix"),
            edge_count: None,
            edge_name: None,
            edge_type: None,
            label_count: None,
            label_name: None,
            have_property: self.may("have_property"),
        })
    }

    fn spins(&self) -> Result<Symbols, String> {
        Ok(Symbols {
            initial: self.must("spins_get_initial_state")?,
            successor: self.must("spins_get_successor")?,
            variable_count: self.must("spins_get_state_size")?,
            variable_name: self.must("spins_get_state_variable_name")?,
            variable_type: self.must("spins_get_state_variable_type")?,
            type_count: self.must("spins_get_type_count")?,
            type_name: self.must("spins_get_type_name")?,
            value_count: self.must("spins_get_type_value_count")?,
            value_name: self.must("spins_get_type_value_name")?,
            group_count: self.must("spins_get_transition_groups")?,
            reads: self.must("spins_get_transition_read_dependencies")?,
            may_write: self.must("spins_get_transition_may_write_dependencies")?,
            guard_count: self.may("spins_get_guard_count"),
            guards_of: self.may("spins_get_labels"),
            label: self.may("spins_get_label"),
            guard_reads: self.may("spins_get_label_matrix"),
            together: self.may("spins_get_label_may_be_coenabled_matrix"),
            enablers: self.may("spins_get_label_nes_matrix"),
            disablers: self.may("spins_get_label_nds_matrix"),
            not_accord: self.may("spins_get_trans_do_not_accord_matrix"),
            edge_count: self.may("spins_get_edge_count"),
            edge_name: self.may("spins_get_edge_name"),
            edge_type: self.may("spins_get_edge_type"),
            label_count: self.may("spins_get_label_count"),
            label_name: self.may("spins_get_label_name"),
            have_property: None,
        })
    }
}
