//! The stable codes of every problem, with the status and title that go with each. A code is never renamed and never
//! decided elsewhere. `docs/reference/errors.md` has a heading for each.

use axum::http::StatusCode;
use model::plugin::FaultCode;

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $status:ident, $title:literal;)+) => {
        /// What kind of problem it is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code {
            $($(#[$doc])* $variant,)+
            /// A plugin that could not be loaded, under the code it has everywhere.
            Fault(FaultCode),
        }

        impl Code {
            const OWN: &'static [Self] = &[$(Self::$variant),+];

            /// The stable name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                    Self::Fault(fault) => fault.name(),
                }
            }

            /// The status it is answered with.
            #[must_use]
            pub const fn status(self) -> StatusCode {
                match self {
                    $(Self::$variant => StatusCode::$status,)+
                    Self::Fault(fault) => fault_status(fault),
                }
            }

            /// One line that is the same for every problem of this code.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self {
                    $(Self::$variant => $title,)+
                    Self::Fault(fault) => fault_title(fault),
                }
            }
        }
    };
}

codes! {
    /// The body cannot be read as JSON.
    MalformedJson = "malformed_json", BAD_REQUEST, "The body is not valid JSON";
    /// The connection broke off within the body.
    BodyIncomplete = "body_incomplete", BAD_REQUEST, "The body ended early";
    /// A query parameter is unknown or out of range.
    InvalidQuery = "invalid_query", BAD_REQUEST, "A query parameter is not valid";
    /// A part of the path is not what stands there in the route.
    InvalidPath = "invalid_path", BAD_REQUEST, "A part of the path is not valid";
    /// A header is not what it must be.
    InvalidHeader = "invalid_header", BAD_REQUEST, "A header is not valid";
    /// No key came with the request.
    CredentialsMissing = "credentials_missing", UNAUTHORIZED, "An API key is needed";
    /// The key is unknown or has ended.
    CredentialsInvalid = "credentials_invalid", UNAUTHORIZED, "The API key is not valid";
    /// The key's role does not cover this.
    RoleMissing = "role_missing", FORBIDDEN, "The key's role does not allow this";
    /// The role would do, but not for this thing.
    Forbidden = "forbidden", FORBIDDEN, "The key may not do this here";
    /// No such thing in the caller's workspace.
    NotFound = "not_found", NOT_FOUND, "There is no such thing";
    /// No route has this path.
    RouteUnknown = "route_unknown", NOT_FOUND, "There is no such address";
    /// The path exists, with other methods.
    MethodNotAllowed = "method_not_allowed", METHOD_NOT_ALLOWED, "The address does not take this method";
    /// What is there contradicts what was sent.
    Conflict = "conflict", CONFLICT, "The present state does not allow this";
    /// The lease token is no longer in force.
    StaleLease = "stale_lease", CONFLICT, "The lease has passed to somebody else";
    /// A job's status cannot become that one.
    IllegalTransition = "illegal_transition", CONFLICT, "The job's status does not allow this";
    /// Another result was reported under the same token.
    ResultConflict = "result_conflict", CONFLICT, "Another result stands under this token";
    /// The same request is still being carried out.
    IdempotencyRunning = "idempotency_running", CONFLICT, "The same request is still running";
    /// Over the route's size limit.
    BodyTooLarge = "body_too_large", PAYLOAD_TOO_LARGE, "The body is too large";
    /// Nested too deep.
    BodyTooDeep = "body_too_deep", PAYLOAD_TOO_LARGE, "The body is nested too deep";
    /// Not the content type that the route takes.
    UnsupportedMediaType = "unsupported_media_type", UNSUPPORTED_MEDIA_TYPE, "The content type is not supported";
    /// Well-formed, but what it says cannot be.
    InvalidContent = "invalid_content", UNPROCESSABLE_ENTITY, "The content is not valid";
    /// The key was used with another request.
    IdempotencyKeyReused = "idempotency_key_reused", UNPROCESSABLE_ENTITY, "The idempotency key was used for another request";
    /// A report without its lease token.
    LeaseTokenRequired = "lease_token_required", PRECONDITION_REQUIRED, "A lease token is needed";
    /// Ours, never the client's.
    Internal = "internal", INTERNAL_SERVER_ERROR, "The server failed";
    /// The database does not answer.
    StoreUnavailable = "store_unavailable", SERVICE_UNAVAILABLE, "The database is not available";
    /// Started, but not to be used yet, or about to stop.
    NotReady = "not_ready", SERVICE_UNAVAILABLE, "The server is not ready";
}

impl Code {
    /// Every code.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::OWN.iter().copied().chain(FaultCode::ALL.into_iter().map(Self::Fault))
    }

    /// Where it is explained.
    #[must_use]
    pub fn doc(self) -> String {
        format!("/docs/reference/errors#{}", self.name())
    }
}

const fn fault_status(fault: FaultCode) -> StatusCode {
    match fault {
        FaultCode::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        FaultCode::Overloaded => StatusCode::SERVICE_UNAVAILABLE,
        FaultCode::NotWasm
        | FaultCode::CoreModuleNotComponent
        | FaultCode::PrecompiledRefused
        | FaultCode::InvalidWasm
        | FaultCode::UnsupportedFeature
        | FaultCode::UnknownImport
        | FaultCode::MissingExport
        | FaultCode::TypeMismatch
        | FaultCode::WorldVersionUnsupported
        | FaultCode::MemoryMinExceedsLimit
        | FaultCode::CompileTimeout
        | FaultCode::InitTrap
        | FaultCode::InitTimeout
        | FaultCode::SettingsSchema
        | FaultCode::SettingsRejected
        | FaultCode::EvalTimeout
        | FaultCode::EvalFuel
        | FaultCode::EvalMemory
        | FaultCode::EvalStack
        | FaultCode::EvalTrap
        | FaultCode::OutputTooLarge
        | FaultCode::InvalidOutput
        | FaultCode::PolicyError
        | FaultCode::PluginMissing
        | FaultCode::SelectorError => StatusCode::UNPROCESSABLE_ENTITY,
    }
}

const fn fault_title(fault: FaultCode) -> &'static str {
    match fault {
        FaultCode::NotWasm => "The bytes are no WebAssembly",
        FaultCode::CoreModuleNotComponent => "A core module where a component is expected",
        FaultCode::PrecompiledRefused => "Native code is never accepted",
        FaultCode::TooLarge => "The component is too large",
        FaultCode::InvalidWasm => "The component is malformed",
        FaultCode::UnsupportedFeature => "The component uses a feature that is switched off",
        FaultCode::UnknownImport => "The component imports what the host does not give",
        FaultCode::MissingExport => "The component lacks an export",
        FaultCode::TypeMismatch => "An export has another type than the interface",
        FaultCode::WorldVersionUnsupported => "The interface version is not supported",
        FaultCode::MemoryMinExceedsLimit => "The component starts with too much memory",
        FaultCode::CompileTimeout => "Compiling took too long",
        FaultCode::InitTrap => "The plugin trapped while starting",
        FaultCode::InitTimeout => "The plugin took too long to start",
        FaultCode::SettingsSchema => "The plugin's schema is not a JSON Schema",
        FaultCode::SettingsRejected => "The rule's configuration was rejected",
        FaultCode::EvalTimeout => "The plugin took too long",
        FaultCode::EvalFuel => "The plugin used up its fuel",
        FaultCode::EvalMemory => "The plugin needed too much memory",
        FaultCode::EvalStack => "The plugin overflowed its stack",
        FaultCode::EvalTrap => "The plugin trapped",
        FaultCode::OutputTooLarge => "The plugin's answer is too large",
        FaultCode::InvalidOutput => "The plugin's answer breaks the interface's rules",
        FaultCode::PolicyError => "The plugin returned an error",
        FaultCode::PluginMissing => "The plugin is not there",
        FaultCode::SelectorError => "The selector failed to evaluate",
        FaultCode::Overloaded => "Too many questions to plugins at once",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_statuses_are_errors() {
        let mut names = BTreeSet::new();
        for code in Code::all() {
            assert!(names.insert(code.name()), "{} twice", code.name());
            assert!(code.status().is_client_error() || code.status().is_server_error());
            assert!(!code.title().ends_with('.'), "{}", code.title());
        }
    }

    #[test]
    fn every_code_has_a_heading_in_the_reference() {
        let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/errors.md"))
            .expect("the reference is in the repository");
        let headings: BTreeSet<&str> =
            text.lines().filter_map(|line| line.strip_prefix("### ")).map(|line| line.trim_matches('`')).collect();
        let codes: BTreeSet<&str> = Code::all().map(Code::name).collect();
        assert_eq!(headings, codes, "headings (left) and codes (right) differ");
    }
}
