//! `componentize MODULE.wasm COMPONENT.wasm`: makes a component of a core module that was built for
//! wasm32-unknown-unknown with Tidegate's sdk. `wasm-tools component new` does the same.

use std::{env, fs, process::ExitCode};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [module, component] = arguments.as_slice() else {
        eprintln!("usage: componentize MODULE.wasm COMPONENT.wasm");
        return ExitCode::from(2);
    };
    let made = fs::read(module)
        .map_err(|error| format!("{module}: {error}"))
        .and_then(|bytes| componentize::encode(&bytes).map_err(|message| format!("{module}: {message}")))
        .and_then(|bytes| fs::write(component, bytes).map_err(|error| format!("{component}: {error}")));
    match made {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
