//! Checks that code is well formed: labels inside, registers inside, and nothing read before it is
//! written on every path.
//!
//! In: `Code`. Out: the first fault, in words. Run on all code that tests compile.

use super::ir::{Code, Op, Reg};
use bombus_kernels::bits;

/// The first fault of `code` when it is entered at one of `entries`.
pub fn validate(code: &Code, entries: &[u32]) -> Result<(), String> {
    // Only registers that occur are tracked, under dense numbers.
    let mut dense = vec![u32::MAX; code.registers];
    let mut count = 0u32;
    let mut number = |r: Reg, n: u16| {
        let end = (r as usize + n as usize).min(code.registers);
        for place in &mut dense[(r as usize).min(end)..end] {
            if *place == u32::MAX {
                *place = count;
                count += 1;
            }
        }
    };
    for op in &code.ops {
        let touches = op.touches();
        touches.reads.iter().flatten().chain(touches.write.iter()).for_each(|(r, n)| number(*r, *n));
    }
    code.generals.iter().flat_map(|g| g.reads.iter().chain(&g.write)).for_each(|(r, n)| number(*r, *n));
    code.constants.iter().for_each(|(r, w)| number(*r, w.len() as u16));
    code.inputs.iter().for_each(|(r, n)| number(*r, *n));
    let words = bits::words_for(count as usize).max(1);
    let inside = |r: Reg, n: u16| (r as usize) + (n as usize) <= code.registers;
    for (pc, op) in code.ops.iter().enumerate() {
        let touches = op.touches();
        if let Some(l) = touches.label
            && l as usize >= code.ops.len()
        {
            return Err(format!("{pc}: {op:?} jumps outside"));
        }
        for (r, n) in touches.reads.iter().flatten().chain(touches.write.iter()) {
            if !inside(*r, *n) {
                return Err(format!("{pc}: {op:?} touches registers beyond {}", code.registers));
            }
        }
        match op {
            Op::General { g, .. } if *g as usize >= code.generals.len() => {
                return Err(format!("{pc}: no general evaluation {g}"));
            }
            Op::Remap { table, .. } if *table as usize >= code.tables.len() => {
                return Err(format!("{pc}: no table {table}"));
            }
            Op::Sieve { t, .. } if *t as usize >= code.sieves.len() => {
                return Err(format!("{pc}: no sieve {t}"));
            }
            _ => {}
        }
    }
    if code.ops.last().is_some_and(|op| !op.ends()) {
        return Err("the code runs off its end".into());
    }
    // Forward data flow: the registers surely written before each operation. What a subroutine
    // writes is not counted for its caller, which is on the safe side.
    let mut start = vec![0u64; words];
    let given = code.constants.iter().map(|(r, w)| (*r, w.len() as u16)).chain(code.inputs.iter().copied());
    for (r, n) in given {
        (r..r + n).for_each(|r| bits::insert(&mut start, dense[r as usize] as usize));
    }
    let mut before: Vec<Option<Vec<u64>>> = vec![None; code.ops.len()];
    let mut todo: Vec<u32> = entries.to_vec();
    for e in entries {
        before[*e as usize] = Some(start.clone());
    }
    while let Some(pc) = todo.pop() {
        let op = &code.ops[pc as usize];
        let mut now = before[pc as usize].clone().expect("queued operations were reached");
        let touches = op.touches();
        let mut reads: Vec<(Reg, u16)> = touches.reads.iter().flatten().copied().collect();
        let mut write = touches.write;
        if touches.updates {
            reads.extend(touches.write);
        }
        if let Op::General { g, .. } = op {
            let general = &code.generals[*g as usize];
            reads.extend(general.reads.iter().copied());
            write = general.write;
        }
        for (r, n) in reads {
            if let Some(r) = (r..r + n).find(|r| !bits::get(&now, dense[*r as usize] as usize)) {
                return Err(format!("{pc}: {op:?} reads r{r} before it is written"));
            }
        }
        let jumped = now.clone();
        if let Some((r, n)) = write {
            (r..r + n).for_each(|r| bits::insert(&mut now, dense[r as usize] as usize));
        }
        let mut flow = |to: u32, set: &[u64]| match &mut before[to as usize] {
            slot @ None => {
                *slot = Some(set.to_vec());
                todo.push(to);
            }
            Some(old) => {
                let met: Vec<u64> = old.iter().zip(set).map(|(a, b)| a & b).collect();
                if met != *old {
                    *old = met;
                    todo.push(to);
                }
            }
        };
        if let Some(l) = touches.label {
            flow(l, &jumped);
        }
        if !op.ends() {
            flow(pc + 1, &now);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_register_read_before_it_is_written_is_a_fault() {
        let code = Code {
            ops: vec![
                Op::JumpEqImm { a: 0, i: 0, l: 2 },
                Op::Const { d: 1, v: 7 },
                Op::Add { d: 2, a: 0, b: 1 },
                Op::Halt,
            ],
            registers: 3,
            inputs: vec![(0, 1)],
            ..Code::default()
        };
        assert!(validate(&code, &[0]).is_err_and(|e| e.contains("r1")));
    }

    #[test]
    fn a_jump_outside_is_a_fault() {
        let code = Code { ops: vec![Op::Jump { l: 9 }], registers: 1, ..Code::default() };
        assert!(validate(&code, &[0]).is_err());
    }
}
