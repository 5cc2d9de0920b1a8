//! The check before every handler of a route that is not open to all: whose key it is, whether the workspace in the
//! path is the key's, whether the role will do, and how large a body may be. In this order: what is outside the
//! caller's workspace is not there, whatever the role.

use std::time::Instant;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use model::{
    access::Caller,
    id::{ApiKeyId, Uuid},
};

use crate::{
    app::App,
    extract::{BodyLimit, decoded, invalid, secret},
    problem::{Code, Problem},
    routes::Needs,
};

/// What the table of routes says of a route.
#[derive(Clone)]
pub(crate) struct Gate {
    pub app: App,
    pub needs: Needs,
    pub limit: usize,
}

pub(crate) async fn gate(State(gate): State<Gate>, request: Request, next: Next) -> Result<Response, Problem> {
    let (mut parts, body) = request.into_parts();
    let path = decoded(&mut parts, &()).await?;
    if let Some(roles) = gate.needs.roles() {
        let caller = authenticate(&gate.app, secret(&parts.headers)?).await?;
        if let Some((_, workspace)) = path.iter().find(|(name, _)| name == "ws") {
            check_workspace(&gate.app, &caller, workspace).await?;
        }
        if !roles.iter().any(|role| caller.role.covers(*role)) {
            return Err(role_missing(&caller, roles[0].name(), "this"));
        }
        parts.extensions.insert(caller);
    }
    parts.extensions.insert(BodyLimit(gate.limit));
    Ok(next.run(Request::from_parts(parts, body)).await)
}

/// The key's role does not cover what is asked.
pub(crate) fn role_missing(caller: &Caller, needed: &str, what: &str) -> Problem {
    let detail = format!("{what} needs the role `{needed}`; this key has `{}`", caller.role.name());
    Problem::new(Code::RoleMissing, detail).with("missingRole", needed)
}

/// The caller that a secret stands for.
pub(crate) async fn authenticate(app: &App, secret: &str) -> Result<Caller, Problem> {
    let found = app.engine.authenticate(secret).await?;
    let (key, caller) = found.ok_or_else(|| invalid("the key is unknown or has expired"))?;
    if app.touched.is_due(key, Instant::now()) {
        tokio::spawn(touch(App::clone(app), key));
    }
    Ok(caller)
}

/// Writes a key's use down, beside the request: neither its delay nor its failure is the caller's.
async fn touch(app: App, key: ApiKeyId) {
    let touched = async {
        let mut tx = app.store.write("api.touch_key").await?;
        store::access::touch(&mut tx, key).await?;
        tx.commit().await
    };
    if let Err(error) = touched.await {
        tracing::warn!(error = &error as &dyn std::error::Error, "the use of a key could not be written down");
    }
}

/// A key is good in one workspace; every other one is not there for it, by id or by slug.
async fn check_workspace(app: &App, caller: &Caller, workspace: &str) -> Result<(), Problem> {
    let own = match workspace.parse::<Uuid>() {
        Ok(id) => id == caller.workspace.0,
        Err(_) => {
            let mut tx = app.store.read("api.workspace").await?;
            let found = store::workspace::get(&mut tx, caller.workspace).await?;
            found.is_some_and(|found| found.slug == workspace)
        }
    };
    if own {
        return Ok(());
    }
    Err(Problem::new(Code::NotFound, format!("there is no workspace `{workspace}`")))
}
