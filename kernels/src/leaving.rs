//! The end of the process.

/// Ends the process without a look back: nothing is freed, and what the C library would do at the end is left out.
/// PERF: an allocator that is asked to tidy up gives its pages back to the system one piece after the other, a tenth of the time of a
/// small run, and the system takes them all at once a moment later. Whatever is buffered has to be written before.
pub fn leave(status: u8) -> ! {
    #[cfg(all(unix, not(miri)))]
    // SAFETY: the call takes a number and does not return; no memory is touched by it.
    unsafe {
        libc::_exit(i32::from(status))
    }
    #[cfg(not(all(unix, not(miri))))]
    std::process::exit(i32::from(status))
}
