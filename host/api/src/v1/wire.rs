//! What the nouns of the API have in common on the wire: instants, names of model's enums, short references, lists.

use axum::{
    Json as AxumJson,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use model::{
    Json,
    access::Role,
    approval::ApprovalDecision,
    decision::Verdict,
    deployment::Deployment,
    environment::Environment,
    event::EventKind,
    id::Uuid,
    job::JobKind,
    job_agent::AgentType,
    job_state::JobStatus,
    plugin::{FaultCode, Scope},
    policy::{OnError, Order, RuleMode},
    question::Intent,
    release::Closed,
    release_target::TargetKey,
    report::{BlockKind, Standing},
    resource::Resource,
    time::Timestamp,
    verification::Verified,
    version::{Version, VersionStatus},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha256};
use store::Page;
use utoipa::{
    IntoParams, PartialSchema, ToSchema,
    openapi::{KnownFormat, ObjectBuilder, RefOr, Schema, SchemaFormat, schema::Type},
};

use crate::{extract::page, problem::Problem};

/// An instant: RFC 3339 in UTC with milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Time(pub Timestamp);

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(de::Error::custom)
    }
}

impl PartialSchema for Time {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .examples([Json::from("2026-03-02T08:00:00.000Z")])
            .into()
    }
}

impl ToSchema for Time {}

impl From<Timestamp> for Time {
    fn from(at: Timestamp) -> Self {
        Self(at)
    }
}

/// Enums of model by their names: written from and, where the last word says so, read into.
macro_rules! names {
    ($($(#[$doc:meta])* $name:ident = $model:ident of $values:expr;)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct $name(pub $model);

        impl $name {
            fn all() -> Vec<&'static str> {
                $values.into_iter().map(|value| value.name()).collect()
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.0.name())
            }
        }

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                ObjectBuilder::new().schema_type(Type::String).enum_values(Some(Self::all())).into()
            }
        }

        impl ToSchema for $name {}

        impl From<$model> for $name {
            fn from(value: $model) -> Self {
                Self(value)
            }
        }
    )+};
}

macro_rules! read_by_name {
    ($($name:ident = $model:ident: $what:literal;)+) => {$(
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                $model::parse(&text).map(Self).ok_or_else(|| {
                    let expected = Self::all().join(", ");
                    de::Error::custom(format!("`{text}` is not {} (expected one of {expected})", $what))
                })
            }
        }
    )+};
}

names! {
    /// How far a version is.
    VersionStatusName = VersionStatus of VersionStatus::ALL;
    /// Where a job stands.
    JobStatusName = JobStatus of JobStatus::ALL;
    /// What a job does.
    JobKindName = JobKind of JobKind::ALL;
    /// What a key may do.
    RoleName = Role of Role::ALL;
    /// How jobs reach an agent.
    AgentTypeName = AgentType of AgentType::ALL;
    /// Yes or no.
    ApprovalName = ApprovalDecision of [ApprovalDecision::Approved, ApprovalDecision::Rejected];
    /// Whether a rule's answers count.
    RuleModeName = RuleMode of [RuleMode::Enforce, RuleMode::Audit];
    /// What a rule that cannot answer means.
    OnErrorName = OnError of [OnError::Block, OnError::Allow];
    /// Which of several versions goes next.
    OrderName = Order of [Order::Newest, Order::Queue];
    /// How far one answer reaches.
    ScopeName = Scope of Scope::ALL;
    /// What a gate says.
    VerdictName = Verdict of [Verdict::Allow, Verdict::Wait(None), Verdict::Deny];
    /// Why a rule could not answer.
    FaultName = FaultCode of FaultCode::ALL;
    /// Why a release will not be started any more by itself.
    ClosedName = Closed of [Closed::Superseded, Closed::Replaced, Closed::Cancelled, Closed::RolledBack];
    /// Where a target stands.
    StandingName = Standing of [
        Standing::NoVersion, Standing::UpToDate, Standing::Deploying, Standing::Verifying, Standing::Blocked,
        Standing::Held, Standing::Waiting, Standing::Failed, Standing::NoAgent, Standing::Detached,
    ];
    /// What holds a version apart from rules.
    BlockKindName = BlockKind of [BlockKind::Freeze, BlockKind::Held];
    /// What became of a job's verification.
    VerifiedName = Verified of Verified::ALL;
    /// Why a job was made.
    IntentName = Intent of Intent::ALL;
    /// What happened.
    EventKindName = EventKind of EventKind::ALL.iter().copied();
}

read_by_name! {
    VersionStatusName = VersionStatus: "a version's status";
    JobStatusName = JobStatus: "a job's status";
    ApprovalName = ApprovalDecision: "a decision";
    RoleName = Role: "a role";
}

/// A thing by id and name.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Named {
    pub id: Uuid,
    #[schema(example = "prod")]
    pub name: String,
}

impl From<&Deployment> for Named {
    fn from(deployment: &Deployment) -> Self {
        Self { id: deployment.id.0, name: deployment.name.clone() }
    }
}

impl From<&Environment> for Named {
    fn from(environment: &Environment) -> Self {
        Self { id: environment.id.0, name: environment.name.clone() }
    }
}

/// A resource by id, identifier and name.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResourceRef {
    pub id: Uuid,
    #[schema(example = "eu-1")]
    pub identifier: String,
    pub name: String,
}

impl From<&Resource> for ResourceRef {
    fn from(resource: &Resource) -> Self {
        Self { id: resource.id.0, identifier: resource.identifier.clone(), name: resource.name.clone() }
    }
}

/// A version by id and tag.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VersionRef {
    pub id: Uuid,
    #[schema(example = "v1.4.2")]
    pub tag: String,
}

impl From<&Version> for VersionRef {
    fn from(version: &Version) -> Self {
        Self { id: version.id.0, tag: version.tag.clone() }
    }
}

/// One page of a list, and how long the whole list is.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Listed<T> {
    /// In a stable order.
    pub items: Vec<T>,
    /// Length of the whole list.
    #[schema(example = 1)]
    pub total: u64,
    /// As asked for.
    #[schema(example = 100)]
    pub limit: u32,
    /// As asked for.
    #[schema(example = 0)]
    pub offset: u32,
}

/// All there is of something that is never long.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Items<T> {
    /// In a stable order.
    pub items: Vec<T>,
}

/// One thing, with an ETag over what is said of it.
#[derive(Debug)]
pub(crate) struct Entity<T>(pub StatusCode, pub T);

impl<T: Serialize> IntoResponse for Entity<T> {
    fn into_response(self) -> Response {
        let Self(status, thing) = self;
        let text = match serde_json::to_string(&thing) {
            Ok(text) => text,
            // The wire types hold nothing that JSON cannot; a map with keys that are no text would be a bug of ours.
            Err(error) => return Problem::internal(&error).into_response(),
        };
        let hash = Sha256::digest(text.as_bytes());
        let tag: String = hash[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Ok(value) = HeaderValue::from_str(&format!("\"{tag}\"")) {
            headers.insert(header::ETAG, value);
        }
        (status, headers, text).into_response()
    }
}

/// A page of the store's as a page of the API's.
pub(crate) fn listed<M, T: From<M>>(found: store::Listed<M>, page: Page) -> AxumJson<Listed<T>> {
    AxumJson(Listed {
        items: found.items.into_iter().map(T::from).collect(),
        total: found.total,
        limit: page.limit,
        offset: page.offset,
    })
}

/// The workspace in a path.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct Ws {
    /// A workspace, by id or by slug.
    #[param(example = "default")]
    #[expect(dead_code, reason = "described for OpenAPI; the gate reads it")]
    ws: String,
}

/// The id in a path.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct Id {
    /// Which one.
    #[expect(dead_code, reason = "described for OpenAPI; handlers take it as `PathId`")]
    id: Uuid,
}

/// The name in a path.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct Name {
    /// Which one, by its exact name.
    #[expect(dead_code, reason = "described for OpenAPI; handlers take it as `PathText`")]
    name: String,
}

/// Which part of a list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Paging {
    /// At most so many.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<i64>,
    /// After so many.
    #[param(minimum = 0, default = 0)]
    offset: Option<i64>,
}

impl Paging {
    pub fn page(&self) -> Result<Page, Problem> {
        page(self.limit, self.offset)
    }
}

/// A release target in a query.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TargetKeyText(pub TargetKey);

impl<'de> Deserialize<'de> for TargetKeyText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(de::Error::custom)
    }
}
