//! The sliding puzzle as a `Model`: states are plain arrays of Rust, numbered behind the scenes.
//!
//! `cargo run --release --example sliding_puzzle` visits half of all arrangements of a board of three by
//! two, 6!/2 = 360, and shows the shortest way to the arrangement with the last row turned round, if any.

use bombus::api::{Explorer, Interned, Model, Verdict};

const WIDTH: usize = 3;
const CELLS: usize = 6;

struct Puzzle {
    /// The arrangement that is looked for.
    wanted: Option<[u8; CELLS]>,
}

impl Model for Puzzle {
    type State = [u8; CELLS];

    fn events(&self) -> Vec<String> {
        ["left", "right", "up", "down"].map(String::from).to_vec()
    }

    fn initial(&self, state: &mut dyn FnMut(Self::State)) {
        state([0, 1, 2, 3, 4, 5]);
    }

    fn successors(&self, board: &Self::State, step: &mut dyn FnMut(usize, Self::State)) {
        let hole = board.iter().position(|tile| *tile == 0).expect("there is a hole");
        let mut slide = |event, from: usize| {
            let mut next = *board;
            next.swap(hole, from);
            step(event, next);
        };
        if hole % WIDTH > 0 {
            slide(0, hole - 1);
        }
        if hole % WIDTH < WIDTH - 1 {
            slide(1, hole + 1);
        }
        if hole >= WIDTH {
            slide(2, hole - WIDTH);
        }
        if hole + WIDTH < CELLS {
            slide(3, hole + WIDTH);
        }
    }

    fn broken(&self, board: &Self::State) -> Option<String> {
        (Some(*board) == self.wanted).then(|| "the puzzle is solved".into())
    }
}

pub fn main() {
    let report =
        Explorer::new(Interned::new(Puzzle { wanted: None })).workers(2).run().expect("the engine works");
    println!("{} states, {} transitions", report.states(), report.transitions());
    assert_eq!((report.states(), report.transitions()), (360, 840));
    let wanted = Some([3, 4, 5, 1, 2, 0]);
    let report = Explorer::new(Interned::new(Puzzle { wanted })).run().expect("the engine works");
    match (report.verdict, report.violation) {
        (Verdict::Violated, Some(violation)) => {
            let moves: Vec<String> = violation.trace.into_iter().filter_map(|step| step.event).collect();
            println!("{} moves: {}", moves.len(), moves.join(" "));
        }
        _ => println!("no way leads there"),
    }
}
