//! The command-line program.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    use bombus::cli::args::{Cli, Command};
    let cli = <Cli as clap::Parser>::parse();
    std::process::ExitCode::from(match cli.command {
        Command::Batch(b) => bombus::cli::batch::run(&b),
        Command::Scale(s) => bombus::cli::scale::run(&s),
        _ => bombus::cli::status::INTERNAL,
    })
}
