//! Dispatch over a real store, on a clock that the test moves.

mod agents;
mod bench;
mod expiry;
mod interleavings;
mod life;
mod poll;
mod reference;
mod table;
#[path = "../../../store/suite/world.rs"]
#[expect(dead_code, reason = "the store's tests use the rest of it")]
mod world;
