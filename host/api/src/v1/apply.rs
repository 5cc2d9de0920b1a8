//! Apply: documents with names in place of ids, all or none.

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
    response::Response,
};
use engine::{Applied, Change};
use model::{
    Json,
    access::{Caller, Role},
    limits::DOCUMENTS_MAX,
    wanted::{FieldError, Wanted},
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::wire::Ws;
use crate::{
    app::App,
    extract::{Auth, Body},
    gate::role_missing,
    idempotency::once,
    problem::{Code, Problem},
};

/// Errors told at once; a client that sent thousands of wrong documents needs no more to begin.
const ERRORS_MAX: usize = 100;

/// What should be there.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", expecting = "an object with `documents`")]
#[schema(example = json!({
    "documents": [
        {"type": "System", "name": "websites"},
        {"type": "Environment", "name": "prod", "systems": ["websites"],
         "resourceSelector": "resource.metadata.env == 'prod'"},
        {"type": "Policy", "name": "prod-approval", "selector": "environment.name == 'prod'",
         "rules": [{"anyApproval": {"minApprovals": 1}}]}
    ],
    "dryRun": false
}))]
pub(crate) struct Apply {
    /// Each has a `type` (System, Resource, JobAgent, Environment, Deployment, Policy, Freeze) and that type's fields.
    /// Their order does not matter; one wrong document changes nothing.
    #[schema(value_type = Vec<Object>, max_items = 20000)]
    documents: Vec<Json>,
    /// Says what would change, and changes nothing.
    #[serde(default)]
    dry_run: bool,
}

/// What became of the documents, in their order.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApplyResults {
    results: Vec<ApplyResult>,
    dry_run: bool,
}

/// What became of one document.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApplyResult {
    #[schema(example = "Policy")]
    r#type: String,
    /// Its name, or a resource's identifier.
    #[schema(example = "prod-approval")]
    name: String,
    change: ChangeName,
}

/// Whether anything changed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ChangeName {
    Created,
    Updated,
    Unchanged,
}

impl From<Applied> for ApplyResult {
    fn from(applied: Applied) -> Self {
        Self {
            r#type: applied.type_name.to_owned(),
            name: applied.key,
            change: match applied.change {
                Change::Created => ChangeName::Created,
                Change::Updated => ChangeName::Updated,
                Change::Unchanged => ChangeName::Unchanged,
            },
        }
    }
}

/// Makes what the documents say be there: all of them or none.
///
/// A policy author may apply policies only, an operator freezes only.
#[utoipa::path(post, path = "/api/v1/workspaces/{ws}/apply", tag = "apply", operation_id = "apply",
    params(Ws, ("idempotency-key" = Option<String>, Header, description = "Carried out once in 24 hours.")),
    request_body = Apply,
    responses((status = 200, description = "What became of each document.", body = ApplyResults)))]
pub(crate) async fn apply(
    State(app): State<App>,
    Auth(caller): Auth,
    headers: HeaderMap,
    body: Body<Apply>,
) -> Result<Response, Problem> {
    let digest = body.digest();
    let Apply { documents, dry_run } = body.value;
    let command = async {
        let wanted = read(&documents)?;
        check_roles(&caller, &wanted)?;
        let results = app.engine.apply(&caller, &wanted, dry_run).await?;
        let results = ApplyResults { results: results.into_iter().map(Into::into).collect(), dry_run };
        Ok((StatusCode::OK, json!(results)))
    };
    once(&app, &caller, &headers, ("apply".to_owned(), digest), command).await
}

/// Reads every document, and says all that is wrong with any.
fn read(documents: &[Json]) -> Result<Vec<Wanted>, Problem> {
    if documents.len() > DOCUMENTS_MAX {
        let message = format!("holds {} documents, at most {DOCUMENTS_MAX} are allowed", documents.len());
        return Err(Problem::at(Code::InvalidContent, "/documents", message));
    }
    let mut wanted = Vec::with_capacity(documents.len());
    let mut errors = Vec::new();
    for (index, document) in documents.iter().enumerate() {
        match manifest::from_json(document) {
            Ok(read) => wanted.push(read),
            Err(found) => errors.extend(found.into_iter().map(|error| FieldError {
                pointer: format!("/documents/{index}{}", error.pointer),
                message: error.message,
            })),
        }
        if errors.len() >= ERRORS_MAX {
            errors.truncate(ERRORS_MAX);
            break;
        }
    }
    if errors.is_empty() { Ok(wanted) } else { Err(Problem::of_fields(Code::InvalidContent, errors)) }
}

/// Policies are a policy author's, freezes an operator's; everything else is an admin's.
fn check_roles(caller: &Caller, wanted: &[Wanted]) -> Result<(), Problem> {
    for (index, wanted) in wanted.iter().enumerate() {
        let needed = match wanted {
            Wanted::Policy(_) => Role::PolicyAuthor,
            Wanted::Freeze(_) => Role::Operator,
            Wanted::System(_)
            | Wanted::Resource(_)
            | Wanted::JobAgent(_)
            | Wanted::Environment(_)
            | Wanted::Deployment(_) => Role::Admin,
        };
        if !caller.role.covers(needed) {
            let what = format!("the {} at /documents/{index}", wanted.type_name());
            return Err(role_missing(caller, needed.name(), &what));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wrong_document_is_named() {
        let documents = [json!({"type": "System", "name": "a"}), json!({"type": "Nope"}), json!(7)];
        let problem = read(&documents).expect_err("two are wrong");
        let errors = problem.document(None)["errors"].clone();
        assert_eq!(errors[0]["pointer"], "/documents/1/type");
        assert_eq!(errors[1]["pointer"], "/documents/2");
        assert_eq!(errors.as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn no_more_errors_than_one_can_read() {
        let documents = vec![json!(7); 500];
        let errors = read(&documents).expect_err("all are wrong").document(None)["errors"].clone();
        assert_eq!(errors.as_array().map(Vec::len), Some(ERRORS_MAX));
    }
}
