//! Wants the network.
use tidegate_policy::gate::{Decision, Request};

mod wants {
    wit_bindgen::generate!({
        inline: "
            package test:wants;
            world sockets {
                import wasi:sockets/instance-network@0.2.0;
                import acme:kv/store;
            }
            package wasi:sockets@0.2.0 {
                interface instance-network { instance-network: func() -> u32; }
            }
            package acme:kv {
                interface store { get: func() -> u32; }
            }
        ",
        world: "test:wants/sockets",
        generate_all,
    });
}

fn evaluate(_: &str, _: &Request) -> Result<Decision, String> {
    let sum = wants::wasi::sockets::instance_network::instance_network() + wants::acme::kv::store::get();
    Ok(Decision::allow(sum.to_string()))
}

guest_programs::gate!("imports_sockets", evaluate);
