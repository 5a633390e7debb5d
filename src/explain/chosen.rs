//! What a step chose where its label does not say it: the values of ANY and LET in front of its action.
//!
//! In: two states and the event with its parameters that leads from one to the other. Out: names and values of the
//! first choice that does. Never here: steps that fail (`substitution`).

use super::Explainer;
use bombus_evaluate::State;
pub use bombus_evaluate::error::Flow;
use bombus_evaluate::exec::{Outcomes, Writes};
use bombus_lang::typed::VarId;

impl Explainer<'_> {
    /// Whether some event chooses values that its parameters do not name.
    pub fn has_choices(&self) -> bool {
        self.machine.events.iter().any(|id| {
            let params = &self.machine.op(*id).params;
            let guarded = self.interpreter.guarded(*id);
            guarded.alternatives.iter().any(|a| a.plan.vars.iter().any(|v| !params.contains(v)))
        })
    }

    /// The values that a step chose; nothing if none are found, or if the event chooses none.
    pub fn chosen(
        &self,
        from: &State,
        event: &str,
        params: &[(String, String)],
        to: &State,
    ) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let Some(id) = self.machine.events.iter().find(|id| *self.machine.op(**id).name == *event) else {
            return found;
        };
        let op = self.machine.op(*id);
        let mut env = self.env(Some(from));
        for alternative in &self.interpreter.guarded(*id).alternatives {
            let plan = &alternative.plan;
            let locals: Vec<VarId> = plan.vars.iter().copied().filter(|v| !op.params.contains(v)).collect();
            if locals.is_empty() || !found.is_empty() {
                continue;
            }
            let run = self.interpreter.run_plan(&mut env, plan, &mut |env, error| {
                if let Some(e) = error {
                    return if e.is_stop() { Err(e.clone()) } else { Ok(Flow::Go) };
                }
                let own = op.params.iter().filter_map(|v| Some(self.named(*v, env.get(*v)?)));
                if !params.iter().all(|pair| own.clone().any(|known| known == *pair)) {
                    return Ok(Flow::Go);
                }
                let mut out = Outcomes::default();
                self.interpreter.exec(env, &alternative.body, &mut out)?;
                if !out.writes.iter().any(|writes| self.leads(from, writes, to)) {
                    return Ok(Flow::Go);
                }
                let values = locals.iter().filter_map(|v| self.user_named(*v, env.get(*v)?));
                found.extend(values.filter(|(name, _)| !self.is_variable_after(name)));
                Ok(Flow::Stop)
            });
            self.note_stop(&run);
        }
        found
    }

    /// Whether a name is that of a variable after the step, as Z writes it (`members'`): the state says its value.
    fn is_variable_after(&self, name: &str) -> bool {
        let variable = name.strip_suffix('\'');
        variable.is_some_and(|v| self.machine.variables.iter().any(|id| *self.machine.var(*id).name == *v))
    }

    /// Whether writes make one state of another.
    fn leads(&self, from: &State, writes: &Writes, to: &State) -> bool {
        let after = |(v, old)| writes.iter().find(|(w, _)| w == v).map_or(old, |(_, new)| new);
        self.machine.variables.iter().zip(from.variables.iter()).map(after).eq(to.variables.iter())
    }
}
