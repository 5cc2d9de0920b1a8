//! Judges a component's imports and exports by name: which major of the interface, at least one hook, nothing that the
//! host does not give.

use model::plugin::{Fault, FaultCode};
use semver::Version;

use super::inspect::Inspected;
use crate::{fault::fault, imports::WASI_INTERFACES, v1};

const PACKAGE: &str = "tidegate:policy/";
const HOOKS: [&str; 4] = ["gate", "retry", "sequence", "verify"];
const IMPORTS: [&str; 3] = ["types", "log", "cel"];
const MISSING_HINT: &str = "export `tidegate:policy/plugin@1.0.0` and at least one of gate, retry, sequence, verify";

/// In the order that people are told: the major, then exports, then imports.
pub(crate) fn check(inspected: &Inspected) -> Result<(), Fault> {
    let ours = inspected.imports.iter().chain(&inspected.exports).filter(|name| name.starts_with(PACKAGE));
    for name in ours {
        major(name)?;
    }
    exports(&inspected.exports)?;
    imports(&inspected.imports)
}

fn major(name: &str) -> Result<(), Fault> {
    let unsupported = |why: String| {
        let message = format!("`{name}` {why}; this server speaks tidegate:policy@{}.x", v1::MAJOR);
        Err(fault(FaultCode::WorldVersionUnsupported, message))
    };
    let Some(version) = split(name).1 else {
        return unsupported("has no version".to_owned());
    };
    match Version::parse(version) {
        Err(_) => unsupported("has a version that is none".to_owned()),
        // Semver compatibility leaves pre-releases out: 1.2.0-rc1 is no 1.x.
        Ok(version) if !version.pre.is_empty() => unsupported("is a pre-release, which matches no release".to_owned()),
        Ok(version) if version.major == v1::MAJOR => Ok(()),
        Ok(version) => unsupported(format!("is of major {}", version.major)),
    }
}

fn exports(exports: &[String]) -> Result<(), Fault> {
    let exported = |interface: &str| {
        exports.iter().any(|name| split(name).0.strip_prefix(PACKAGE).is_some_and(|name| name == interface))
    };
    if !exported("plugin") {
        let message = format!("the component does not export `tidegate:policy/plugin`: {MISSING_HINT}");
        return Err(fault(FaultCode::MissingExport, message));
    }
    if !HOOKS.into_iter().any(exported) {
        let message = format!("the component exports no hook: {MISSING_HINT}");
        return Err(fault(FaultCode::MissingExport, message));
    }
    Ok(())
}

/// All that is unknown, each with what to do.
fn imports(imports: &[String]) -> Result<(), Fault> {
    let unknown: Vec<String> =
        imports.iter().filter_map(|name| hint(name).map(|hint| format!("`{name}` ({hint})"))).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let message = format!("the component imports what a policy is not given: {}", unknown.join(", "));
    Err(fault(FaultCode::UnknownImport, message))
}

/// Why an import is not given; `None` for one that is.
fn hint(name: &str) -> Option<&'static str> {
    let (interface, version) = split(name);
    if let Some(ours) = interface.strip_prefix(PACKAGE) {
        return (!IMPORTS.contains(&ours)).then_some("policies may import only log and cel");
    }
    if !interface.starts_with("wasi:") {
        return Some(match interface {
            "env" | "__wbindgen_placeholder__" | "wasi_snapshot_preview1" => {
                "a core module's import: build with a component toolchain"
            }
            _ => "not part of tidegate:policy",
        });
    }
    if interface.starts_with("wasi:http/") || interface.starts_with("wasi:sockets/") {
        return Some("a policy has no network");
    }
    let version = version.and_then(|version| Version::parse(version).ok());
    match version.map(|version| (version.major, version.minor)) {
        Some((0, 2)) if WASI_INTERFACES.contains(&interface) => None,
        Some((0, 2)) => Some("not among the WASI 0.2 interfaces that are linked"),
        Some((0, 3)) => Some("WASI 0.3 is not supported: build for wasip2"),
        Some(_) | None => Some("only WASI 0.2 is linked"),
    }
}

/// Interface and version of an import's or export's name.
fn split(name: &str) -> (&str, Option<&str>) {
    match name.split_once('@') {
        Some((interface, version)) => (interface, Some(version)),
        None => (name, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_names(imports: &[&str], exports: &[&str]) -> Result<(), (FaultCode, String)> {
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let inspected = Inspected { imports: own(imports), exports: own(exports), memory_bytes_min: 0 };
        check(&inspected).map_err(|fault| (fault.code, fault.message))
    }

    const EXPORTS: [&str; 2] = ["tidegate:policy/plugin@1.0.0", "tidegate:policy/gate@1.0.0"];

    #[test]
    fn what_a_policy_may_import() {
        let imports = ["tidegate:policy/types@1.0.0", "tidegate:policy/cel@1.3.0", "wasi:io/poll@0.2.9"];
        assert_eq!(check_names(&imports, &EXPORTS), Ok(()));
    }

    #[test]
    fn every_unknown_import_is_named_with_a_hint() {
        let imports = ["wasi:io/poll@0.2.4", "wasi:sockets/tcp@0.2.0", "wasi:cli/environment@0.3.0", "acme:kv/store"];
        let (code, message) = check_names(&imports, &EXPORTS).expect_err("three unknown");
        assert_eq!(code, FaultCode::UnknownImport);
        assert_eq!(
            message,
            "the component imports what a policy is not given: `wasi:sockets/tcp@0.2.0` (a policy has no network), \
             `wasi:cli/environment@0.3.0` (WASI 0.3 is not supported: build for wasip2), \
             `acme:kv/store` (not part of tidegate:policy)"
        );
    }

    #[test]
    fn another_major_and_pre_releases_are_explained() {
        for (name, why) in [
            ("tidegate:policy/gate@2.0.0", "is of major 2"),
            ("tidegate:policy/gate@1.2.0-rc1", "is a pre-release, which matches no release"),
            ("tidegate:policy/gate", "has no version"),
        ] {
            let (code, message) = check_names(&[], &["tidegate:policy/plugin@1.0.0", name]).expect_err("refused");
            assert_eq!(code, FaultCode::WorldVersionUnsupported);
            assert!(message.contains(why), "{message}");
        }
    }

    #[test]
    fn a_component_needs_a_hook() {
        let (code, message) = check_names(&[], &EXPORTS[..1]).expect_err("no hook");
        assert_eq!((code, message.contains("exports no hook")), (FaultCode::MissingExport, true));
        let (code, _) = check_names(&[], &[]).expect_err("nothing");
        assert_eq!(code, FaultCode::MissingExport);
    }
}
