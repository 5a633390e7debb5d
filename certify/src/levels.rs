//! The machines that a machine refines, each as a machine that can be asked by itself.
//!
//! In: the part `refines` of `model.core`. Out: the levels with the sets and constants of the refining machine, and
//! where each of their variables stands; or why they are no levels of that machine.
//! Never here: evaluation.

use bombus_oracle::tree::{Machine, Name, Operation, Type, Var};
use std::collections::{BTreeMap, BTreeSet};

/// The levels above a machine, nearest first.
pub struct Levels {
    /// The refining machine with the variables that only abstractions have behind its own. Its invariant are the gluing
    /// conjuncts, its assertions those that speak of abstractions, its operations those with loops that do.
    pub joint: Machine,
    pub machines: Vec<Machine>,
    /// The variables of all levels, each once.
    pub variables: Vec<Var>,
    /// For each level the places of its variables among those of all levels.
    pub places: Vec<Vec<usize>>,
    /// Variables of levels that the refining machine has too: their places there and among those of all levels.
    pub shared: Vec<(usize, usize)>,
    /// The places of the others.
    pub hidden: Vec<usize>,
}

impl Levels {
    /// The levels above a machine, which itself says nothing of them any more.
    pub fn of(machine: &mut Machine) -> Result<Option<Levels>, String> {
        let mut levels = std::mem::take(&mut machine.refines).into_iter();
        let Some(said) = levels.next() else { return Ok(None) };
        let levels: Vec<Machine> = levels.collect();
        if levels.is_empty() {
            return Err("it refines nothing".into());
        }
        says(&said, &machine.name)?;
        let base = Machine {
            name: machine.name.clone(),
            sets: machine.sets.clone(),
            freetypes: machine.freetypes.clone(),
            constants: machine.constants.clone(),
            variables: machine.variables.clone(),
            ..Machine::default()
        };
        let mut variables: Vec<Var> = Vec::new();
        let mut places = Vec::new();
        for level in &levels {
            is_level(level).map_err(|why| format!("the abstraction {}: {why}", level.name))?;
            let mut own = Vec::new();
            for (name, ty) in &level.variables {
                one_type(machine, &variables, name, ty)?;
                let known = variables.iter().position(|v| v.0 == *name);
                own.push(known.unwrap_or(variables.len()));
                if known.is_none() {
                    variables.push((name.clone(), ty.clone()));
                }
            }
            places.push(own);
            are_events(machine, &level.operations)?;
        }
        are_events(machine, &said.operations)?;
        let own = |name: &Name| machine.variables.iter().position(|v| v.0 == *name);
        let shared = variables.iter().enumerate().filter_map(|(i, v)| Some((own(&v.0)?, i))).collect();
        let hidden: Vec<usize> = (0..variables.len()).filter(|i| own(&variables[*i].0).is_none()).collect();
        let Machine { invariant, assertions, operations, .. } = said;
        let mut joint = Machine { invariant, assertions, operations, ..base.clone() };
        joint.variables.extend(hidden.iter().map(|i| variables[*i].clone()));
        let over = |level: Machine| Machine {
            sets: base.sets.clone(),
            freetypes: base.freetypes.clone(),
            constants: base.constants.clone(),
            ..level
        };
        let machines = levels.into_iter().map(over).collect();
        Ok(Some(Levels { joint, machines, variables, places, shared, hidden }))
    }

    /// The names of the levels, nearest first.
    pub fn names(&self) -> String {
        self.machines.iter().map(|m| &*m.name).collect::<Vec<_>>().join(", ")
    }
}

/// What a machine says of its abstractions are conjuncts, assertions and events with loops.
fn says(said: &Machine, name: &Name) -> Result<(), String> {
    let Machine { invariant, assertions, operations, .. } = said.clone();
    let bare = Machine { name: name.clone(), invariant, assertions, operations, ..Machine::default() };
    if *said == bare {
        Ok(())
    } else {
        Err("it says of its abstractions more than conjuncts and loops".into())
    }
}

/// A level has variables, an initialisation and operations; everything else is the refining machine's.
fn is_level(level: &Machine) -> Result<(), String> {
    let Machine { name, variables, initialisation, operations, .. } = level;
    let bare = Machine {
        name: name.clone(),
        variables: variables.clone(),
        initialisation: initialisation.clone(),
        operations: operations.clone(),
        ..Machine::default()
    };
    if *level != bare {
        return Err("it has more than variables and operations".into());
    }
    let distinct: BTreeSet<&Name> = variables.iter().map(|v| &v.0).collect();
    if distinct.len() < variables.len() { Err("a variable is declared twice".into()) } else { Ok(()) }
}

/// Names that stand for variables of several machines have one type, and none is a constant.
fn one_type(machine: &Machine, above: &[Var], name: &Name, ty: &Type) -> Result<(), String> {
    if machine.constants.iter().any(|c| c.0 == *name) {
        return Err(format!("{name} is a constant, and a variable of an abstraction"));
    }
    let mut others = machine.variables.iter().chain(above).filter(|v| v.0 == *name);
    match others.find(|v| v.1 != *ty) {
        Some(_) => Err(format!("the variable {name} has two types")),
        None => Ok(()),
    }
}

/// Every operation that makes steps by itself belongs to an event of the refining machine, and no name stands twice.
fn are_events(machine: &Machine, operations: &[Operation]) -> Result<(), String> {
    let mut count: BTreeMap<&Name, usize> = BTreeMap::new();
    for op in operations {
        *count.entry(&op.name).or_default() += 1;
        if op.event && !machine.operations.iter().any(|o| o.event && o.name == op.name) {
            return Err(format!("{} of an abstraction is refined by no event", op.name));
        }
    }
    match count.iter().find(|(_, n)| **n > 1) {
        Some((name, _)) => Err(format!("the operation {name} is declared twice")),
        None => Ok(()),
    }
}
