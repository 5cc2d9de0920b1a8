//! The OpenAPI 3.1 document, from the table and the handlers' own descriptions. What all routes of a kind have in
//! common (security, errors) is added here, so that no handler can forget it.

use std::{collections::BTreeMap, sync::LazyLock};

use axum::{http::header, response::IntoResponse};
use serde::Serialize;
use utoipa::{
    ToSchema,
    openapi::{
        ComponentsBuilder, Content, HeaderBuilder, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Ref, RefOr,
        Response, ResponseBuilder,
        path::{Operation, ParameterIn, PathItem, Paths},
        schema::{ObjectBuilder, Type},
        security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme},
        tag::TagBuilder,
    },
};

use crate::{
    problem::Code,
    routes::{Needs, Route, Sends, table},
};

static TEXT: LazyLock<String> = LazyLock::new(|| {
    let mut text = serde_json::to_string_pretty(&document()).expect("a document of text and numbers is JSON");
    text.push('\n');
    text
});

/// What a problem looks like (RFC 9457).
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemSchema {
    /// Where the code is explained.
    #[schema(example = "/docs/reference/errors#invalid_content")]
    r#type: String,
    /// One line that is the same for every problem of the code.
    title: String,
    /// The HTTP status.
    #[schema(example = 422)]
    status: u16,
    /// One sentence about this occurrence.
    detail: String,
    /// The stable code.
    #[schema(example = "invalid_content")]
    code: String,
    /// Places in what was sent, where there are any.
    errors: Vec<ProblemError>,
    /// The request's id, as in the header `x-request-id`.
    #[serde(rename = "requestId")]
    request_id: Option<String>,
}

/// One place that is wrong.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProblemError {
    /// JSON Pointer (RFC 6901) into the body; with `invalid_query` and `invalid_path`, into the parameters by name.
    #[schema(example = "/documents/3/rules/0/anyApproval/minApprovals")]
    pointer: String,
    /// What is wrong and what would be right.
    message: String,
}

/// The document.
#[must_use]
pub fn document() -> OpenApi {
    let mut schemas = vec![];
    ProblemSchema::schemas(&mut schemas);
    schemas.push(("Problem".to_owned(), <ProblemSchema as utoipa::PartialSchema>::schema()));
    schemas.push(("ProblemError".to_owned(), <ProblemError as utoipa::PartialSchema>::schema()));
    let mut paths = Paths::new();
    for route in table() {
        add(&mut paths, &mut schemas, route);
    }
    let components = ComponentsBuilder::new()
        .schemas_from_iter(schemas)
        .security_scheme(
            "bearer",
            SecurityScheme::Http(
                HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some("An API key.")).build(),
            ),
        )
        .security_scheme(
            "apiKey",
            SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::with_description("x-api-key", "The same API key."))),
        )
        .build();
    OpenApiBuilder::new()
        .info(
            InfoBuilder::new()
                .title("Tidegate")
                .version(env!("CARGO_PKG_VERSION"))
                .description(Some(
                    "Decides which version of which software goes where, and when, and has it carried out.",
                ))
                .license(Some(LicenseBuilder::new().name("Apache-2.0").identifier(Some("Apache-2.0")).build()))
                .build(),
        )
        .paths(paths)
        .components(Some(components))
        .tags(Some(TAGS.map(|(name, about)| TagBuilder::new().name(name).description(Some(about)).build())))
        .build()
}

const TAGS: [(&str, &str); 13] = [
    ("workspaces", "Tenants."),
    ("api-keys", "Who may do what."),
    ("apply", "Documents with names in place of ids, all or none."),
    ("inventory", "Systems, resources and environments."),
    ("deployments", "What is deployed, and who carries it out."),
    ("policies", "Rules, and the plugins behind them."),
    ("versions", "Builds, and people's word on them."),
    ("targets", "Where what runs, what should, and why."),
    ("releases", "One version on one target."),
    ("jobs", "Attempts to carry a release out."),
    ("agents", "What an agent does with its jobs, under a lease."),
    ("events", "The audit trail."),
    ("health", "Whether the server lives and can be used."),
];

/// This document.
#[utoipa::path(get, path = "/api/openapi.json", tag = "health", operation_id = "openapi",
    responses((status = 200, description = "OpenAPI 3.1.", body = Object)))]
pub(crate) async fn serve() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], TEXT.as_str())
}

/// The document as it is committed and served.
#[must_use]
pub fn text() -> &'static str {
    &TEXT
}

type Schemas = Vec<(String, RefOr<utoipa::openapi::Schema>)>;

fn add(paths: &mut Paths, schemas: &mut Schemas, route: Route) {
    let (needs, sends) = (route.needs, route.sends);
    let (own_schemas, own_paths, _) = route.described;
    schemas.extend(own_schemas);
    for (path, mut item) in own_paths.paths {
        for (method, operation) in slots(&mut item) {
            if let Some(operation) = operation {
                complete(operation, needs, sends, &route.refuses);
                debug_assert!(!method.is_empty());
            }
        }
        match paths.paths.get_mut(&path) {
            Some(there) => there.merge_operations(item),
            None => {
                paths.paths.insert(path, item);
            }
        }
    }
}

/// Adds security and every way to refuse.
fn complete(operation: &mut Operation, needs: Needs, sends: Sends, own: &[Code]) {
    let mut codes = vec![Code::Internal];
    if let Needs::AnyOf(roles) = needs {
        let bearer = SecurityRequirement::new("bearer", Vec::<String>::new());
        let key = SecurityRequirement::new("apiKey", Vec::<String>::new());
        operation.security = Some(vec![bearer, key]);
        let names: Vec<String> = roles.iter().map(|role| format!("`{}`", role.name())).collect();
        let needed = format!("Needs the role {}.", names.join(" or "));
        let about = operation.description.take().map_or_else(|| needed.clone(), |text| format!("{text}\n\n{needed}"));
        operation.description = Some(about);
        codes.push(Code::StoreUnavailable);
        codes.extend([Code::CredentialsMissing, Code::CredentialsInvalid, Code::RoleMissing, Code::NotFound]);
    } else {
        operation.security = Some(Vec::new());
    }
    for parameter in operation.parameters.iter().flatten() {
        match parameter {
            RefOr::T(parameter) => match parameter.parameter_in {
                ParameterIn::Query => codes.push(Code::InvalidQuery),
                ParameterIn::Path => codes.push(Code::InvalidPath),
                _ => {}
            },
            RefOr::Ref(_) => {}
        }
    }
    match sends {
        Sends::Nothing => {}
        Sends::Json | Sends::LargeJson => codes.extend([
            Code::MalformedJson,
            Code::BodyIncomplete,
            Code::BodyTooLarge,
            Code::BodyTooDeep,
            Code::UnsupportedMediaType,
            Code::InvalidContent,
        ]),
        Sends::Component => {
            codes.extend([Code::BodyIncomplete, Code::BodyTooLarge, Code::UnsupportedMediaType, Code::InvalidContent]);
            codes.extend(model::plugin::FaultCode::ALL.into_iter().map(Code::Fault).filter(|code| is_of_upload(*code)));
        }
    }
    codes.extend_from_slice(own);
    let mut by_status: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
    for code in codes {
        let names = by_status.entry(code.status().as_u16()).or_default();
        if !names.contains(&code.name()) {
            names.push(code.name());
        }
    }
    for (status, names) in by_status {
        operation.responses.responses.insert(status.to_string(), RefOr::T(refusal(&names)));
    }
}

/// Faults of loading; those of a question never answer a request.
fn is_of_upload(code: Code) -> bool {
    !code.name().starts_with("eval_")
        && !matches!(code.name(), "policy_error" | "plugin_missing" | "selector_error" | "settings_rejected")
}

fn refusal(names: &[&str]) -> Response {
    let codes: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    ResponseBuilder::new()
        .description(format!("A problem: {}.", codes.join(", ")))
        .content("application/problem+json", Content::new(Some(Ref::from_schema_name("Problem"))))
        .header(
            "x-request-id",
            HeaderBuilder::new()
                .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
                .description(Some("The request's id."))
                .build(),
        )
        .build()
}

/// Path, method and operation of everything that is described.
pub(crate) fn operations(paths: Paths) -> Vec<(String, &'static str, Operation)> {
    let mut found = Vec::new();
    for (path, mut item) in paths.paths {
        for (method, operation) in slots(&mut item) {
            if let Some(operation) = operation.take() {
                found.push((path.clone(), method, operation));
            }
        }
    }
    found
}

fn slots(item: &mut PathItem) -> [(&'static str, &mut Option<Operation>); 5] {
    [
        ("GET", &mut item.get),
        ("PUT", &mut item.put),
        ("POST", &mut item.post),
        ("PATCH", &mut item.patch),
        ("DELETE", &mut item.delete),
    ]
}
