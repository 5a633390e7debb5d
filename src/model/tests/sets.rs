//! Sizes of deferred sets, and constants that are elements.

use super::{load_with, names, one};
use crate::LoadOptions;
use bombus_lang::typed::{Machine, SizeOrigin};

fn elements(m: &Machine) -> Vec<String> {
    m.sets[0].elems.iter().map(|e| e.to_string()).collect()
}

#[test]
fn the_default_size_is_two_314() {
    let m = one("MACHINE M SETS S VARIABLES x INVARIANT x : S INITIALISATION x :: S END");
    assert_eq!(elements(&m), ["S1", "S2"]);
    assert_eq!(m.sets[0].origin, SizeOrigin::Default);
}

#[test]
fn properties_and_scopes_state_a_size_315_316_317() {
    for (text, size) in [
        ("SETS S PROPERTIES card(S)=4", 4),
        ("SETS S PROPERTIES 2+2=card(S)", 4),
        ("SETS S PROPERTIES card(S)>4", 5),
        ("SETS S PROPERTIES card(S)>=4", 4),
        ("SETS S PROPERTIES card(S)<=1", 1),
        ("SETS S CONSTANTS n PROPERTIES n = 7 & card(S) = n", 7),
        ("SETS S DEFINITIONS scope_S==3", 3),
        ("SETS S DEFINITIONS SET_PREF_DEFAULT_SETSIZE == 5", 5),
        ("SETS S; T={a,b,c} CONSTANTS f PROPERTIES f:S>->>T", 3),
        ("SETS S; T CONSTANTS f PROPERTIES card(T)=5 & f:S>->>T", 5),
        ("SETS S; T PROPERTIES card(S)=card(T) & card(T)=3", 3),
        // T and U have 2 elements each.
        ("SETS S; T; U PROPERTIES card(S) >= card(T)+card(U)", 4),
        ("SETS S; T; U PROPERTIES card(S) > card(T)+card(U)", 5),
        ("SETS S; T CONSTANTS f PROPERTIES f : T >-> S & card(T) = 3", 3),
        ("SETS S; T; U CONSTANTS f,g PROPERTIES f : T >-> S & g : U >-> S & ran(f) /\\ ran(g) = {}", 4),
        ("SETS S; T; U CONSTANTS f,g PROPERTIES f : T >-> S & g : U --> S & ran(f) /\\ ran(g) = {}", 3),
        ("SETS S; T; U CONSTANTS f,g PROPERTIES f : S +->> T & g : S +->> U & dom(f) /\\ dom(g) = {}", 4),
        // Nothing keeps the ranges apart here.
        ("SETS S; T; U CONSTANTS f,g PROPERTIES f : T >-> S & g : U >-> S", 2),
    ] {
        assert_eq!(one(&format!("MACHINE M {text} END")).sets[0].elems.len(), size, "{text}");
    }
}

#[test]
fn the_command_line_beats_scopes_which_beat_properties() {
    let text = "MACHINE M SETS S DEFINITIONS scope_S == 3 PROPERTIES card(S) = 4 END";
    assert_eq!(one(text).sets[0].elems.len(), 3);
    let options = LoadOptions { set_sizes: [("S".to_string(), 6)].into(), ..LoadOptions::default() };
    let m = load_with(&[("M.mch", text)], &options).model.expect("a model").machine;
    assert_eq!((m.sets[0].elems.len(), m.sets[0].origin), (6, SizeOrigin::CommandLine));
}

#[test]
fn distinct_constants_are_identified_with_elements_332() {
    let m = one("MACHINE M SETS ID CONSTANTS a,zz,b,c,d
         PROPERTIES {a,b,c,d,zz} <: ID & a/=b & a/=c & a/=d & b/=c & b/=d & c/=d & a/=zz
         VARIABLES xx INVARIANT xx:ID INITIALISATION xx:=a END");
    assert_eq!(elements(&m), ["a", "b", "c", "d"]);
    // zz is one of the three others: 3 valuations, as ProB has.
    assert_eq!(names(&m, &m.constants), ["zz"]);
}

#[test]
fn a_listed_set_is_like_an_enumerated_one() {
    let m = one("MACHINE M SETS S CONSTANTS a,b,c PROPERTIES S={a,b,c} & a/=b & a/=c & b/=c END");
    assert_eq!(elements(&m), ["a", "b", "c"]);
    assert!(m.constants.is_empty());
    // ProB's recorded result: a listed set whose elements need not differ is as large as is proven.
    let m = one("MACHINE M SETS S CONSTANTS c,d,e,f PROPERTIES S={c,d,e,f} & c/=d & c/=e & d/=e END");
    assert_eq!((elements(&m).len(), names(&m, &m.constants)), (3, vec!["f".to_string()]));
    let m = one("MACHINE M SETS S CONSTANTS a,b PROPERTIES @partition(S,{a},{b}) END");
    assert_eq!(elements(&m), ["a", "b"]);
    let m = one("MACHINE M SETS S CONSTANTS a,b,c PROPERTIES S={a,b,c} & 3 = card({a,b,c}) END");
    assert_eq!(elements(&m).len(), 3);
}

#[test]
fn explicit_sizes_keep_their_value_331() {
    let m = one("MACHINE M SETS ID; ID2={ID0,ID1} CONSTANTS iv, ID3 PROPERTIES card(ID)=6 & iv:ID2 & ID3=3
         VARIABLES xx, ID4 INVARIANT xx:ID & ID4:ID INITIALISATION xx::ID || ID4::ID END");
    assert_eq!(m.sets[0].elems.len(), 6);
    assert_eq!(names(&m, &m.constants), ["iv", "ID3"]);
}

#[test]
fn one_constant_alone_is_the_first_element_and_leaves_nothing_to_set_up() {
    // Recorded by ProB: `root : ID` alone makes no SETUP_CONSTANTS; `card(S)=2` alone does.
    let m = one("MACHINE M SETS ID CONSTANTS root PROPERTIES root : ID END");
    assert!(m.constants.is_empty() && !m.has_setup());
    assert!(one("MACHINE M SETS S PROPERTIES card(S)=2 END").has_setup());
}

#[test]
fn four_distinct_constants_need_four_elements() {
    let m = one(
        "MACHINE M SETS S CONSTANTS a,b,c,d PROPERTIES a:S & b:S & c:S & d:S & a/=b & a/=c & a/=d & b/=c & b/=d & not(c=d) END",
    );
    assert_eq!(m.sets[0].elems.len(), 4);
}

#[test]
fn the_size_decides_and_says_where_it_comes_from() {
    let m = one("MACHINE M SETS S PROPERTIES card(S) = 3 END");
    assert_eq!(m.sets[0].origin, SizeOrigin::Properties);
}

/// How many properties were added to break symmetry.
fn added(text: &str) -> usize {
    one(&format!("MACHINE M {text} END"))
        .properties
        .iter()
        .filter(|c| c.text.contains("(numbered)") || c.text.starts_with("order of"))
        .count()
}

#[test]
fn a_bijection_onto_a_deferred_set_numbers_its_elements_once() {
    // Recorded by ProB: one valuation of the first bijection, all of the second.
    assert_eq!(added("SETS S; T CONSTANTS f,g PROPERTIES f:S>->>T & g:S>->>T"), 1);
    assert_eq!(added("SETS T CONSTANTS f PROPERTIES f:1..3>->>T"), 1);
    // The bijection tells all elements of T apart, so nothing is left to order for the constant.
    let both = one("MACHINE M SETS S={a,b}; T CONSTANTS f,c PROPERTIES f:S>->>T & c:T END");
    assert!(both.properties.iter().all(|c| !c.text.starts_with("order of")));
    assert_eq!(added("SETS S={a,b}; T CONSTANTS f,c PROPERTIES f:S>->>T & c:T"), 1);
    assert_eq!(added("SETS S CONSTANTS f PROPERTIES f:S>->>S"), 0);
}

#[test]
fn constants_and_parts_of_a_deferred_set_are_ordered() {
    // Recorded by ProB: c,d of a set of 20 beside two distinct constants have 3+3+4 valuations.
    assert_eq!(added("SETS D CONSTANTS a,b,c,d PROPERTIES {a,b,c,d} <: D & a/=b & card(D)=20"), 3);
    // Recorded by ProB: two parts of a set of 4 have 5 valuations.
    assert_eq!(added("SETS S CONSTANTS P,Q PROPERTIES P \\/ Q = S & P /\\ Q = {} & card(S)=4"), 3);
    assert_eq!(added("SETS S CONSTANTS P,Q PROPERTIES P \\/ Q = S & card(S)=4"), 0);
}

#[test]
fn parts_of_known_size_add_up() {
    let m = one(
        "MACHINE M SETS S CONSTANTS P,Q PROPERTIES P \\/ Q = S & P /\\ Q = {} & card(P)=3 & card(Q)=2 END",
    );
    assert_eq!(m.sets[0].elems.len(), 5);
}

#[test]
fn disjoint_parts_add_up() {
    for (properties, size) in [
        ("A <: S & B <: S & A /\\ B = {} & card(A) = 2 & card(B) = 2", 4),
        ("A <: S & B <: S & card(A) = 2 & card(B) = 3", 3),
        ("A <: S & B <: S & {} = B /\\ A & A /= {} & card(B) = 3", 4),
        ("p : S & q : S & p /= q & A = {p, q} & A /\\ B = {} & B /= {} & B <: S", 3),
        // C may share its elements with A and with B.
        ("A <: S & B <: S & C <: S & A /\\ B = {} & card(A) = 2 & card(B) = 1 & card(C) = 4", 4),
        // Both are parts of C, which is a part of S.
        ("C <: S & A <: C & B <: C & A /\\ B = {} & card(A) = 2 & card(B) = 3", 5),
    ] {
        let text = format!(
            "MACHINE M SETS S CONSTANTS A, B, C, p, q PROPERTIES C <: S & p : S & q : S & {properties} END"
        );
        assert_eq!(one(&text).sets[0].elems.len(), size, "{properties}");
    }
    let other = "MACHINE M SETS S; T CONSTANTS A, B PROPERTIES A <: T & B <: T & A /\\ B = {} & card(A) = 2 & B /= {} END";
    let sizes: Vec<usize> = one(other).sets.iter().map(|s| s.elems.len()).collect();
    assert_eq!(sizes, [2, 3], "only T has parts");
}
