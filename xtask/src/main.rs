//! Repository chores: `cargo xtask tidy` checks what the compiler cannot.
fn main() {
    println!("usage: cargo xtask tidy");
}
