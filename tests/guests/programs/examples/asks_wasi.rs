//! Asks WASI for time, random numbers, the environment and sleep; or takes handles for ever.
use tidegate_policy::gate::{Decision, Request};

mod wasi {
    wit_bindgen::generate!({
        inline: "
            package test:asks;
            world wasi {
                import wasi:clocks/wall-clock@0.2.0;
                import wasi:clocks/monotonic-clock@0.2.0;
                import wasi:random/random@0.2.0;
                import wasi:random/insecure-seed@0.2.0;
                import wasi:cli/environment@0.2.0;
                import wasi:cli/stdout@0.2.0;
                import wasi:cli/exit@0.2.0;
            }
            package wasi:io@0.2.0 {
                interface poll { resource pollable { block: func(); } }
                interface error { resource error; }
                interface streams {
                    use error.{error};
                    resource output-stream {
                        blocking-write-and-flush: func(contents: list<u8>) -> result<_, stream-error>;
                    }
                    variant stream-error { last-operation-failed(error), closed }
                }
            }
            package wasi:clocks@0.2.0 {
                interface wall-clock {
                    record datetime { seconds: u64, nanoseconds: u32 }
                    now: func() -> datetime;
                }
                interface monotonic-clock {
                    use wasi:io/poll@0.2.0.{pollable};
                    now: func() -> u64;
                    subscribe-duration: func(when: u64) -> pollable;
                }
            }
            package wasi:random@0.2.0 {
                interface random { get-random-bytes: func(len: u64) -> list<u8>; get-random-u64: func() -> u64; }
                interface insecure-seed { insecure-seed: func() -> tuple<u64, u64>; }
            }
            package wasi:cli@0.2.0 {
                interface environment {
                    get-environment: func() -> list<tuple<string, string>>;
                    get-arguments: func() -> list<string>;
                }
                interface stdout { use wasi:io/streams@0.2.0.{output-stream}; get-stdout: func() -> output-stream; }
                interface exit { exit: func(status: result); }
            }
        ",
        world: "test:asks/wasi",
        generate_all,
    });
}

use wasi::wasi::{cli, clocks, random};

fn evaluate(what: &str, _: &Request) -> Result<Decision, String> {
    match what {
        "handles" => loop {
            std::mem::forget(cli::stdout::get_stdout());
        },
        "many_bytes" => Ok(Decision::allow(random::random::get_random_bytes(1 << 40).len().to_string())),
        "exit" => {
            cli::exit::exit(Err(()));
            Ok(Decision::allow("is still here"))
        }
        "print" => {
            let line = [b'x'; 4000];
            for _ in 0..1000 {
                cli::stdout::get_stdout().blocking_write_and_flush(&line).map_err(|_| "stdout failed")?;
            }
            Ok(Decision::allow("printed"))
        }
        _ => {
            clocks::monotonic_clock::subscribe_duration(3_600_000_000_000).block();
            let wall = clocks::wall_clock::now();
            Ok(Decision::allow(format!(
                "wall {}.{:03} mono {} random {:016x} {:02x?} seed {:016x} env {} args {}",
                wall.seconds,
                wall.nanoseconds / 1_000_000,
                clocks::monotonic_clock::now(),
                random::random::get_random_u64(),
                random::random::get_random_bytes(3),
                random::insecure_seed::insecure_seed().0,
                cli::environment::get_environment().len(),
                cli::environment::get_arguments().len(),
            )))
        }
    }
}

guest_programs::gate!("asks_wasi", evaluate);
