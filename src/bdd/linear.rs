//! Claims about paths (LTL with events, past and fairness) by a tableau and fixpoints on sets.
//!
//! In: a structure and a claim. Out: whether it holds on all maximal fair paths from the initial states; if not, the
//! states of a path that violates it. Never here: texts of formulas.
//!
//! A position of the tableau is a state with the class of the step that is taken there, a guess for every formula that
//! is asked of the next position, and a memory of every formula that is asked of the one before. Instances that no
//! formula tells apart are one class. The truth of all formulas follows. In a state without a step all guesses are
//! false. Steps of the tableau are those of the structure whose class and guesses come true and that remember what was.
//! A violating path ends in a deadlock, or stays in a set in which every until is fulfilled again and again and all
//! fairness is met (the largest such set by Emerson and Lei, for strong fairness by Kesten, Pnueli and Raviv).

use super::claim::{Decided, Fair, Form, Linear, Open};
use super::diagram::{Halted, Renaming, Set};
use super::lasso;
use super::structure::{Structure, always, rings, until};
use bombus_system::System;
use oxidd::VarNo;

/// Decides a claim. Without `shows` a violation has no path.
pub fn decide<S: System>(structure: &Structure<'_, '_, S>, claim: &Linear, shows: bool) -> Halted<Decided> {
    let tableau = Tableau::new(structure, claim)?;
    let start = tableau.start(claim.root)?;
    if start.is_empty() {
        return Ok(Decided::Holds);
    }
    let ends = tableau.valid.and(&structure.dead)?;
    for fairness in &claim.assumptions {
        let demands = tableau.demands(claim, fairness)?;
        let lasting = tableau.lasting(&demands)?;
        let goal = lasting.or(&ends)?;
        let found = |ring: &Set| Ok(!ring.and(&start)?.is_empty());
        let rings = rings(&tableau.valid, &goal, |set| tableau.before(set), found)?;
        let last = &rings[rings.len() - 1];
        if let Some(first) = last.and(&start)?.pick() {
            if !shows {
                return Ok(Decided::Along(Vec::new()));
            }
            let path = lasso::states(&tableau, &demands, &lasting, &rings, &first)?;
            return Ok(path.map_or(Decided::Open(Open::NotShown), Decided::Along));
        }
    }
    Ok(Decided::Holds)
}

/// What an infinite path has to do again and again.
pub struct Demands {
    /// Sets that are to be visited.
    pub justice: Vec<Set>,
    /// If the first is visited again and again, the second is too.
    pub compassion: Vec<(Set, Set)>,
}

/// A formula that is guessed or remembered, with its variable and the copy of it.
struct Bit {
    form: usize,
    var: VarNo,
    copy: VarNo,
}

pub struct Tableau<'t, 'a, 's, S: System> {
    pub structure: &'t Structure<'a, 's, S>,
    /// By instance: its class.
    pub classes: Vec<usize>,
    count: usize,
    /// The variables that hold the class of the step that is taken.
    choice: Vec<VarNo>,
    nexts: Vec<Bit>,
    memories: Vec<Bit>,
    /// The positions that may occur.
    pub valid: Set,
    /// By form: the positions where it is true.
    pub truth: Vec<Set>,
    /// Class and guesses, to be projected away; then copies of memories.
    guessed: Set,
    remembered: Set,
    shift: Renaming,
}

impl<'t, 'a, 's, S: System> Tableau<'t, 'a, 's, S> {
    fn new(structure: &'t Structure<'a, 's, S>, claim: &Linear) -> Halted<Self> {
        let diagrams = structure.learner.diagrams;
        let (classes, count) = classes(structure.learner.steps.len(), &claim.forms);
        let width = usize::BITS - (count.max(1) - 1).leading_zeros();
        let choice: Vec<VarNo> = diagrams.add_variables(width).collect();
        let (mut nexts, mut memories): (Vec<Bit>, Vec<Bit>) = (Vec::new(), Vec::new());
        for (at, form) in claim.forms.iter().enumerate() {
            let (list, form) = match form {
                Form::Next(f) => (&mut nexts, *f),
                Form::Until(..) => (&mut nexts, at),
                Form::Yesterday(f) => (&mut memories, *f),
                Form::Since(..) => (&mut memories, at),
                _ => continue,
            };
            if list.iter().all(|b| b.form != form) {
                let var = diagrams.add_variables(2).start;
                list.push(Bit { form, var, copy: var + 1 });
            }
        }
        let renamed = nexts.iter().map(|b| (b.copy, b.var)).chain(memories.iter().map(|b| (b.var, b.copy)));
        let shift = diagrams.renaming(&renamed.collect::<Vec<_>>())?;
        let guessed = diagrams.variables(choice.iter().copied().chain(nexts.iter().map(|b| b.var)))?;
        let remembered = diagrams.variables(memories.iter().map(|b| b.copy))?;
        let mut tableau = Tableau {
            structure,
            classes,
            count,
            choice,
            nexts,
            memories,
            valid: diagrams.none.clone(),
            truth: Vec::new(),
            guessed,
            remembered,
            shift,
        };
        tableau.valid = tableau.positions()?;
        for form in &claim.forms {
            diagrams.check()?;
            let truth = tableau.true_at(form)?;
            tableau.truth.push(truth);
        }
        Ok(tableau)
    }

    /// The positions where a class is taken that is enabled, and those of states without a step.
    fn positions(&self) -> Halted<Set> {
        let diagrams = self.structure.learner.diagrams;
        let still = self.choice.iter().copied().chain(self.nexts.iter().map(|b| b.var));
        let mut all = vec![self.structure.dead.and(&diagrams.cube(still.map(|v| (v, false)))?)?];
        for class in 0..self.count {
            let enabled = self.structure.enabled(|i| self.classes[i] == class)?;
            all.push(enabled.and(&self.chosen(class)?)?);
        }
        diagrams.union(all)
    }

    /// Where a class is taken.
    fn chosen(&self, class: usize) -> Halted<Set> {
        let bits = self.choice.iter().enumerate().map(|(i, v)| (*v, class >> i & 1 != 0));
        self.structure.learner.diagrams.cube(bits)
    }

    fn bit(&self, var: VarNo) -> Halted<Set> {
        self.structure.learner.diagrams.variables([var])?.and(&self.valid)
    }

    /// The variable that guesses or remembers a form.
    fn var_of(list: &[Bit], form: usize) -> VarNo {
        list.iter().find(|b| b.form == form).expect("every such form has its variable").var
    }

    fn true_at(&self, form: &Form) -> Halted<Set> {
        let of = |f: &usize| &self.truth[*f];
        let own = self.truth.len();
        Ok(match form {
            Form::True => self.valid.clone(),
            Form::State(fact) => self.valid.and(&self.structure.fact(fact)?)?,
            Form::Taken(instances) => {
                let taken = |class: &usize| instances.iter().any(|i| self.classes[*i as usize] == *class);
                let all: Halted<Vec<Set>> = (0..self.count).filter(taken).map(|c| self.chosen(c)).collect();
                let alive = self.valid.without(&self.structure.dead)?;
                self.structure.learner.diagrams.union(all?)?.and(&alive)?
            }
            Form::Not(f) => self.valid.without(of(f))?,
            Form::And(f, g) => of(f).and(of(g))?,
            Form::Or(f, g) => of(f).or(of(g))?,
            Form::Next(f) => self.bit(Self::var_of(&self.nexts, *f))?,
            Form::Until(f, g) => of(g).or(&of(f).and(&self.bit(Self::var_of(&self.nexts, own))?)?)?,
            Form::Yesterday(f) => self.bit(Self::var_of(&self.memories, *f))?,
            Form::Since(f, g) => of(g).or(&of(f).and(&self.bit(Self::var_of(&self.memories, own))?)?)?,
        })
    }

    /// The positions where paths begin that violate the root.
    fn start(&self, root: usize) -> Halted<Set> {
        let nothing = self.memories.iter().map(|b| (b.var, false));
        let nothing = self.structure.learner.diagrams.cube(nothing)?;
        let initial = self.valid.and(&self.structure.initial)?.and(&nothing)?;
        initial.without(&self.truth[root])
    }

    /// The positions from which a step of the tableau leads into a set of positions.
    pub fn before(&self, set: &Set) -> Halted<Set> {
        let diagrams = self.structure.learner.diagrams;
        let mut there = set.clone();
        for bit in &self.nexts {
            there = self.split(&there, bit.form, bit.copy)?;
        }
        let there = self.shift.of(&there.exists(&self.guessed)?)?;
        let mut all = Vec::new();
        for class in 0..self.count {
            let from = self.structure.before(|i| self.classes[i] == class, &there)?;
            all.push(from.and(&self.chosen(class)?)?);
        }
        let mut here = diagrams.union(all)?.and(&self.valid)?;
        for bit in &self.memories {
            here = self.split(&here, bit.form, bit.copy)?;
        }
        here.exists(&self.remembered)
    }

    /// Positions with a variable that says whether a form is true there.
    fn split(&self, set: &Set, form: usize, var: VarNo) -> Halted<Set> {
        let diagrams = self.structure.learner.diagrams;
        let (yes, no) = (diagrams.cube([(var, true)])?, diagrams.cube([(var, false)])?);
        let truth = &self.truth[form];
        set.and(truth)?.and(&yes)?.or(&set.without(truth)?.and(&no)?)
    }

    fn demands(&self, claim: &Linear, fairness: &[Fair]) -> Halted<Demands> {
        let mut demands = Demands { justice: Vec::new(), compassion: Vec::new() };
        for (at, form) in claim.forms.iter().enumerate() {
            if let Form::Until(_, g) = form {
                demands.justice.push(self.truth[*g].or(&self.valid.without(&self.truth[at])?)?);
            }
        }
        for fair in fairness {
            let (enabled, taken) = (&self.truth[fair.enabled], &self.truth[fair.taken]);
            if fair.strong {
                demands.compassion.push((enabled.clone(), taken.clone()));
            } else {
                demands.justice.push(taken.or(&self.valid.without(enabled)?)?);
            }
        }
        Ok(demands)
    }

    /// The positions from which some path meets all demands for ever, without leaving the set.
    fn lasting(&self, demands: &Demands) -> Halted<Set> {
        let before = |set: &Set| self.before(set);
        let none = &self.structure.learner.diagrams.none;
        let mut kept = always(&self.valid.without(&self.structure.dead)?, none, before)?;
        loop {
            let old = kept.clone();
            for wanted in &demands.justice {
                kept = until(&kept, &kept.and(wanted)?, before)?;
            }
            for (often, wanted) in &demands.compassion {
                let met = until(&kept, &kept.and(wanted)?, before)?;
                kept = kept.without(often)?.or(&met)?;
            }
            kept = always(&kept, none, before)?;
            if kept == old {
                return Ok(kept);
            }
        }
    }

    /// The variables of a position beside those of its state.
    pub fn own_variables(&self) -> Vec<VarNo> {
        let bits = self.nexts.iter().chain(&self.memories).map(|b| b.var);
        self.choice.iter().copied().chain(bits).collect()
    }

    /// The class that is taken at a position.
    pub fn class_at(&self, position: &[bool]) -> usize {
        self.choice.iter().enumerate().fold(0, |n, (i, v)| n | usize::from(position[*v as usize]) << i)
    }

    /// The positions that may follow one, by what was guessed there and is to be remembered.
    pub fn following(&self, position: &[bool], single: &Set) -> Halted<Set> {
        let diagrams = self.structure.learner.diagrams;
        let mut next = self.valid.clone();
        for bit in &self.nexts {
            let truth = &self.truth[bit.form];
            next = if position[bit.var as usize] { next.and(truth)? } else { next.without(truth)? };
        }
        for bit in &self.memories {
            let was = !single.and(&self.truth[bit.form])?.is_empty();
            next = next.and(&diagrams.cube([(bit.var, was)])?)?;
        }
        Ok(next)
    }
}

/// By instance a class: two instances that no form tells apart have the same. And how many there are.
fn classes(instances: usize, forms: &[Form]) -> (Vec<usize>, usize) {
    let told: Vec<&Vec<u32>> = forms
        .iter()
        .filter_map(|f| match f {
            Form::Taken(instances) => Some(instances),
            _ => None,
        })
        .collect();
    let mut known: Vec<Vec<bool>> = Vec::new();
    let mut classes = Vec::with_capacity(instances);
    for i in 0..instances as u32 {
        let row: Vec<bool> = told.iter().map(|list| list.contains(&i)).collect();
        let class = known.iter().position(|k| *k == row).unwrap_or_else(|| {
            known.push(row);
            known.len() - 1
        });
        classes.push(class);
    }
    (classes, known.len())
}
