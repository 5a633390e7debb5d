//! The sixty rows of the language reference: each states operations, valuations of the constants, initial states, states
//! and transitions, and whether a deadlock or a broken invariant is found. The figures were derived by hand and by an
//! oracle that shares no code with Bombus; given sets have two elements unless a row says otherwise.

use crate::{check, counts, zed};

/// A counter from 0 to 3 that begins at 0: the state of many rows.
const H: &str = r"S \defs [n:0 \upto 3] \\ Init \defs [S' | n'=0] \\";

struct Row {
    number: u32,
    text: &'static str,
    /// The size of the given set N.
    size: Option<u32>,
    /// Operations; valuations, initial states, states, transitions; deadlock, broken invariant.
    expected: (&'static str, [u64; 4], bool, bool),
}

/// Machines: the items of one `zed` environment, `H` in front where the text begins with it.
const MACHINES: &[Row] = &[
    Row {
        number: 1,
        text: r"H Inc \defs [\Delta S | n'=n+1]",
        size: None,
        expected: ("Inc", [0, 1, 4, 3], true, false),
    },
    Row {
        number: 2,
        text: r"H Inc \defs [\Delta S | n'=(n+1) \mod 4]",
        size: None,
        expected: ("Inc", [0, 1, 4, 4], false, false),
    },
    Row {
        number: 3,
        text: r"H Any \defs [\Delta S | true]",
        size: None,
        expected: ("Any", [0, 1, 4, 16], false, false),
    },
    Row {
        number: 4,
        text: r"H Look \defs [\Xi S | true]",
        size: None,
        expected: ("Look", [0, 1, 1, 1], false, false),
    },
    Row {
        number: 5,
        text: r"S \defs [n:0 \upto 3] \\ Init \defs [S | n=0] \\ Inc \defs [\Delta S | n'=n+1]",
        size: None,
        expected: ("Inc", [0, 1, 4, 3], true, false),
    },
    Row {
        number: 6,
        text: r"S \defs [n:0 \upto 3] \\ Init \defs [S' | n' \leq 1] \\ Inc \defs [\Delta S | n'=n+1]",
        size: None,
        expected: ("Inc", [0, 2, 4, 3], true, false),
    },
    Row {
        number: 8,
        text: r"H Add \defs [\Delta S; i?:1 \upto 2 | n'=n+i?]",
        size: None,
        expected: ("Add", [0, 1, 4, 5], true, false),
    },
    Row {
        number: 9,
        text: r"H Add \defs [\Delta S; i?:1 \upto 2; o!:\nat | n'=n+i? \land o!=n*10]",
        size: None,
        expected: ("Add", [0, 1, 4, 5], true, false),
    },
    Row {
        number: 10,
        text: r"H Inc \defs [n,n':0 \upto 3 | n'=n+1]",
        size: None,
        expected: ("Inc", [0, 1, 4, 3], true, false),
    },
    Row {
        number: 11,
        text: r"S \defs [x,y:0 \upto 1] \\ Init \defs [S' | x'=0 \land y'=0] \\ C \defs [x,x':0 \upto 1 | x'=1-x] \\ D \defs [y,y':0 \upto 1 | y'=y] \\ E \defs C \land D",
        size: None,
        expected: ("E", [0, 1, 2, 2], false, false),
    },
    Row {
        number: 12,
        text: r"H Aux \defs [\Delta S | n'=n+1] \\ Op \defs [Aux | n<2]",
        size: None,
        expected: ("Op", [0, 1, 3, 2], true, false),
    },
    Row {
        number: 13,
        text: r"REP ::= ok | full \\ H Good \defs [\Delta S; r!:REP | n'=n+1 \land r!=ok] \\ Bad \defs [\Xi S; r!:REP | n=3 \land r!=full] \\ Inc \defs Good \lor Bad",
        size: None,
        expected: ("Inc", [0, 1, 4, 4], false, false),
    },
    Row {
        number: 14,
        text: r"H Inc \defs [\Delta S; i?:1 \upto 2 | n'=n+i?] \hide (i?)",
        size: None,
        expected: ("Inc", [0, 1, 4, 5], true, false),
    },
    Row {
        number: 15,
        text: r"H Inc \defs [\Delta S | n'=n+1] \\ Stuck \defs [\Xi S | \lnot (\pre Inc)] \\ Step \defs Inc",
        size: None,
        expected: ("Stuck,Step", [0, 1, 4, 4], false, false),
    },
    Row {
        number: 16,
        text: r"H Inc \defs [\Delta S | n'=n+1] \\ Two \defs Inc \semi Inc",
        size: None,
        expected: ("Two", [0, 1, 2, 1], true, false),
    },
    Row {
        number: 17,
        text: r"H A \defs [S; v!:0 \upto 3 | v!=n+1] \\ B \defs [n',v?:0 \upto 3 | n'=v?] \\ Op \defs A \pipe B",
        size: None,
        expected: ("Op", [0, 1, 4, 3], true, false),
    },
    Row {
        number: 18,
        text: r"C \defs [v:0 \upto 2] \\ S \defs [C[x/v]; C[y/v] | x \leq y] \\ Init \defs [S' | x'=0 \land y'=0] \\ Op \defs [\Delta S | x'+y'=x+y+1]",
        size: None,
        expected: ("Op", [0, 1, 6, 6], true, false),
    },
    Row {
        number: 19,
        text: r"H Keep \defs [\Delta S | \theta S' = \theta S]",
        size: None,
        expected: ("Keep", [0, 1, 1, 1], false, false),
    },
    Row {
        number: 20,
        text: r"H Inc \defs [\Delta S | n'=n+1] \\ Invariant \defs [S | n<3]",
        size: None,
        expected: ("Inc", [0, 1, 4, 3], true, true),
    },
    Row {
        number: 21,
        text: r"S \defs [n:\nat] \\ Init \defs [S' | n'=0] \\ Inc \defs [\Delta S | n'=n+1] \\ Scope \defs [S | n<5]",
        size: None,
        expected: ("Inc", [0, 1, 6, 5], false, false),
    },
    Row {
        number: 22,
        text: r"[N] \\ S \defs [a:\power N] \\ Init \defs [S' | a'=\emptyset] \\ Add \defs [\Delta S; x?:N | x? \notin a \land a'=a \cup \{x?\}]",
        size: None,
        expected: ("Add", [0, 1, 4, 4], true, false),
    },
    Row {
        number: 23,
        text: r"[N] \\ S \defs [a:\power N] \\ Init \defs [S' | a'=\emptyset] \\ Add \defs [\Delta S; x?:N | x? \notin a \land a'=a \cup \{x?\}]",
        size: Some(3),
        expected: ("Add", [0, 1, 8, 12], true, false),
    },
    Row {
        number: 24,
        text: r"[N] \\ S \defs [f:N \pfun (0 \upto 1)] \\ Init \defs [S' | f'=\emptyset] \\ Put \defs [\Delta S; k?:N; v?:0 \upto 1 | f'=f \oplus \{k? \mapsto v?\}]",
        size: None,
        expected: ("Put", [0, 1, 9, 36], false, false),
    },
    Row {
        number: 25,
        text: r"T ::= leaf | val \ldata 0 \upto 1 \rdata \\ S \defs [t:T] \\ Init \defs [S' | t'=leaf] \\ Ch \defs [\Delta S | t' \neq t]",
        size: None,
        expected: ("Ch", [0, 1, 3, 6], false, false),
    },
    Row {
        number: 26,
        text: r"lim == 2 \\ H Inc \defs [\Delta S | n < lim \land n'=n+1]",
        size: None,
        expected: ("Inc", [0, 1, 3, 2], true, false),
    },
    Row {
        number: 27,
        text: r"Pair[X] == X \cross X \\ S \defs [p:Pair[0 \upto 1]] \\ Init \defs [S' | p'=(0,0)] \\ Sw \defs [\Delta S | first~p' = second~p]",
        size: None,
        expected: ("Sw", [0, 1, 4, 8], false, false),
    },
    Row {
        number: 28,
        text: r"Box[X] \defs [c:X] \\ S \defs [Box[0 \upto 2] | c \neq 1] \\ Init \defs [S' | c'=0] \\ Op \defs [\Delta S | c' \neq c]",
        size: None,
        expected: ("Op", [0, 1, 2, 2], false, false),
    },
    Row {
        number: 29,
        text: r"S \defs [q:\seq (0 \upto 1)] \\ Init \defs [S' | q'=\langle \rangle] \\ In \defs [\Delta S; x?:0 \upto 1 | \# q < 2 \land q'=q \cat \langle x? \rangle] \\ Out \defs [\Delta S; x!:0 \upto 1 | q \neq \langle \rangle \land x!=head~q \land q'=tail~q]",
        size: None,
        expected: ("In,Out", [0, 1, 7, 12], false, false),
    },
    Row {
        number: 30,
        text: r"S \defs [b:\bag (1 \upto 2)] \\ Init \defs [S' | b'=\lbag \rbag] \\ Put \defs [\Delta S; x?:1 \upto 2 | b \bcount x? < 2 \land b'=b \uplus \lbag x? \rbag]",
        size: None,
        expected: ("Put", [0, 1, 9, 12], true, false),
    },
    Row {
        number: 31,
        text: r"\begin{axdef} k:1 \upto 3 \where k \neq 2 \end{axdef} \begin{zed} H Inc \defs [\Delta S | n<k \land n'=n+1] \end{zed}",
        size: None,
        expected: ("Inc", [2, 2, 6, 4], true, false),
    },
    Row {
        number: 32,
        text: r"\begin{gendef}[X] sw: X \cross X \fun X \cross X \where sw = (\lambda a,b:X @ (b,a)) \end{gendef} \begin{zed} S \defs [p:(0 \upto 1) \cross (0 \upto 1)] \\ Init \defs [S' | p'=(0,1)] \\ Op \defs [\Delta S | p'=sw[0 \upto 1](p)] \end{zed}",
        size: None,
        expected: ("Op", [0, 1, 2, 2], false, false),
    },
];

/// Predicates, and whether they are true.
const PREDICATES: &[(u32, &str, bool)] = &[
    (33, r"(-7) \div 2 = -4 \land (-7) \mod 2 = 1", true),
    (34, r"\# ((1 \upto 3) \cup \{5\}) = 4", true),
    (35, r"\langle 1,2 \rangle \cat \langle 3 \rangle = \{1 \mapsto 1, 2 \mapsto 2, 3 \mapsto 3\}", true),
    (36, r"rev \langle 1,2,3 \rangle = \langle 3,2,1 \rangle", true),
    (37, r"\langle 1,2,3,2 \rangle \filter \{2\} = \langle 2,2 \rangle", true),
    (38, r"\{1,3\} \extract \langle 7,8,9 \rangle = \langle 7,9 \rangle", true),
    (39, r"\{1 \mapsto 2, 2 \mapsto 3\} \comp \{3 \mapsto 4\} = \{2 \mapsto 4\}", true),
    (40, r"\{1 \mapsto 2, 2 \mapsto 3\} \limg \{1\} \rimg = \{2\}", true),
    (41, r"\{1 \mapsto 2\} \oplus \{1 \mapsto 3\} = \{1 \mapsto 3\}", true),
    (42, r"\{1\} \ndres \{1 \mapsto 2, 2 \mapsto 3\} = \{2 \mapsto 3\}", true),
    (43, r"\{1 \mapsto 2, 2 \mapsto 1\}\plus = \{1,2\} \cross \{1,2\}", true),
    (
        44,
        r"\# (\{1,2\} \pfun \{1,2\}) = 9 \land \# (\{1,2\} \fun \{1,2\}) = 4 \land \# (\{1,2\} \pinj \{1,2\}) = 7 \land \# (\{1,2\} \bij \{1,2\}) = 2 \land \# (\{1,2\} \rel \{1,2\}) = 16",
        true,
    ),
    (45, r"(\mu x: 1 \upto 5 | x * x = 9) = 3", true),
    (46, r"\{ x: 1 \upto 3; y: 1 \upto 3 | x < y \} = \{(1,2),(1,3),(2,3)\}", true),
    (47, r"\{ x: 1 \upto 3 @ x * x \} = \{1,4,9\}", true),
    (48, r"(\lambda x: 1 \upto 3 @ x + 1)~2 = 3", true),
    (49, r"(\LET k == 2 @ k + k) = 4", true),
    (50, r"(\IF 1 < 2 \THEN 5 \ELSE 6) = 5", true),
    (51, r"1 < 2 \leq 2 < 3", true),
    (52, r"\exists_1 x: 0 \upto 3 @ x * x = x", false),
    (53, r"\forall x: 0 \upto 3 | x > 0 @ x \div x = 1", true),
    (54, r"\lbag 1,1,2 \rbag \bcount 1 = 2", true),
    (55, r"\langle \{1\}, \{2\} \rangle \partition \{1,2\}", true),
    (56, r"false \implies false \iff false", false),
    (57, r"false \implies true \implies false", true),
    (58, r"true \lor true \land false", true),
    (59, r"\lnot false \land false", false),
    (60, r"10 - 3 - 2 = 5 \land 2 + 3 * 4 = 14 \land 8 \div 2 * 2 = 8", true),
];

#[test]
fn machines_have_the_operations_states_and_transitions_of_the_reference() {
    for row in MACHINES {
        let text = row.text.replacen("H ", &format!("{H} "), usize::from(row.text.contains("H ")));
        let text = if text.starts_with("\\begin") { text } else { zed(&text) };
        let size = row.size.map(|n| format!("N={n}"));
        let options: Vec<&str> = size.iter().flat_map(|s| ["--set", s]).collect();
        let result = check("row.tex", &text, &options);
        let (operations, [constants, initial, states, transitions], deadlock, invariant) = row.expected;
        let mut wanted: Vec<&str> = operations.split(',').collect();
        wanted.sort_unstable();
        let events = result["events"].as_object().expect("events");
        let mut found: Vec<&str> = events.keys().map(String::as_str).collect();
        found.sort_unstable();
        assert_eq!(found, wanted, "row {}", row.number);
        assert_eq!(counts(&result), (states, transitions), "row {}", row.number);
        assert_eq!(result["constants"], constants, "row {}", row.number);
        assert_eq!(result["initial"], initial, "row {}", row.number);
        let any = |kind: &str| result["found"][kind].as_u64().unwrap_or(0) > 0;
        assert_eq!((any("deadlock"), any("invariant")), (deadlock, invariant), "row {}", row.number);
    }
}

#[test]
fn an_initialisation_that_nothing_satisfies_is_a_finding() {
    let items = r"S \defs [n:0 \upto 3] \\ Init \defs [S' | n' = 4] \\ Inc \defs [\Delta S | n'=n+1]";
    let result = check("row.tex", &zed(items), &[]);
    assert_eq!(result["verdict"], "violated");
    assert_eq!(result["violation"]["kind"], "properties");
}

#[test]
fn predicates_have_the_truth_value_of_the_reference() {
    for (number, text, truth) in PREDICATES {
        let items = format!(r"S \defs [n:0 \upto 0] \\ Init \defs [S' | n'=0 \land ({text})]");
        let result = check("row.tex", &zed(&items), &[]);
        assert_eq!(result["incomplete_because"], serde_json::json!([]), "row {number}: {text}");
        assert_eq!(result["initial"], u64::from(*truth), "row {number}: {text}");
    }
}
