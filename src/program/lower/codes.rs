//! Elements and their codes: the number of an element in a carrier, the bit of a set that stands for it, the element of a number.
//!
//! In: operands, carriers. Out: operations that make one of the other. Never here: which carrier a value has (`layout`).

use super::*;

impl Lower<'_> {
    /// A bit-set over another carrier. Elements that have no place there are dropped or a misfit.
    pub(super) fn remap(&mut self, x: &Operand, to: &Carrier, clip: bool) -> Low<Operand> {
        let from = x.carrier()?.clone();
        if from == *to {
            return Ok(x.clone());
        }
        let key = (from.clone(), to.clone(), clip);
        let table = match self.tables.get(&key) {
            Some(t) => *t,
            None => {
                let lost = if clip { DROPPED } else { NOWHERE };
                let places =
                    (0..from.card()).map(|c| to.code(&from.value(c)).map_or(lost, |p| p as u16)).collect();
                self.code.tables.push(places);
                let t = (self.code.tables.len() - 1) as u16;
                self.tables.insert(key, t);
                t
            }
        };
        let d = self.fresh(Layout::Bits(to.clone()))?;
        self.emit(Op::Remap { d: d.reg, a: x.reg, n: from.words(), m: to.words(), table });
        Ok(d)
    }

    /// The code of a value in a carrier; `miss` when it has none.
    pub(super) fn encode(&mut self, x: &Operand, c: &Carrier, miss: Label) -> Low<Reg> {
        match (&x.layout, c) {
            (Layout::Int, Carrier::Ints { lo, n }) => {
                if let Some(v) = self.known.get(&x.reg) {
                    let code = v.wrapping_sub(i64::from(*lo));
                    if (0..i64::from(*n)).contains(&code) {
                        return self.constant(vec![code as u64]);
                    }
                    self.emit(Op::Jump { l: miss });
                    return self.constant(vec![0]);
                }
                let fits = |(least, most)| least >= i64::from(*lo) && most < i64::from(*lo) + i64::from(*n);
                let fits = self.bounds(x.reg).is_some_and(fits);
                if fits && *lo == 0 {
                    return Ok(x.reg);
                }
                let d = self.alloc(1)?;
                self.emit(match lo.checked_neg() {
                    Some(i) if fits => Op::AddImm { d, a: x.reg, i },
                    _ => Op::CodeOfInt { d, a: x.reg, lo: *lo, n: *n, l: miss },
                });
                Ok(d)
            }
            (Layout::Code(_), Carrier::Bool | Carrier::Set(..)) => Ok(x.reg),
            (Layout::Pair(_), Carrier::Pair(p)) => {
                let (a, b) = x.halves().expect("the layout is a pair");
                let (a, b) = (self.encode(&a, &p.0, miss)?, self.encode(&b, &p.1, miss)?);
                self.pair_code(a, b, p.1.card())
            }
            (Layout::Rec(_), Carrier::Rec(fields)) => {
                let mut code: Option<Reg> = None;
                for (i, f) in fields.iter().enumerate() {
                    let part = x.field(i).expect("the layout is a record");
                    let b = self.encode(&part, f, miss)?;
                    code = Some(match code {
                        None => b,
                        Some(a) => self.pair_code(a, b, f.card())?,
                    });
                }
                code.map_or_else(|| unsupported("a record without fields"), Ok)
            }
            (Layout::Bits(_) | Layout::Array(_), Carrier::Sets(of)) => {
                // The words of a small set are its code.
                let bits = self.as_bits(x.clone())?;
                Ok(self.convert(bits, &Layout::Bits((**of).clone()))?.reg)
            }
            (Layout::Pool, _) => {
                let plain = self.convert(x.clone(), &Layout::of_element(c))?;
                self.encode(&plain, c, miss)
            }
            _ => unsupported(format!("{} as an element of {c}", x.layout)),
        }
    }

    pub(super) fn pair_code(&mut self, a: Reg, b: Reg, k: usize) -> Low<Reg> {
        if let (Some(a), Some(b)) = (self.known.get(&a), self.known.get(&b)) {
            let code = a * k as i64 + b;
            return self.constant(vec![code as u64]);
        }
        let d = self.alloc(1)?;
        self.emit(Op::PairCode { d, a, b, k: k as u16 });
        Ok(d)
    }

    /// Goes to `l` when the truth of "bit `i` of `s` is set" is `when`.
    pub(super) fn jump_bit(&mut self, s: &Operand, i: Reg, l: Label, when: bool) {
        let (a, n) = (s.reg, s.words());
        match self.known.get(&i).copied() {
            Some(bit) => {
                let (a, shift) = (a + (bit / 64) as u16, (bit % 64) as u8);
                match self.known.get(&a) {
                    Some(word) if *word >> shift & 1 == i64::from(when) => self.emit(Op::Jump { l }),
                    Some(_) => {}
                    None => self.emit(Op::JumpCellEq { a, i: u16::from(when), shift, mask: 1, l }),
                }
            }
            None if when => self.emit(Op::JumpBit { a, i, n, l }),
            None => self.emit(Op::JumpNoBit { a, i, n, l }),
        }
    }

    /// Puts bit `i` into the set at `d`, or takes it out.
    pub(super) fn put_bit(&mut self, d: &Operand, i: Reg, present: bool) {
        let (reg, n) = (d.reg, d.words());
        self.emit(match self.known.get(&i).copied() {
            Some(bit) => {
                let (word, shift) = (reg + (bit / 64) as u16, (bit % 64) as u8);
                Op::PokeImm { d: word, a: word, i: u16::from(present), shift, mask: 1 }
            }
            None if present => Op::Insert { d: reg, i, n },
            None => Op::Remove { d: reg, i, n },
        });
    }

    /// The element of a carrier that has the code in `code`.
    pub(super) fn decode(&mut self, code: Reg, c: &Carrier) -> Low<Operand> {
        if let (Some(n), Carrier::Ints { lo, .. }) = (self.known.get(&code), c) {
            return self.integer(n + i64::from(*lo));
        }
        match c {
            Carrier::Bool | Carrier::Set(..) => Ok(Operand { reg: code, layout: Layout::Code(c.clone()) }),
            Carrier::Sets(of) => Ok(Operand { reg: code, layout: Layout::Bits((**of).clone()) }),
            Carrier::Ints { lo: 0, .. } => Ok(Operand { reg: code, layout: Layout::Int }),
            Carrier::Ints { lo, .. } => {
                let d = self.alloc(1)?;
                self.emit(Op::AddImm { d, a: code, i: *lo });
                Ok(Operand { reg: d, layout: Layout::Int })
            }
            Carrier::Pair(p) => {
                let k = p.1.card() as u16;
                let (row, col) = (self.alloc(1)?, self.alloc(1)?);
                self.emit(Op::RowOf { d: row, a: code, k });
                self.emit(Op::ColOf { d: col, a: code, k });
                let (a, b) = (self.decode(row, &p.0)?, self.decode(col, &p.1)?);
                self.join(&[a, b], Layout::of_element(c))
            }
            Carrier::Rec(fields) => {
                let mut parts = Vec::new();
                let mut rest = code;
                for f in fields.iter().rev() {
                    let k = f.card() as u16;
                    let (col, next) = (self.alloc(1)?, self.alloc(1)?);
                    self.emit(Op::ColOf { d: col, a: rest, k });
                    self.emit(Op::RowOf { d: next, a: rest, k });
                    parts.push(self.decode(col, f)?);
                    rest = next;
                }
                parts.reverse();
                self.join(&parts, Layout::of_element(c))
            }
        }
    }

    // --- Evaluation on values.
}
