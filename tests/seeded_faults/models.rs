//! Small machines that between them use what the faults break, each with the options of its runs.

/// A machine, and the options of each run on it.
pub struct Model {
    pub text: &'static str,
    pub runs: &'static [&'static [&'static str]],
}

/// Code by machine code, which is made of code that is run often, and operation by operation.
const BOTH: &[&[&str]] = &[&[], &["--no-native"]];

pub const MODELS: &[Model] = &[
    Model { text: STATEMENTS, runs: BOTH },
    Model { text: PREDICATES, runs: BOTH },
    Model { text: CELLS, runs: BOTH },
    Model { text: LARGE_SETS, runs: &[&[], &["--no-native"], &["--store", "hash"]] },
    Model { text: MATRIX, runs: BOTH },
    Model { text: CONSTANTS, runs: BOTH },
    Model { text: BROKEN_RANGE, runs: BOTH },
    Model { text: BROKEN_LATE, runs: BOTH },
    Model { text: LINE, runs: BOTH },
    Model { text: MANY, runs: &[&[]] },
    Model { text: LOCKS, runs: &[&["--por", "on"]] },
    Model { text: RACE, runs: &[&["--por", "on"]] },
    Model { text: OPENED, runs: &[&["--por", "on"]] },
    Model { text: OPENED_TWICE, runs: &[&["--por", "on"]] },
    Model { text: MEETING, runs: &[&["--por", "on", "--no-deadlock"]] },
    Model { text: PUT_OFF, runs: &[&["--por", "on"]] },
    Model { text: OWNERS, runs: &[&["--symmetry", "exact"]] },
    Model { text: RING, runs: &[&["--symmetry", "exact", "--set", "P=4"]] },
    Model { text: LEADER, runs: &[&["--symmetry", "exact"]] },
    Model { text: GRAPH, runs: &[&["--symmetry", "exact"]] },
    Model { text: OTHER_RESULT, runs: &[&[]] },
    Model { text: OTHER_STATE, runs: &[&[]] },
    Model { text: EXPECTS_MORE, runs: &[&[]] },
];

/// What stands between a refinement and the machine that it refines, `A`.
pub const REFINES: &str = "---";

const STATEMENTS: &str = "MACHINE Statements
VARIABLES x, y, z, b, p
INVARIANT x : 0..7 & y : 0..7 & z : -3..4 & b : BOOL & p : (0..1) * (0..2)
INITIALISATION x, y, z := 0, 0, -3 || b := FALSE || p := (0 |-> 0)
OPERATIONS
  up = SELECT x < 7 THEN x := x + 1 END;
  down = SELECT x >= y & z < 0 THEN z := z + 1 END;
  both = SELECT x < y THEN x := y - 1 || y := x END;
  choose = CHOICE y := 3 OR SELECT y < 6 THEN y := y + 2 END END;
  branch = IF x < 3 THEN y := x ELSE y := 7 - x END;
  cases = CASE x OF EITHER 1, 4 THEN z := 4 OR 2 THEN z := 0 ELSE z := -1 END END;
  guarded = SELECT x = 5 THEN z := 1 WHEN y = 5 THEN z := 2 ELSE z := 3 END;
  any = ANY v WHERE v : 0..7 & v > x & v < y THEN x := v END;
  order = SELECT not(z < 2) & z < 4 THEN BEGIN z := z - 2; y := (y + z + 3) mod 8 END END;
  flip = b := bool(x < 4);
  pair = SELECT p /= (1 |-> 2) THEN p := (1 |-> 2) END;
  part = SELECT p = (1 |-> 2) & x = 2 THEN p := (1 |-> 0) END
END";

const PREDICATES: &str = "MACHINE Predicates
VARIABLES s, t, n
INVARIANT s <: 0..4 & t <: 0..4 & n : 0..5
INITIALISATION s := {} || t := {0, 3} || n := 0
OPERATIONS
  put(i) = SELECT i : 0..4 & i /: s THEN s := s \\/ {i} END;
  take(i) = SELECT i : s & (i = 2 or i > 2) THEN s := s - {i} END;
  swap = SELECT s <<: t THEN s := t END;
  cover = SELECT s <: t & t /<: s THEN t := s END;
  two = SELECT card(s) > 2 & {min(s), 4} <: t THEN s := {min(s), 4} END;
  least = SELECT s /= {} & min(s) > n THEN n := min(s) END;
  join = SELECT 4 : s THEN t := t \\/ s END;
  implied = SELECT 1 : s => 2 : s THEN n := card(t) END;
  same = SELECT 1 : s <=> 2 : t THEN n := 0 END;
  nested = SELECT not(3 : s & 4 : t) THEN t := t \\/ {4} END;
  every = SELECT !i.(i : s => i : t) THEN n := 5 END;
  empty = SELECT card(t) = 3 THEN t := {} END
END";

const CELLS: &str = "MACHINE Cells
SETS PLACE = {idle, wants, waits, enters, holds, leaves}
VARIABLES at, turn, noted
INVARIANT at : 1..5 --> PLACE & turn : 1..5 & noted : 1..5 +-> 0..3 & card(at |> {holds}) <= 1
INITIALISATION at := (1..5) * {idle} || turn := 1 || noted := {}
OPERATIONS
  ask(i) = SELECT i : 1..5 & at(i) = idle & card(at |> {idle}) > 3 THEN at(i) := wants END;
  wait(i) = SELECT i : 1..5 & at(i) = wants THEN at(i) := waits END;
  enter(i) = SELECT i : 1..5 & at(i) = waits & at |> {holds} = {} THEN at(i) := holds || turn := i END;
  hurry(i) = SELECT i : 1..2 & at(i) = wants THEN at(i) := enters END;
  slow(i) = SELECT i : 1..2 & at(i) = enters THEN at(i) := waits END;
  leave(i) = SELECT i : 1..5 & at(i) = holds THEN at(i) := leaves END;
  done(i) = SELECT i : 1..5 & at(i) = leaves THEN at(i) := idle END;
  note(i, v) = SELECT i : 1..2 & v : {0, 3} & at(i) = leaves THEN noted(i) := v END;
  first_note(v) = SELECT v : 0..3 & at(1) = enters THEN noted(1) := v END;
  pass = SELECT at(turn) /= holds & turn < 5 THEN turn := turn + 1 END;
  nudge = SELECT at(3) = wants THEN turn := 3 END;
  some = SELECT at(1) = wants THEN turn := 1 WHEN at(2) = leaves THEN turn := 2 WHEN at(4) = waits THEN turn := 4 END;
  see = SELECT turn : dom(noted) & noted(turn) = 3 THEN turn := 5 END
END";

const LARGE_SETS: &str = "MACHINE LargeSets
VARIABLES s, t, n
INVARIANT s <: 0..69 & t <: 0..69 & n : 0..70
INITIALISATION s := {} || t := 0..69 || n := 0
OPERATIONS
  put(i) = SELECT i : {0, 7, 63, 64, 69} & i /: s THEN s := s \\/ {i} END;
  take(i) = SELECT i : {7, 64} THEN t := t - {i} END;
  back = SELECT not(64 : t) & card(s) = 3 THEN t := t \\/ {64} END;
  count = n := card(s);
  clear = SELECT card(s) = 5 & s /<: t THEN s := {} END;
  reset = SELECT s = {0, 64} THEN s := {} END;
  copy = SELECT s = {69} THEN t := s END
END";

const MATRIX: &str = "MACHINE Matrix
SETS NODE = {a, b, c}
VARIABLES r, at, seen
INVARIANT r : NODE <-> NODE & at : NODE & seen <: NODE
INITIALISATION r := {} || at := a || seen := {}
OPERATIONS
  link(i, j) = SELECT i : NODE & j : NODE & i |-> j /: r & card(r) < 4 THEN r := r \\/ {i |-> j} END;
  go(j) = SELECT j : NODE & at |-> j : r THEN at := j || seen := seen \\/ {j} END;
  cut(i, j) = SELECT i |-> j : r & i : seen THEN r := r - {i |-> j} END;
  rest = SELECT r[{at}] = {} THEN seen := seen - {at} END
END";

const CONSTANTS: &str = "MACHINE Constants
CONSTANTS low, high, step
PROPERTIES low : 0..2 & high : 5..8 & step : 1..2
VARIABLES x, y
INVARIANT x : low..high & y : 0..9
INITIALISATION x := low || y := 0
OPERATIONS
  more = SELECT x + step <= high THEN x := x + step END;
  less = SELECT x - step >= low & y < 9 THEN x := x - step || y := y + 1 END;
  again = SELECT y = 9 THEN y := low END
END";

const BROKEN_RANGE: &str = "MACHINE BrokenRange
VARIABLES x, y
INVARIANT x : 0..30 & y : 0..15
INITIALISATION x := 0 || y := 0
OPERATIONS
  more = SELECT x < 30 THEN x := x + 1 END;
  grow = SELECT x = 30 THEN y := y + 1 END;
  back = SELECT x > 20 THEN x := 0 END
END";

const BROKEN_LATE: &str = "MACHINE BrokenLate
VARIABLES x, y, s
INVARIANT x : 0..20 & y : 0..20 & s <: 0..3 & x + y < 40 & !i.(i : s => i < 3)
INITIALISATION x := 0 || y := 0 || s := {}
OPERATIONS
  right = SELECT x < 20 THEN x := x + 1 END;
  up = SELECT y < 20 THEN y := y + 1 END;
  put(i) = SELECT i : 0..3 & (i < 3 or x = 20) & i /: s THEN s := s \\/ {i} END;
  home = SELECT x = 20 & y = 20 THEN x := 0 || y := 0 || s := {} END
END";

/// One new state at a time.
const LINE: &str = "MACHINE Line
VARIABLES x
INVARIANT x : 0..40 & x /= 33
INITIALISATION x := 0
OPERATIONS
  step = SELECT x < 40 THEN x := x + 1 END;
  home = SELECT x = 40 THEN x := 0 END
END";

/// States of several words, more than the visited set has room for at first.
const MANY: &str = "MACHINE Many
VARIABLES a, b, c, s, t
INVARIANT a : 0..11 & b : 0..11 & c : 0..11 & s <: 1..64 & t <: 1..64
INITIALISATION a, b, c := 0, 0, 0 || s := {} || t := 1..64
OPERATIONS
  up = SELECT a < 11 THEN a := a + 1 END;
  over = SELECT b < 11 THEN b := b + 1 || s := s \\/ {b + 1} END;
  out = SELECT c < 11 THEN c := c + 1 || t := t - {c + 1} END;
  home = SELECT a = 11 & b = 11 THEN a := 0 || b := 0 || s := {} END
END";

/// Two locks that two processes take in different orders.
const LOCKS: &str = "MACHINE Locks
VARIABLES a, b, p, q
INVARIANT a : 0..1 & b : 0..1 & p : 0..2 & q : 0..2
INITIALISATION a, b, p, q := 0, 0, 0, 0
OPERATIONS
  p_first = SELECT p = 0 & a = 0 THEN p, a := 1, 1 END;
  p_other = SELECT p = 1 & b = 0 THEN p, b := 2, 1 END;
  p_leave = SELECT p = 2 THEN p, a, b := 0, 0, 0 END;
  q_first = SELECT q = 0 & b = 0 THEN q, b := 1, 1 END;
  q_other = SELECT q = 1 & a = 0 THEN q, a := 2, 1 END;
  q_leave = SELECT q = 2 THEN q, a, b := 0, 0, 0 END
END";

/// Two steps write one variable, and only one order of them goes on.
const RACE: &str = "MACHINE Race
VARIABLES x, a, b
INVARIANT x : 0..2 & a : 0..1 & b : 0..1
INITIALISATION x, a, b := 0, 0, 0
OPERATIONS
  one = SELECT a = 0 THEN x := 1 || a := 1 END;
  two = SELECT b = 0 THEN x := 2 || b := 1 END;
  go_on = SELECT a = 1 & b = 1 & x = 2 THEN a := 0 || b := 0 END
END";

/// The same, with a step that another one opens.
const OPENED: &str = "MACHINE Opened
VARIABLES x, a, b
INVARIANT x : 0..2 & a : 0..1 & b : 0..2
INITIALISATION x, a, b := 0, 0, 0
OPERATIONS
  one = SELECT a = 0 THEN x := 1 || a := 1 END;
  open = SELECT b = 0 THEN b := 1 END;
  two = SELECT b = 1 THEN x := 2 || b := 2 END;
  go_on = SELECT a = 1 & b = 2 & x = 2 THEN a := 0 || b := 0 END
END";

/// The same, where two guards are opened one after the other.
const OPENED_TWICE: &str = "MACHINE OpenedTwice
VARIABLES x, a, b, c, d
INVARIANT x : 0..2 & a : 0..1 & b : 0..2 & c : 0..1 & d : 0..1
INITIALISATION x, a, b, c, d := 0, 0, 0, 0, 0
OPERATIONS
  open = SELECT b = 0 THEN b := 1 END;
  other = SELECT d = 0 THEN d := 1 END;
  one = SELECT a = 0 & b = 1 THEN x := 1 || a := 1 END;
  key = SELECT b = 1 & c = 0 THEN c := 1 END;
  two = SELECT b = 1 & c = 1 THEN x := 2 || b := 2 END;
  go_on = SELECT a = 1 & b = 2 & x = 2 THEN a := 0 || b := 0 || c := 0 END
END";

/// A state between two steps is bad together with another such state.
const MEETING: &str = "MACHINE Meeting
VARIABLES p, q
INVARIANT p : 0..2 & q : 0..2 & not(p = 1 & q = 1)
INITIALISATION p, q := 0, 0
OPERATIONS
  p_in = SELECT p = 0 THEN p := 1 END;
  p_out = SELECT p = 1 THEN p := 2 END;
  q_in = SELECT q = 0 THEN q := 1 END;
  q_out = SELECT q = 1 THEN q := 2 END
END";

/// A cycle that commutes with the steps which lead to the fault.
const PUT_OFF: &str = "MACHINE PutOff
VARIABLES x, y, z
INVARIANT x : 0..3 & y : 0..2 & z : 0..1 & y < 2
INITIALISATION x, y, z := 0, 0, 0
OPERATIONS
  round = x := (x + 1) mod 4;
  begin = SELECT y = 0 THEN y := 1 END;
  go_on = SELECT y = 1 THEN y := 2 END;
  other = SELECT z = 0 THEN z := 1 END
END";

const OWNERS: &str = "MACHINE Owners
SETS P
VARIABLES waiting, owner, busy
INVARIANT waiting <: P & owner : P & busy : BOOL & (busy = TRUE => owner /: waiting)
INITIALISATION waiting := {} || owner :: P || busy := FALSE
OPERATIONS
  ask(p) = SELECT p : P & p /: waiting & (busy = FALSE or p /= owner) THEN waiting := waiting \\/ {p} END;
  take(p) = SELECT p : waiting & busy = FALSE THEN owner := p || busy := TRUE || waiting := waiting - {p} END;
  give = SELECT busy = TRUE & owner /: waiting THEN busy := FALSE END
END";

const RING: &str = "MACHINE Ring
SETS P
CONSTANTS start
PROPERTIES start : P
VARIABLES next, at, rank
INVARIANT next : P +-> P & at : P & rank : P --> 0..1
INITIALISATION next := {} || at := start || rank := P * {0}
OPERATIONS
  link(x, y) = SELECT x : P & y : P & x /: dom(next) THEN next(x) := y END;
  move = SELECT at : dom(next) THEN at := next(at) END;
  mark = SELECT at /= start THEN rank(at) := 1 END;
  cut = SELECT next(start) = at & start : dom(next) THEN next := {start} <<| next END
END";

const LEADER: &str = "MACHINE Leader
SETS P = {boss, left, right}
VARIABLES s, t
INVARIANT s <: P & t <: P & (boss : s => boss /: t)
INITIALISATION s := {} || t := {}
OPERATIONS
  put(p) = SELECT p : P & (p /= boss or boss /: t) THEN s := s \\/ {p} END;
  move(p) = SELECT p : s & p /= boss THEN t := t \\/ {p} || s := s - {p} END;
  empty = SELECT s = {boss} THEN s := {} || t := {} END
END";

/// Every relation between three elements. In a cycle through all of them they look alike, but no two can change places.
const GRAPH: &str = "MACHINE Graph
SETS P
VARIABLES r
INVARIANT r : P <-> P
INITIALISATION r := {}
OPERATIONS
  link(x, y) = SELECT x : P & y : P & x |-> y /: r THEN r := r \\/ {x |-> y} END;
  clear = r := {}
END";

const OTHER_RESULT: &str =
    "REFINEMENT M REFINES A VARIABLES y INVARIANT y : 0..3 & y = 3 - x INITIALISATION y := 3
OPERATIONS step = SELECT y > 0 THEN y := y - 1 END; r <-- get = r := y END
---
MACHINE A VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0
OPERATIONS step = SELECT x < 3 THEN x := x + 1 END; r <-- get = r := x END";

const OTHER_STATE: &str =
    "REFINEMENT M REFINES A VARIABLES y INVARIANT y : 0..3 & y = 3 - x INITIALISATION y := 3
OPERATIONS step = y := 0 END
---
MACHINE A VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0
OPERATIONS step = x := (x + 1) mod 4 END";

const EXPECTS_MORE: &str =
    "REFINEMENT M REFINES A VARIABLES y INVARIANT y : 0..3 & y = x INITIALISATION y := 0
OPERATIONS step = PRE y < 2 THEN y := y + 1 END; back = y := 0 END
---
MACHINE A VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0
OPERATIONS step = PRE x < 3 THEN x := x + 1 END; back = x := 0 END";
