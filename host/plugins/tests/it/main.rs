//! Attacks on the host with every hostile guest, and the policies that ship at work. One binary, since linking
//! wasmtime is most of the cost.

mod support;

mod cache;
mod forgotten;
mod isolation;
mod limits;
mod loading;
mod nonsense;
mod shipped;
mod wasi;
