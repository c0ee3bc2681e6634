//! The `oneshader` command.
#![forbid(unsafe_code)]
mod flags;
fn main() {
    print!("{}", flags::help());
}
