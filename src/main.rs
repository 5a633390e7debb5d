//! The command-line program; everything is in the library.

use std::io::Write;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let status = bombus::cli::run::main();
    // What cannot be written any more has no reader.
    let _ = std::io::stdout().flush();
    bombus_kernels::leaving::leave(status)
}
