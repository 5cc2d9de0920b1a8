//! The table: every route with the roles that may use it, what it takes and how it refuses. The router, the check of
//! keys and the OpenAPI document are built from it; nothing is served that does not stand here.

use std::fmt;

use model::{
    access::Role,
    limits::{BODY_BYTES_MAX, LARGE_BODY_BYTES_MAX},
};
use utoipa_axum::router::UtoipaMethodRouter;

use crate::{app::App, health, openapi, problem::Code, v1};

/// Whose key a route takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Open to all.
    Nothing,
    /// A key with one of these roles, or one that covers it.
    AnyOf(&'static [Role]),
}

impl Needs {
    pub(crate) fn roles(self) -> Option<&'static [Role]> {
        match self {
            Self::Nothing => None,
            Self::AnyOf(roles) => Some(roles),
        }
    }
}

/// What a route takes as its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sends {
    /// None.
    Nothing,
    /// JSON of ordinary size.
    Json,
    /// JSON that may be large.
    LargeJson,
    /// A component.
    Component,
}

impl Sends {
    pub(crate) fn bytes_max(self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Json => BODY_BYTES_MAX,
            Self::LargeJson | Self::Component => LARGE_BODY_BYTES_MAX,
        }
    }
}

/// One line of the table.
pub(crate) struct Route {
    pub needs: Needs,
    pub sends: Sends,
    /// Codes beyond those that every route of its kind has.
    pub refuses: Vec<Code>,
    pub described: UtoipaMethodRouter<App>,
}

/// One line of the table, for tests and documents.
#[derive(Debug, Clone)]
pub struct Summary {
    /// In capitals.
    pub method: String,
    /// With its parameters in braces.
    pub path: String,
    /// Whose key.
    pub needs: Needs,
    /// Which body.
    pub sends: Sends,
    /// Codes of its own.
    pub refuses: Vec<Code>,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

const VIEWER: Needs = Needs::AnyOf(&[Role::Viewer]);
const DEVELOPER: Needs = Needs::AnyOf(&[Role::Developer]);
const APPROVER: Needs = Needs::AnyOf(&[Role::Approver]);
const POLICY_AUTHOR: Needs = Needs::AnyOf(&[Role::PolicyAuthor]);
const OPERATOR: Needs = Needs::AnyOf(&[Role::Operator]);
/// An agent reports what it measured; so may whoever watches what it deployed.
const MEASURES: Needs = Needs::AnyOf(&[Role::Agent, Role::Operator]);
const AGENT: Needs = Needs::AnyOf(&[Role::Agent]);
/// Policy authors apply policies, operators freezes, and nothing else; the handler says so of each document.
const APPLY: Needs = Needs::AnyOf(&[Role::Admin, Role::PolicyAuthor, Role::Operator]);
const ADMIN: Needs = Needs::AnyOf(&[Role::Admin]);
const EVERYBODY: Needs = Needs::Nothing;

macro_rules! route {
    ($needs:expr, $sends:ident, [$($code:ident),*], $($handler:tt)+) => {
        Route {
            needs: $needs,
            sends: Sends::$sends,
            refuses: vec![$(Code::$code),*],
            described: utoipa_axum::routes!($($handler)+),
        }
    };
}

/// The table.
pub(crate) fn table() -> Vec<Route> {
    let mut table = vec![
        route!(VIEWER, Nothing, [], v1::workspace::list),
        route!(VIEWER, Nothing, [], v1::workspace::get),
        route!(ADMIN, Json, [], v1::api_key::create),
        route!(APPLY, LargeJson, [Conflict, IdempotencyRunning, IdempotencyKeyReused, InvalidHeader], v1::apply::apply),
        route!(VIEWER, Nothing, [], v1::system::list),
        route!(VIEWER, Nothing, [], v1::system::get),
        route!(VIEWER, Nothing, [], v1::system::by_name),
        route!(VIEWER, Nothing, [], v1::resource::list),
        route!(VIEWER, Nothing, [], v1::resource::get),
        route!(VIEWER, Nothing, [], v1::resource::by_identifier),
        route!(VIEWER, Nothing, [], v1::environment::list),
        route!(VIEWER, Nothing, [], v1::environment::get),
        route!(VIEWER, Nothing, [], v1::environment::by_name),
        route!(VIEWER, Nothing, [], v1::deployment::list),
        route!(VIEWER, Nothing, [], v1::deployment::get),
        route!(VIEWER, Nothing, [], v1::deployment::by_name),
        route!(VIEWER, Nothing, [], v1::policy::list),
        route!(VIEWER, Nothing, [], v1::policy::get),
        route!(VIEWER, Nothing, [], v1::policy::by_name),
        route!(VIEWER, Nothing, [], v1::job_agent::list),
        route!(VIEWER, Nothing, [], v1::job_agent::get),
        route!(VIEWER, Nothing, [], v1::job_agent::by_name),
        route!(
            DEVELOPER,
            Json,
            [Conflict, IdempotencyRunning, IdempotencyKeyReused, InvalidHeader],
            v1::version::create
        ),
        route!(VIEWER, Nothing, [], v1::version::list),
        route!(VIEWER, Nothing, [], v1::version::get),
        route!(DEVELOPER, Json, [], v1::version::patch),
        route!(APPROVER, Json, [], v1::approval::put),
        route!(VIEWER, Nothing, [], v1::approval::list),
    ];
    table.extend(of_planning_and_work());
    table
}

fn of_planning_and_work() -> Vec<Route> {
    vec![
        route!(VIEWER, Nothing, [], v1::release_target::list),
        route!(VIEWER, Nothing, [], v1::release_target::state),
        route!(VIEWER, Nothing, [], v1::explain::explain),
        route!(OPERATOR, Json, [Conflict], v1::steer::roll_back),
        route!(OPERATOR, Json, [Conflict], v1::steer::resume),
        route!(DEVELOPER, Json, [Conflict], v1::steer::redeploy),
        route!(OPERATOR, Json, [Conflict], v1::steer::cancel),
        route!(MEASURES, Json, [Conflict], v1::steer::measure),
        route!(OPERATOR, Json, [], v1::skip::create),
        route!(OPERATOR, Json, [], v1::skip::create_of_freeze),
        route!(OPERATOR, Nothing, [], v1::skip::remove),
        route!(VIEWER, Nothing, [], v1::freeze::list),
        route!(OPERATOR, Nothing, [], v1::freeze::lift),
        route!(POLICY_AUTHOR, Nothing, [], v1::policy::delete),
        route!(VIEWER, Nothing, [], v1::decision::list),
        route!(VIEWER, Nothing, [], v1::release::list),
        route!(VIEWER, Nothing, [], v1::release::get),
        route!(VIEWER, Nothing, [], v1::job::list),
        route!(VIEWER, Nothing, [], v1::job::get),
        route!(VIEWER, Nothing, [], v1::event::list),
        route!(VIEWER, Nothing, [InvalidHeader], v1::stream::stream),
        route!(POLICY_AUTHOR, Component, [Conflict], v1::plugin::upload),
        route!(VIEWER, Nothing, [], v1::plugin::list),
        route!(AGENT, Nothing, [Forbidden], v1::queue::next),
        route!(
            AGENT,
            Json,
            [Forbidden, StaleLease, IllegalTransition, ResultConflict, LeaseTokenRequired],
            v1::queue::report
        ),
        route!(AGENT, Json, [Forbidden, StaleLease, LeaseTokenRequired], v1::queue::heartbeat),
        route!(AGENT, Json, [Forbidden, StaleLease, IllegalTransition, LeaseTokenRequired], v1::queue::give_back),
        route!(EVERYBODY, Nothing, [], health::live),
        route!(EVERYBODY, Nothing, [NotReady], health::ready),
        route!(EVERYBODY, Nothing, [], openapi::serve),
    ]
}

/// The table, for tests and documents.
#[must_use]
pub fn summaries() -> Vec<Summary> {
    table()
        .into_iter()
        .flat_map(|route| {
            let paths = openapi::operations(route.described.1);
            paths.into_iter().map(move |(path, method, _)| Summary {
                method: method.to_owned(),
                path,
                needs: route.needs,
                sends: route.sends,
                refuses: route.refuses.clone(),
            })
        })
        .collect()
}
