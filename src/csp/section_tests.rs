//! Modules, timed sections, operators that share events, buffers.
//!
//! Figures are worked out by hand from the rules in the comments.

use super::testing::{figures, machine, on_large_stack, read, verdicts};
use super::value::Env;

/// States, transitions and traces of `MAIN`.
fn main_of(text: &str) -> String {
    on_large_stack(|| {
        let (mut eval, sources) = read(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        figures(&machine(&mut eval, &sources, "MAIN"))
    })
}

/// The value of a definition `x`.
fn value(text: &str) -> String {
    on_large_stack(|| {
        let (mut eval, _) = read(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        let script = eval.script.clone();
        let name = script.names.find("x").expect("x is defined");
        let e = super::core::Expr {
            id: u32::MAX - 1,
            span: Default::default(),
            kind: super::core::Kind::Name(name),
            free: [name].into(),
        };
        let found = eval.eval_data(&e.into(), &Env::default()).map(|d| eval.show(&d));
        found.unwrap_or_else(|fault| format!("fault: {}", fault.message))
    })
}

fn refused(text: &str) -> String {
    on_large_stack(|| read(text).err().unwrap_or_else(|| panic!("{text} is accepted")))
}

#[test]
fn names_of_a_module_are_seen_inside_of_it_and_by_their_path_outside() {
    let module =
        "module M\n y = 1\nexports\n z = y + 1\n module N\n exports\n w = z + y\n endmodule\nendmodule\n";
    assert_eq!(value(&format!("{module}x = (M::z, M::N::w)")), "(2, 3)");
    assert!(refused(&format!("{module}x = M::y")).contains("`M::y` is not exported"));
    assert!(refused(&format!("{module}x = z")).contains("`z` is not defined"));
    assert!(refused(&format!("{module}x = M::q")).contains("`M::q` is not defined"));
    // A name that is bound inside of a function hides the one of the module.
    assert_eq!(value("module M\nexports\n a = 1\n f(a) = a + 1\nendmodule\nx = M::f(5)"), "6");
    // Patterns and constructors.
    let pattern = "module M\nexports\n datatype D = A.{0..1} | B\n (p, A.q) = (7, A.1)\nendmodule\n";
    assert_eq!(value(&format!("{pattern}x = (M::p, M::q, card(M::D))")), "(7, 1, 3)");
}

#[test]
fn an_instance_is_a_module_of_its_own_with_the_parameters_in_it() {
    let module = "module M(n, k)\n m = n * k\nexports\n channel c : {0..n}\n P = c!m -> P\n size = card({| c |})\nendmodule\n";
    let two = "instance A = M(3, 1)\ninstance B = M(k, 0)\nk = 1\n";
    assert_eq!(value(&format!("{module}{two}x = (A::size, B::size)")), "(4, 2)");
    // The two channels are different ones, so the processes never wait for each other.
    assert_eq!(main_of(&format!("{module}{two}MAIN = A::P [|{{|A::c|}}|] B::P")), "1/1 T4");
    let nested = "module M(n)\nexports\n module N(k)\n exports\n s = n + k\n endmodule\nendmodule\n";
    assert_eq!(value(&format!("{nested}instance B = A::N(7)\ninstance A = M(5)\nx = B::s")), "12");
    assert!(refused(&format!("{nested}instance A = M(1, 2)")).contains("takes 1 arguments, 2 are given"));
    assert!(refused("instance A = Q").contains("there is no module `Q`"));
    assert!(
        refused("module M(k)\nexports\n instance I = M(k)\nendmodule\ninstance A = M(1)").contains("no end")
    );
    assert!(refused("module M()\nexports\nendmodule").contains("without brackets"));
    assert!(
        refused("module M\nexports\n assert STOP [T= STOP\nendmodule")
            .contains("cannot stand inside of a module")
    );
    assert!(refused("x = let instance A = M within 1").contains("cannot stand inside of `let`"));
    assert!(refused("module M\nexports\nx = 1").contains("no `endmodule`"));
}

#[test]
fn time_passes_before_and_after_a_communication_of_a_timed_section() {
    let start = "channel a, b, tock\nTwo(_) = 2\n";
    // Waiting, one and two units after the event: three states, each with tock, the first with a too.
    assert_eq!(main_of(&format!("{start}Timed(Two) {{ MAIN = a -> MAIN }}")), "3/4 T10");
    // Without a function an event takes one unit.
    assert_eq!(main_of(&format!("{start}Timed {{ MAIN = a -> MAIN }}")), "2/3 T11");
    assert_eq!(main_of(&format!("{start}Timed {{ MAIN = STOP }}")), "1/1 T4");
    // Before ✓ time may pass.
    assert_eq!(main_of(&format!("{start}Timed {{ MAIN = SKIP }}")), "2/2 T7 ✓");
    assert_eq!(main_of(&format!("{start}Timed {{ MAIN = WAIT(2) ; STOP }}")), "4/5 T4");
    // tock does not resolve a choice, and parallel processes do it together.
    assert_eq!(main_of(&format!("{start}Timed(Two) {{ MAIN = a -> STOP [] b -> STOP }}")), "4/6 T16");
    let both = format!("{start}Zero(_) = 0\nTimed(Zero) {{ MAIN = a -> STOP ||| b -> STOP }}");
    assert_eq!(main_of(&both), "4/8 T24");
    // A guard that is false lets time pass.
    assert_eq!(main_of(&format!("{start}Timed {{ MAIN = false & a -> STOP }}")), "1/1 T4");
    // τ is more urgent than time where that is asked for.
    let urgent = format!("{start}Timed {{ P = (a -> STOP) \\ {{a}}\nMAIN = timed_priority(P) }}");
    assert_eq!(main_of(&urgent), "3/3 T4");
    assert!(refused("Timed { P = STOP }").contains("needs the declaration `channel tock`"));
    assert!(refused("P = WAIT(3)").contains("stands in timed sections only"));
    assert!(
        refused(&format!("{start}Timed {{ P = STOP [a <-> b] STOP }}"))
            .contains("no meaning inside of a timed section")
    );
}

#[test]
fn choices_and_interrupts_may_share_events() {
    let start = "channel a, b, c\n";
    // Both do a and stay in the choice, b resolves it.
    assert_eq!(main_of(&format!("{start}P = a -> P\nMAIN = (a -> b -> STOP) [+{{a}}+] P")), "3/2 T3 D");
    assert_eq!(main_of(&format!("{start}MAIN = a -> STOP [+{{a}}+] b -> STOP")), "2/1 T2 D");
    // c interrupts before or after the a that both do.
    assert_eq!(
        main_of(&format!("{start}Q = a -> Q [] c -> STOP\nMAIN = (a -> b -> STOP) /+{{a}}+\\ Q")),
        "4/5 T6 D"
    );
    assert_eq!(main_of(&format!("{start}MAIN = [+{{a}}+] i : {{0..2}} @ a -> STOP")), "2/1 T2 D");
}

#[test]
fn a_buffer_gives_back_in_order_what_it_was_given() {
    let start = "channel c, d : Bool\n";
    let hand = "B(s) = #s < 2 & c?v -> B(s^<v>) [] #s > 0 & d!head(s) -> B(tail(s))\n";
    let both = "R = {(c.v, d.v) | v <- Bool}\nassert B(<>) [FD= BUFFER(2, R)\nassert BUFFER(2, R) [FD= B(<>)";
    assert_eq!(on_large_stack(|| verdicts(&format!("{start}{hand}{both}"), 1)), ["holds", "holds"]);
    assert_eq!(value(&format!("{start}x = BUFFER(0, {{}})")), "fault: a buffer for 0 values is none");
    assert!(value(&format!("{start}x = BUFFER(1, {{(c.v, d.true) | v <- Bool}})")).contains("ambiguous"));
}

#[test]
fn representatives_of_a_symmetric_closure_are_least() {
    let start = "external mtransclose\n";
    assert_eq!(
        value(&format!("{start}x = mtransclose({{(3, 2), (2, 1), (5, 6)}}, {{1, 2, 3, 5}})")),
        "{(1, 2), (1, 3)}"
    );
}
