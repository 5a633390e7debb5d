//! Machine code made while running: routines over a frame of 65,536 words.
//!
//! In: steps given to a `Builder`. Out: a `Routine`, or nothing where the processor or the system does not allow it;
//! whoever asks for one needs another way to do the work. Never here: what the words of a frame mean.
//!
//! Why a safe function may run bytes that were written a moment ago: a routine touches three things. The frame,
//! by addresses that the builder makes of a 16-bit index and nothing else, so every one lies in the 65,536 words
//! that `run` borrows. Its stack, by calls and returns that the builder pairs, to a depth that is counted.
//! And the host, by one call with the convention of the system. It jumps to labels of the same routine only: those
//! a builder knows, each bound to the beginning of a step, or `finish` gives no routine. So no sequence of
//! the builder's methods makes code that leaves these bounds, whatever it computes.

// Elsewhere only what its own tests look at is used.
#[cfg(any(test, target_arch = "aarch64"))]
#[cfg_attr(not(target_arch = "aarch64"), allow(dead_code))]
mod aarch64;
mod steps;
#[cfg(test)]
mod tests;
#[cfg(not(target_arch = "aarch64"))]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub use aarch64::Builder;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
pub use steps::{Condition, Label, Temp, Word};
#[cfg(not(target_arch = "aarch64"))]
pub use x86_64::Builder;

/// Words of a frame: as many as a 16-bit number can name.
pub const FRAME: usize = 1 << 16;
pub type Frame = [u64; FRAME];

/// What a host answers when the routine shall go on behind the request.
pub const GO: u32 = 0;
/// What a host answers when the routine shall go on at the label of the request. Any other answer ends it.
pub const JUMP: u32 = 1;
/// The request that is made once in a while, whatever the routine does.
pub const TICK: u32 = u32::MAX;

/// Steps that are counted between two ticks.
const PATIENCE: u32 = 1 << 16;
/// Calls inside each other; each takes 16 bytes of the stack.
const DEPTH: u32 = 2048;
/// Routines that may exist at a time: each is a mapping of its own, of which systems allow some 65,000.
const MOST: usize = 512;

/// Whoever runs a routine and does what it cannot do itself.
pub trait Host {
    fn serve(&mut self, frame: &mut Frame, request: u32) -> u32;
}

/// What machine code knows of the run: its address is in a register. The first two fields have fixed places.
#[repr(C)]
struct Context<'h, H> {
    /// At 0: counted down to the next tick.
    patience: u32,
    /// At 8: where requests go.
    serve: unsafe extern "C" fn(*mut Context<'h, H>, u32) -> u32,
    frame: *mut Frame,
    host: &'h mut H,
    panic: Option<Box<dyn Any + Send>>,
}

/// Answers a request of machine code. A panic must not unwind through code that has no tables for it: it is
/// kept until the routine has ended.
///
/// # Safety
/// `context` is the one that `run` made, and machine code is between two steps.
unsafe extern "C" fn serve<H: Host>(context: *mut Context<'_, H>, request: u32) -> u32 {
    // SAFETY: `run` keeps the context alive and does not touch it while the routine runs.
    let context = unsafe { &mut *context };
    if request == TICK {
        context.patience = PATIENCE;
    }
    // SAFETY: the frame is borrowed by `run` for the time of the routine, which does not touch it meanwhile.
    let frame = unsafe { &mut *context.frame };
    let host = &mut *context.host;
    match catch_unwind(AssertUnwindSafe(|| host.serve(frame, request))) {
        Ok(answer) => answer,
        Err(payload) => {
            context.panic = Some(payload);
            u32::MAX
        }
    }
}

/// Machine code that can be run.
#[derive(Debug)]
pub struct Routine {
    pages: Pages,
    /// Where the labels are, in bytes.
    places: Vec<u32>,
}

impl Routine {
    /// A routine of these instructions, if the system allows to run them.
    fn new(instructions: &[u8], places: Vec<u32>) -> Option<Routine> {
        Some(Routine { pages: Pages::new(instructions)?, places })
    }

    /// Runs from `entry` until a step or the host ends it; says with which number.
    pub fn run<H: Host>(&self, entry: Label, frame: &mut Frame, host: &mut H) -> u32 {
        let at = self.places[entry.0 as usize] as usize;
        let mut context =
            Context { patience: PATIENCE, serve: serve::<H>, frame: &raw mut *frame, host, panic: None };
        type Start<'h, H> = unsafe extern "C" fn(*mut Context<'h, H>, *mut Frame, *const u8) -> u32;
        // SAFETY: the pages begin with the code that `Builder::finish` puts there, which has this signature and
        // keeps the registers of its caller; `at` is inside, at the beginning of a step. See the head of this file.
        let answer = unsafe {
            let start: Start<'_, H> = std::mem::transmute(self.pages.at);
            start(&raw mut context, context.frame, self.pages.at.add(at))
        };
        if let Some(payload) = context.panic {
            resume_unwind(payload);
        }
        answer
    }

    pub fn bytes(&self) -> usize {
        self.pages.len
    }
}

/// Memory that holds code: written once, then only read and run.
#[derive(Debug)]
struct Pages {
    at: *const u8,
    len: usize,
}

// SAFETY: the pages do not change after they were made.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

static LIVE: AtomicUsize = AtomicUsize::new(0);

impl Pages {
    #[cfg(any(all(target_arch = "x86_64", unix), all(target_arch = "aarch64", target_os = "linux")))]
    fn new(bytes: &[u8]) -> Option<Pages> {
        if LIVE.fetch_add(1, Ordering::Relaxed) >= MOST {
            LIVE.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        let len = bytes.len().max(1);
        // SAFETY: a new mapping, which nobody else knows. It is written before it may be run, and never after.
        let at = unsafe {
            let (rw, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            let at = libc::mmap(std::ptr::null_mut(), len, rw, kind, -1, 0);
            if at == libc::MAP_FAILED {
                LIVE.fetch_sub(1, Ordering::Relaxed);
                return None;
            }
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), at.cast::<u8>(), bytes.len());
            #[cfg(target_arch = "aarch64")]
            aarch64::show_to_fetch(at.cast::<u8>().cast_const(), len);
            if libc::mprotect(at, len, libc::PROT_READ | libc::PROT_EXEC) != 0 {
                libc::munmap(at, len);
                LIVE.fetch_sub(1, Ordering::Relaxed);
                return None;
            }
            at
        };
        Some(Pages { at: at.cast::<u8>().cast_const(), len })
    }

    #[cfg(not(any(all(target_arch = "x86_64", unix), all(target_arch = "aarch64", target_os = "linux"))))]
    fn new(_: &[u8]) -> Option<Pages> {
        None
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        #[cfg(any(all(target_arch = "x86_64", unix), all(target_arch = "aarch64", target_os = "linux")))]
        // SAFETY: the mapping that `new` made; no routine runs in it, for `run` borrows its owner.
        unsafe {
            libc::munmap(self.at.cast_mut().cast(), self.len);
        }
        LIVE.fetch_sub(1, Ordering::Relaxed);
    }
}
