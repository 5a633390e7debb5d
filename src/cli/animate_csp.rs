//! `bombus animate` for CSP scripts: the same commands for the events of a process.

use super::animate::{Animate, Lines};
use super::run::{complain, rejected, say};
use super::status;
use crate::base::random::Random;
use crate::driver::{Failure, ProcessAnimation};
use std::io::IsTerminal;

/// Choices shown before `all` is asked for.
const SHOWN: usize = 40;

pub fn animate(args: &Animate) -> u8 {
    let mut animation = match ProcessAnimation::new(&args.model, args.main.as_deref()) {
        Ok(animation) => animation,
        Err(Failure::Rejected(r)) => return rejected(&r),
        Err(Failure::Internal(message)) => {
            complain(&format!("internal error: {message}"));
            return status::INTERNAL;
        }
    };
    let asks = std::io::stdin().is_terminal();
    let mut failed = false;
    let mut dice = Random(args.seed);
    say(&choices(&animation, SHOWN));
    let mut lines = Lines::new(asks);
    while let Some(line) = lines.next() {
        match command(&mut animation, &mut dice, line.trim()) {
            Ok(None) => break,
            Ok(Some(words)) if words.is_empty() => {}
            Ok(Some(words)) => say(&words),
            Err(words) => {
                failed = true;
                complain(&format!("error: {words}"));
            }
        }
    }
    if failed && !asks { 1 } else { status::OK }
}

/// What a command says, nothing to end, or why it cannot be done.
fn command(
    animation: &mut ProcessAnimation,
    dice: &mut Random,
    line: &str,
) -> Result<Option<String>, String> {
    if line.is_empty() || line.starts_with('#') {
        return Ok(Some(String::new()));
    }
    let (word, rest) = line.split_once(char::is_whitespace).map_or((line, ""), |(w, r)| (w, r.trim()));
    let done = match word {
        "quit" | "q" | "exit" => return Ok(None),
        "list" | "l" => true,
        "all" => return Ok(Some(choices(animation, usize::MAX))),
        "undo" | "u" => animation.undo(),
        "redo" | "r" => animation.redo(),
        "goto" | "g" => animation.go_to(rest.parse().map_err(|_| "goto wants a number of steps")?),
        "random" => random(animation, dice, rest)?,
        "state" | "s" => {
            let lines: Vec<String> =
                animation.state().iter().map(|(name, value)| format!("  {name} = {value}")).collect();
            return Ok(Some(lines.join("\n")));
        }
        "history" | "h" => {
            let steps = animation.history();
            let lines: Vec<String> =
                steps.iter().enumerate().map(|(i, event)| format!("{:4}  {event}", i + 1)).collect();
            return Ok(Some(lines.join("\n")));
        }
        "help" | "?" => return Ok(Some(HELP.to_string())),
        _ => match line.parse::<usize>() {
            Ok(n) => n > 0 && animation.choose(n - 1),
            Err(_) => animation.choose_named(line).map(|()| true)?,
        },
    };
    if done { Ok(Some(choices(animation, SHOWN))) } else { Err(format!("{line}: there is no such step")) }
}

const HELP: &str = "NUMBER or EVENT  do that step    list, l  what can be done    all  without a limit\n\
                    undo, u  the last step           redo, r  what was undone     goto, g N  after N steps\n\
                    random N  N steps                state, s  the components     history, h  the path so far    quit, q";

/// Makes some steps by the toss of a coin; ends where nothing can be done.
fn random(animation: &mut ProcessAnimation, dice: &mut Random, rest: &str) -> Result<bool, String> {
    let steps: usize =
        if rest.is_empty() { 1 } else { rest.parse().map_err(|_| "random wants a number of steps")? };
    for _ in 0..steps {
        let possible = animation.choices()?.len();
        if possible == 0 {
            break;
        }
        animation.choose(dice.below(possible as u64) as usize);
    }
    Ok(true)
}

fn choices(animation: &ProcessAnimation, most: usize) -> String {
    let events = match animation.choices() {
        Ok(events) => events,
        Err(fault) => return format!("this state has a fault: {fault}"),
    };
    if events.is_empty() {
        return if animation.has_ended() { "the process has ended" } else { "deadlock: nothing can be done" }
            .to_string();
    }
    let mut lines: Vec<String> =
        events.iter().take(most).enumerate().map(|(i, event)| format!("{:4}  {event}", i + 1)).collect();
    if events.len() > most {
        lines.push(format!("      … and {} more (all)", events.len() - most));
    }
    lines.join("\n")
}
