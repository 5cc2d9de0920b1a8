//! What is refused at upload, each with its code and what to do about it.

use std::time::Duration;

use model::plugin::{Fault, FaultCode};
use plugins::{Host, Limits};

use crate::support::{host_with, load, load_bytes, patient, refused};

fn check(fault: &Fault, code: FaultCode, parts: &[&str]) {
    assert_eq!(fault.code, code, "{fault}");
    for part in parts {
        assert!(fault.message.contains(part), "`{}` lacks `{part}`", fault.message);
    }
}

async fn refused_bytes(host: &Host, bytes: &[u8]) -> Fault {
    load_bytes(host, bytes).await.expect_err("it must not load")
}

#[tokio::test]
async fn files_that_are_no_component() {
    let host = host_with(Limits { component_bytes: 500_000, ..patient() });
    check(&refused_bytes(&host, b"").await, FaultCode::NotWasm, &["00 61 73 6d"]);
    check(&refused_bytes(&host, b"#!/bin/sh").await, FaultCode::NotWasm, &[]);
    check(&refused_bytes(&host, b"\x7fELF\x02\x01\x01").await, FaultCode::PrecompiledRefused, &["native code"]);
    check(&refused_bytes(&host, &[0; 500_001]).await, FaultCode::TooLarge, &["500001 bytes; it may have 500000"]);
    let module = wat::parse_str("(module)").expect("valid");
    let parts = ["wasm-tools component new", "wasm32-wasip2"];
    check(&refused_bytes(&host, &module).await, FaultCode::CoreModuleNotComponent, &parts);
}

#[tokio::test]
async fn components_that_are_broken() {
    let host = host_with(patient());
    let whole = guests::guest("traps");
    for end in [9, 100, whole.len() / 2, whole.len() - 1] {
        let fault = refused_bytes(&host, &whole[..end]).await;
        check(&fault, FaultCode::InvalidWasm, &["offset 0x"]);
    }
    let mut garbled = whole.to_vec();
    garbled[8] = 0xEE;
    check(&refused_bytes(&host, &garbled).await, FaultCode::InvalidWasm, &["offset 0x"]);
}

#[tokio::test]
async fn components_that_are_no_policy() {
    let host = host_with(patient());
    let component = |text: &str| wat::parse_str(text).expect("valid");
    check(
        &refused_bytes(&host, &component("(component)")).await,
        FaultCode::MissingExport,
        &["tidegate:policy/plugin"],
    );
    let other = r#"(component (instance $i) (export "tidegate:policy/plugin@2.0.0" (instance $i)))"#;
    check(&refused_bytes(&host, &component(other)).await, FaultCode::WorldVersionUnsupported, &["is of major 2"]);
    let empty = r#"(component (instance $i) (export "tidegate:policy/plugin@1.0.0" (instance $i))
                   (export "tidegate:policy/gate@1.0.0" (instance $i)))"#;
    check(
        &refused_bytes(&host, &component(empty)).await,
        FaultCode::TypeMismatch,
        &["does not have export `describe`"],
    );
    let threads = r#"(component (core module (memory 1 1 shared)))"#;
    check(&refused_bytes(&host, &component(threads)).await, FaultCode::UnsupportedFeature, &["threads"]);
}

#[tokio::test]
async fn an_export_of_another_type_says_which() {
    let host = host_with(patient());
    let wrong = r#"(component
        (core module $m (func (export "f") (result i32) i32.const 0))
        (core instance $c (instantiate $m))
        (func $f (result u32) (canon lift (core func $c "f")))
        (instance $plugin (export "describe" (func $f)) (export "validate" (func $f)))
        (export "tidegate:policy/plugin@1.0.0" (instance $plugin))
        (instance $gate (export "evaluate" (func $f)))
        (export "tidegate:policy/gate@1.0.0" (instance $gate)))"#;
    let fault = refused_bytes(&host, &wat::parse_str(wrong).expect("valid")).await;
    check(&fault, FaultCode::TypeMismatch, &["tidegate:policy/plugin@1.0.0", "expected `record` found `u32`"]);
}

#[tokio::test]
async fn every_unknown_import_is_listed() {
    let parts = ["`wasi:sockets/instance-network@0.2.0` (a policy has no network)", "`acme:kv/store`"];
    check(&refused(&host_with(patient()), "imports_sockets").await, FaultCode::UnknownImport, &parts);
}

#[tokio::test]
async fn memory_to_start_with_has_a_limit() {
    let parts = ["may have 64 MiB", "smaller initial memory"];
    check(&refused(&host_with(patient()), "starts_large").await, FaultCode::MemoryMinExceedsLimit, &parts);
}

#[tokio::test]
async fn starting_and_describing_have_budgets_of_their_own() {
    let host = host_with(Limits { start: Duration::from_millis(500), ..patient() });
    check(&refused(&host, "loops_in_start").await, FaultCode::InitTimeout, &["while starting"]);
    check(&refused(&host, "loops_in_describe").await, FaultCode::InitTimeout, &["while describing itself"]);
    check(&refused(&host, "traps_in_start").await, FaultCode::InitTrap, &["trapped", "while starting"]);
}

#[tokio::test]
async fn what_a_component_says_of_itself_is_checked() {
    let host = host_with(patient());
    check(&refused(&host, "lies_in_describe").await, FaultCode::MissingExport, &["names the hook `retry`"]);
    check(&refused(&host, "schema_is_none").await, FaultCode::SettingsSchema, &["is no JSON"]);
}

#[tokio::test]
async fn the_digest_must_be_that_of_the_bytes() {
    let host = host_with(patient());
    let fault = host.load(plugins::digest_of(b"other"), guests::guest("traps")).await.expect_err("another digest");
    check(&fault, FaultCode::InvalidWasm, &["sha256:"]);
}

#[tokio::test]
async fn a_failed_load_leaves_nothing_and_the_next_one_is_free_to_try() {
    let host = host_with(patient());
    let digest = plugins::digest_of(guests::guest("traps_in_start"));
    for _ in 0..2 {
        refused(&host, "traps_in_start").await;
        assert!(!host.is_loaded(digest));
    }
}

#[tokio::test]
async fn many_who_load_at_once_all_get_it() {
    let host = host_with(patient());
    let loads: Vec<_> = (0..8)
        .map(|_| {
            let host = host.clone();
            tokio::spawn(async move { load(&host, "traps").await })
        })
        .collect();
    for load in loads {
        assert!(host.is_loaded(load.await.expect("no panic")));
    }
}
