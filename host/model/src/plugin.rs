//! A plugin: an uploaded Wasm component, what it says of itself, and how rules refer to it.

use std::{fmt, str::FromStr};

use semver::{Version as SemVer, VersionReq};

use crate::{
    Json,
    id::{PluginId, WorkspaceId},
    time::Timestamp,
};

/// SHA-256 of a component's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(pub [u8; 32]);

/// Text that is not a digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a digest (expected sha256: and 64 hexadecimal digits)")]
pub struct ParseDigestError(pub String);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = ParseDigestError;
    fn from_str(text: &str) -> Result<Self, ParseDigestError> {
        let error = || ParseDigestError(text.to_owned());
        let hex = text.strip_prefix("sha256:").filter(|hex| hex.len() == 64 && hex.is_ascii()).ok_or_else(error)?;
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| error())?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| error())?;
        }
        Ok(Self(bytes))
    }
}

/// What a policy can rule on; one component may rule on several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hooks {
    /// May this version go to this target now?
    pub gate: bool,
    /// Is there another attempt, and when?
    pub retry: bool,
    /// Which ready releases start, which wait?
    pub sequence: bool,
    /// Is what was deployed healthy?
    pub verify: bool,
}

/// What the host gathers before it asks; a fact not asked for arrives as absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FactKinds {
    /// Approvals of the candidate for the environment.
    pub approvals: bool,
    /// Jobs of the target, newest first.
    pub target_jobs: bool,
    /// Versions of the deployment, newest first.
    pub version_history: bool,
    /// How the candidate stands in environments that share a system.
    pub environment_progress: bool,
    /// What other deployments run on the resource.
    pub dependencies: bool,
    /// The target's place in the rollout of the candidate.
    pub rollout_position: bool,
}

/// How far one answer reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// One release target.
    Target,
    /// A deployment in an environment.
    Environment,
    /// A deployment.
    Deployment,
    /// The deployments of a system (sequences only).
    System,
    /// Everything (sequences only).
    Workspace,
}

impl Scope {
    /// Every scope, from narrow to wide.
    pub const ALL: [Self; 5] = [Self::Target, Self::Environment, Self::Deployment, Self::System, Self::Workspace];

    /// The name in the API and in the store.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Environment => "environment",
            Self::Deployment => "deployment",
            Self::System => "system",
            Self::Workspace => "workspace",
        }
    }

    /// The scope of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.name() == name)
    }
}

/// What a plugin says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    /// Its name, as its author wrote it.
    pub name: String,
    /// One sentence.
    pub summary: String,
    /// What it rules on.
    pub hooks: Hooks,
    /// How far one answer reaches unless the rule says otherwise.
    pub scope: Scope,
    /// What it decides from.
    pub facts: FactKinds,
    /// JSON Schema (2020-12) of a rule's configuration.
    pub config_schema: Json,
}

/// What is wrong with a rule's configuration, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// JSON Pointer (RFC 6901) into the configuration.
    pub path: String,
    /// What would be right.
    pub message: String,
}

/// One uploaded component under a name and version. Immutable.
#[derive(Debug, Clone, PartialEq)]
pub struct Plugin {
    /// Its id.
    pub id: PluginId,
    /// Where it can be used.
    pub workspace: WorkspaceId,
    /// The name rules use.
    pub name: String,
    /// Its version.
    pub version: SemVer,
    /// Which bytes.
    pub digest: Digest,
    /// What it said of itself when it was uploaded.
    pub manifest: Manifest,
    /// When it was uploaded.
    pub created_at: Timestamp,
}

/// How a rule names its plugin: the highest version in the range is asked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PluginRef {
    /// The plugin's name.
    pub name: String,
    /// Which versions will do.
    pub range: VersionReq,
}

impl PluginRef {
    /// The plugin that this refers to among those of a workspace: same name, highest version in range.
    /// Build metadata settles ties, then the later upload.
    #[must_use]
    pub fn resolve<'a>(&self, plugins: impl IntoIterator<Item = &'a Plugin>) -> Option<&'a Plugin> {
        plugins.into_iter().filter(|plugin| plugin.name == self.name && self.range.matches(&plugin.version)).max_by(
            |a, b| a.version.cmp_precedence(&b.version).then(a.created_at.cmp(&b.created_at)).then(a.id.cmp(&b.id)),
        )
    }
}

impl fmt::Display for PluginRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.name, self.range)
    }
}

/// Why a plugin could not be loaded or did not answer. One code each, the same in API, CLI, events and metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultCode {
    /// The bytes are no WebAssembly.
    NotWasm,
    /// A core module where a component is expected.
    CoreModuleNotComponent,
    /// Native code is never accepted from outside.
    PrecompiledRefused,
    /// Over the size limit.
    TooLarge,
    /// Malformed at an offset.
    InvalidWasm,
    /// Uses a proposal that is switched off.
    UnsupportedFeature,
    /// Imports what the host does not give.
    UnknownImport,
    /// Does not export `plugin` and at least one hook.
    MissingExport,
    /// An export has another type than the interface.
    TypeMismatch,
    /// Made for a major version of the interface that this server does not speak.
    WorldVersionUnsupported,
    /// Starts with more memory than it may have.
    MemoryMinExceedsLimit,
    /// Compiling took too long.
    CompileTimeout,
    /// Trapped while starting.
    InitTrap,
    /// Took too long to start.
    InitTimeout,
    /// `describe` gave a schema that is none.
    SettingsSchema,
    /// The rule's configuration was rejected.
    SettingsRejected,
    /// A question took too long.
    EvalTimeout,
    /// A question used up its fuel.
    EvalFuel,
    /// A question needed more memory than it may have.
    EvalMemory,
    /// A question overflowed the stack.
    EvalStack,
    /// A question trapped.
    EvalTrap,
    /// An answer over the size limit.
    OutputTooLarge,
    /// An answer that breaks the interface's rules.
    InvalidOutput,
    /// The policy itself returned an error.
    PolicyError,
    /// The rule names a plugin or version that is not there.
    PluginMissing,
    /// The policy's selector failed to evaluate.
    SelectorError,
    /// Too many questions at once.
    Overloaded,
}

impl FaultCode {
    /// Every code.
    pub const ALL: [Self; 27] = [
        Self::NotWasm,
        Self::CoreModuleNotComponent,
        Self::PrecompiledRefused,
        Self::TooLarge,
        Self::InvalidWasm,
        Self::UnsupportedFeature,
        Self::UnknownImport,
        Self::MissingExport,
        Self::TypeMismatch,
        Self::WorldVersionUnsupported,
        Self::MemoryMinExceedsLimit,
        Self::CompileTimeout,
        Self::InitTrap,
        Self::InitTimeout,
        Self::SettingsSchema,
        Self::SettingsRejected,
        Self::EvalTimeout,
        Self::EvalFuel,
        Self::EvalMemory,
        Self::EvalStack,
        Self::EvalTrap,
        Self::OutputTooLarge,
        Self::InvalidOutput,
        Self::PolicyError,
        Self::PluginMissing,
        Self::SelectorError,
        Self::Overloaded,
    ];

    /// The stable code, such as `eval_timeout`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotWasm => "not_wasm",
            Self::CoreModuleNotComponent => "core_module_not_component",
            Self::PrecompiledRefused => "precompiled_refused",
            Self::TooLarge => "too_large",
            Self::InvalidWasm => "invalid_wasm",
            Self::UnsupportedFeature => "unsupported_feature",
            Self::UnknownImport => "unknown_import",
            Self::MissingExport => "missing_export",
            Self::TypeMismatch => "type_mismatch",
            Self::WorldVersionUnsupported => "world_version_unsupported",
            Self::MemoryMinExceedsLimit => "memory_min_exceeds_limit",
            Self::CompileTimeout => "compile_timeout",
            Self::InitTrap => "init_trap",
            Self::InitTimeout => "init_timeout",
            Self::SettingsSchema => "settings_schema",
            Self::SettingsRejected => "settings_rejected",
            Self::EvalTimeout => "eval_timeout",
            Self::EvalFuel => "eval_fuel",
            Self::EvalMemory => "eval_memory",
            Self::EvalStack => "eval_stack",
            Self::EvalTrap => "eval_trap",
            Self::OutputTooLarge => "output_too_large",
            Self::InvalidOutput => "invalid_output",
            Self::PolicyError => "policy_error",
            Self::PluginMissing => "plugin_missing",
            Self::SelectorError => "selector_error",
            Self::Overloaded => "overloaded",
        }
    }

    /// The code of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.name() == name)
    }
}

/// A plugin that did not answer: which kind of failure, and what was seen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", code.name())]
pub struct Fault {
    /// Which kind.
    pub code: FaultCode,
    /// What was seen, with limit and measure, and what to do.
    pub message: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Uuid;

    fn plugin(version: &str, day: i64) -> Plugin {
        Plugin {
            id: PluginId(Uuid::from_u128(u128::try_from(day).expect("positive"))),
            workspace: WorkspaceId(Uuid::nil()),
            name: "approval".into(),
            version: version.parse().expect("a version"),
            digest: Digest([0; 32]),
            manifest: Manifest {
                name: "approval".into(),
                summary: String::new(),
                hooks: Hooks::default(),
                scope: Scope::Target,
                facts: FactKinds::default(),
                config_schema: Json::Null,
            },
            created_at: Timestamp::from_millis(day),
        }
    }

    #[test]
    fn the_highest_version_in_range_is_asked() {
        let plugins = [plugin("1.2.0", 1), plugin("1.10.0", 2), plugin("2.0.0", 3), plugin("1.10.0+b", 4)];
        let find = |range: &str| {
            PluginRef { name: "approval".into(), range: range.parse().expect("a range") }
                .resolve(&plugins)
                .map(|plugin| plugin.version.to_string())
        };
        assert_eq!(find("^1"), Some("1.10.0+b".into()));
        assert_eq!(find("=1.2.0"), Some("1.2.0".into()));
        assert_eq!(find("^3"), None);
    }

    #[test]
    fn names_round_trip() {
        for code in FaultCode::ALL {
            assert_eq!(FaultCode::parse(code.name()), Some(code));
        }
        for scope in Scope::ALL {
            assert_eq!(Scope::parse(scope.name()), Some(scope));
        }
        let digest = Digest(*b"0123456789abcdef0123456789abcdef");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        assert!("sha256:12".parse::<Digest>().is_err());
    }
}
