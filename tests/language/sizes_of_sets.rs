//! Sizes of deferred sets, against all sizes that PROPERTIES leave.
//!
//! Random properties say how many elements a deferred set `G` has: by its cardinality, by functions into it and from it, by parts and by
//! constants that differ. The test finds the sizes for which they have a solution by trying, without a formula. The size that
//! is taken must be the default of 2 if that is one of them, and else the next one: a rule that asks for an element more or less
//! takes another.

use crate::inference_rules::instances_of_each;
use crate::support::binary::Folder;
use bombus::model::{LoadOptions, load};
use bombus_kernels::random::Random;

/// Greater sizes are not asked for.
const MOST: usize = 12;

/// Sets with one, two and three elements.
const KNOWN: &str = "G; H1={a1}; H2={b1,b2}; H3={c1,c2,c3}";

/// The size of `G` under some properties of some constants.
fn size_of(folder: &Folder, constants: &[String], properties: &[String]) -> usize {
    let constants =
        if constants.is_empty() { String::new() } else { format!("CONSTANTS {}", constants.join(",")) };
    let text = format!("MACHINE M SETS {KNOWN} {constants} PROPERTIES {} END", properties.join(" & "));
    let loaded = load(&folder.write("M.mch", &text), &LoadOptions::default());
    let messages = loaded.messages();
    let machine = loaded.model.unwrap_or_else(|| panic!("{text}: {messages}")).machine;
    let set = machine.sets.iter().find(|s| &*s.name == "G").unwrap_or_else(|| panic!("{text}: no set G"));
    set.elems.len()
}

/// Properties of a kind, and whether they have a solution with so many elements.
type Drawn = (Vec<String>, Vec<String>, Box<dyn Fn(usize) -> bool>);

fn agrees(draw: impl Fn(&mut Random) -> Drawn) {
    let folder = Folder::new();
    let mut random = Random(5);
    for _ in 0..instances_of_each() {
        let (constants, properties, fits) = draw(&mut random);
        let sizes: Vec<usize> = (1..=MOST).filter(|n| fits(*n)).collect();
        let Some(expected) = sizes.iter().find(|n| **n >= 2).or(sizes.last()) else { continue };
        assert_eq!(size_of(&folder, &constants, &properties), *expected, "{properties:?}");
    }
}

#[test]
fn cardinalities_are_compared_with_sums_of_known_ones() {
    agrees(|random| {
        let op = random.pick(&["=", ">", ">=", "<", "<="]);
        let (p, q, n) = (random.between(1, 3), random.between(1, 3), random.between(0, 4));
        let number = p + q * n;
        let sum = format!("card(H{p})+card(H{q})*{n}");
        let turned = random.below(2) == 0;
        let text = if turned { format!("{sum} {op} card(G)") } else { format!("card(G) {op} {sum}") };
        let fits = move |size: usize| {
            let (a, b) = if turned { (number, size as i64) } else { (size as i64, number) };
            match op {
                "=" => a == b,
                ">" => a > b,
                ">=" => a >= b,
                "<" => a < b,
                _ => a <= b,
            }
        };
        (Vec::new(), vec![text], Box::new(fits))
    });
}

/// Parts of `G` with a least or exact number of elements, some of them disjoint.
struct Parts {
    sizes: Vec<usize>,
    disjoint: Vec<(usize, usize)>,
    /// Every element is in one of them.
    cover: bool,
}

impl Parts {
    /// Whether a set of so many elements has such parts: all are tried.
    fn fit(&self, size: usize) -> bool {
        self.choose(size, &mut Vec::new())
    }

    fn choose(&self, size: usize, chosen: &mut Vec<u32>) -> bool {
        let at = chosen.len();
        let Some(wanted) = self.sizes.get(at) else {
            return !self.cover || chosen.iter().fold(0, |all, part| all | part) == (1 << size) - 1;
        };
        (0..1u32 << size).filter(|part| part.count_ones() as usize == *wanted).any(|part| {
            let apart = self.disjoint.iter().all(|(i, j)| *j != at || *i >= at || chosen[*i] & part == 0);
            if !apart {
                return false;
            }
            chosen.push(part);
            let fits = self.choose(size, chosen);
            chosen.pop();
            fits
        })
    }
}

/// Pairs of the first numbers, some of them.
fn pairs(random: &mut Random, number: usize, sparse: u64) -> Vec<(usize, usize)> {
    (0..number).flat_map(|j| (0..j).map(move |i| (i, j))).filter(|_| random.below(sparse) == 0).collect()
}

#[test]
fn ends_of_functions_that_are_disjoint_add_up() {
    agrees(|random| {
        let number = 1 + random.below(3) as usize;
        let (mut properties, mut ends, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
        for f in 0..number {
            let known = random.between(1, 3) as usize;
            // The arrow, whether it leads to G, and how many elements of G it needs at least.
            let (arrow, into, least) = random.pick(&[
                (">->", true, known),
                ("-->", true, 1),
                ("+->>", false, known),
                (">+>>", false, known),
                ("<->", true, 0),
                (">+>", true, 0),
            ]);
            properties.push(if into {
                format!("f{f} : H{known} {arrow} G")
            } else {
                format!("f{f} : G {arrow} H{known}")
            });
            ends.push(if into { format!("ran(f{f})") } else { format!("dom(f{f})") });
            sizes.push(least);
        }
        let disjoint = pairs(random, number, 2);
        properties.extend(disjoint.iter().map(|(i, j)| format!("{} /\\ {} = {{}}", ends[*i], ends[*j])));
        let parts = Parts { sizes, disjoint, cover: false };
        let constants = (0..number).map(|f| format!("f{f}")).collect();
        (constants, properties, Box::new(move |size| parts.fit(size)))
    });
}

#[test]
fn a_bijection_a_surjection_and_an_injection_compare_sizes() {
    agrees(|random| {
        let (p, q) = (random.between(1, 3) as usize, random.between(1, 3) as usize);
        let (arrow, from_g) = random.pick(&[(">->>", true), (">->>", false), ("-->>", true), (">->", false)]);
        let other = random.pick(&["*", "-"]);
        let (text, known) = match other {
            "*" => (format!("(H{p}*H{q})"), p * q),
            _ => (format!("({p}..{})", p + q), q + 1),
        };
        let property = if from_g { format!("f : G {arrow} {text}") } else { format!("f : {text} {arrow} G") };
        let fits = move |size: usize| if arrow == ">->>" { size == known } else { size >= known };
        (vec!["f".into()], vec![property], Box::new(fits))
    });
}

#[test]
fn parts_of_known_sizes_that_make_up_a_set_add_up() {
    agrees(|random| {
        let number = 2 + random.below(2) as usize;
        let names: Vec<String> = (0..number).map(|p| format!("p{p}")).collect();
        let sizes: Vec<usize> = (0..number).map(|_| random.between(1, 3) as usize).collect();
        let cover = random.below(2) == 0;
        // A union is one of parts that are all disjoint.
        let disjoint = pairs(random, number, if cover { 1 } else { 2 });
        let mut properties: Vec<String> = names.iter().map(|p| format!("{p} <: G")).collect();
        properties.extend(names.iter().zip(&sizes).map(|(p, n)| format!("card({p}) = {n}")));
        properties.extend(disjoint.iter().map(|(i, j)| format!("p{i} /\\ p{j} = {{}}")));
        if cover {
            properties.push(format!("G = {}", names.join("\\/")));
        }
        let parts = Parts { sizes, disjoint, cover };
        (names, properties, Box::new(move |size| parts.fit(size)))
    });
}

#[test]
fn constants_that_differ_need_as_many_elements_as_a_group_of_them() {
    agrees(|random| {
        let number = 2 + random.below(3) as usize;
        let names: Vec<String> = (0..number).map(|c| format!("k{c}")).collect();
        let apart = pairs(random, number, 2);
        let mut properties: Vec<String> = names.iter().map(|c| format!("{c} : G")).collect();
        properties.extend(apart.iter().map(|(i, j)| match random.below(3) {
            0 => format!("k{i} /= k{j}"),
            1 => format!("not(k{j} = k{i})"),
            _ => format!("k{i} /: {{k{j}}}"),
        }));
        let parts = Parts { sizes: vec![1; number], disjoint: apart, cover: false };
        (names, properties, Box::new(move |size| parts.fit(size)))
    });
}
