//! Tells cargo that the migrations are part of the crate: they are read when it is compiled.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
