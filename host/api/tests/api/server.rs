//! The whole server but for the socket: a real store in a temporary folder, engine, dispatch and router, with a key
//! for every role. Its clock stands still until it is moved.
//!
//! Every refusal that passes through here is checked: it is a problem, whole, with a code that the OpenAPI document
//! names for that route and status.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use api::{ApiState, Summary};
use axum::{
    Router,
    body::{Body, to_bytes},
    http::{HeaderMap, Method, Request, StatusCode, header},
};
use dispatch::Dispatch;
use engine::{Engine, commands::api_key::NewApiKey};
use model::{
    access::Role,
    event::Actor,
    id::{JobAgentId, WorkspaceId},
    time::Timestamp,
    workspace::Workspace,
};
use plugins::{Host, HostConfig, Limits};
use serde_json::{Value, json};
use store::{Durability, ManualClock, Options, Store};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

/// A server and all that a test may look into.
pub struct Server {
    pub engine: Engine,
    pub store: Store,
    pub clock: Arc<ManualClock>,
    pub shutdown: CancellationToken,
    pub workspace: Workspace,
    pub state: ApiState,
    router: Router,
    keys: BTreeMap<&'static str, String>,
    document: Value,
    _folder: tempfile::TempDir,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Value,
}

impl Answer {
    pub fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }

    pub fn pointer(&self) -> &str {
        self.body["errors"][0]["pointer"].as_str().unwrap_or("no pointer")
    }

    /// The answer, which must have this status.
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{:#}", self.body);
        self
    }

    /// The answer, which must be this problem.
    pub fn refused(self, status: u16, code: &str) -> Self {
        assert_eq!((self.status.as_u16(), self.code()), (status, code), "{:#}", self.body);
        self
    }

    /// A string in the body, such as an id.
    pub fn text(&self, pointer: &str) -> String {
        let value = self.body.pointer(pointer).unwrap_or_else(|| panic!("no {pointer} in {:#}", self.body));
        value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
    }
}

impl Server {
    pub async fn start() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let clock = Arc::new(ManualClock::new("2026-03-02T08:00:00Z".parse().expect("an instant")));
        let url = format!("sqlite:{}", folder.path().join("tidegate.db").display());
        let options = Options {
            url,
            clock: Arc::clone(&clock) as Arc<dyn store::Clock>,
            id_seed: 1,
            durability: Durability::Power,
        };
        let store = Store::open(options).await.expect("a new database opens");
        let config = HostConfig { cache_dir: None, workers: 1, queue: 16, limits: Limits::product() };
        let engine = Engine::new(store.clone(), Host::new(config).expect("a plugin host"));
        let shutdown = CancellationToken::new();
        let (workspace, _) = engine.create_workspace("default", "Default").await.expect("a workspace");
        let state = ApiState {
            engine: engine.clone(),
            dispatch: Dispatch::new(store.clone()),
            store: store.clone(),
            shutdown: shutdown.clone(),
        };
        let router = api::router(state.clone());
        let document = serde_json::from_str(api::openapi_text()).expect("the document is JSON");
        let mut server = Self {
            engine,
            store,
            clock,
            shutdown,
            workspace,
            router,
            state,
            keys: BTreeMap::new(),
            document,
            _folder: folder,
        };
        for role in Role::ALL {
            let secret = server.new_key(server.workspace.id, role, None, None).await;
            server.keys.insert(role.name(), secret);
        }
        server
    }

    pub async fn new_key(
        &self,
        workspace: WorkspaceId,
        role: Role,
        agent: Option<JobAgentId>,
        expires_at: Option<Timestamp>,
    ) -> String {
        let user = format!("{}-user", role.name());
        let new = NewApiKey { workspace, user, teams: vec!["ops".into()], role, agent, expires_at };
        self.engine.create_api_key(&Actor::System, new).await.expect("a key").1
    }

    pub fn key(&self, role: Role) -> &str {
        &self.keys[role.name()]
    }

    /// A GET as admin. The path is below the workspace when it begins with a dot.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(Role::Admin, "GET", path, None).await
    }

    /// A request in a role, with a JSON body if there is one.
    pub async fn send(&self, role: Role, method: &str, path: &str, body: Option<Value>) -> Answer {
        let request = self.request(Some(self.key(role)), method, path);
        let request = match body {
            None => request.body(Body::empty()),
            Some(body) => request.header(header::CONTENT_TYPE, "application/json").body(Body::from(body.to_string())),
        };
        self.call(request.expect("a request")).await
    }

    /// A request to be completed.
    pub fn request(&self, key: Option<&str>, method: &str, path: &str) -> axum::http::request::Builder {
        let path = match path.strip_prefix('.') {
            Some(rest) => format!("/api/v1/workspaces/default{rest}"),
            None => path.to_owned(),
        };
        let request = Request::builder().method(Method::from_bytes(method.as_bytes()).expect("a method")).uri(path);
        match key {
            Some(key) => request.header(header::AUTHORIZATION, format!("Bearer {key}")),
            None => request,
        }
    }

    pub async fn call(&self, request: Request<Body>) -> Answer {
        let (method, path) = (request.method().to_string(), request.uri().path().to_owned());
        let response = self.raw(request).await;
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.expect("a body");
        let body = serde_json::from_slice(&bytes).unwrap_or_default();
        let answer = Answer { status: parts.status, headers: parts.headers, body };
        self.check(&method, &path, &answer);
        answer
    }

    /// The response as it comes, for streams.
    pub async fn raw(&self, request: Request<Body>) -> axum::response::Response {
        self.router.clone().oneshot(request).await.expect("a router never fails")
    }

    /// What every answer must hold.
    fn check(&self, method: &str, path: &str, answer: &Answer) {
        let id = answer.headers.get("x-request-id").and_then(|id| id.to_str().ok()).expect("every answer has an id");
        if answer.status.is_success() || answer.status.is_redirection() {
            return;
        }
        let problem = &answer.body;
        assert_eq!(answer.headers[header::CONTENT_TYPE], "application/problem+json", "{method} {path}: {problem:#}");
        assert_eq!(problem["status"], answer.status.as_u16(), "{method} {path}");
        assert_eq!(problem["requestId"], id, "{method} {path}");
        assert!(problem["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{method} {path}: {problem:#}");
        assert_eq!(problem["type"], format!("/docs/reference/errors#{}", answer.code()), "{method} {path}");
        assert!(!problem.to_string().to_lowercase().contains("sqlite"), "{method} {path}: {problem:#}");
        if matches!(answer.code(), "route_unknown" | "method_not_allowed") {
            return;
        }
        let route = route_of(method, path);
        let status = answer.status.as_str();
        let described = &self.document["paths"][&route.path][method.to_lowercase()]["responses"][status];
        let about = described["description"].as_str().unwrap_or_default();
        assert!(
            about.contains(&format!("`{}`", answer.code())),
            "{route}: {} {} is not described",
            status,
            answer.code()
        );
    }

    /// A system with one environment, one resource, an agent and a deployment. Gives the ids that tests need.
    pub async fn seed(&self) -> Seeded {
        let documents = json!({"documents": [
            {"type": "System", "name": "websites"},
            {"type": "Environment", "name": "prod", "systems": ["websites"], "resourceSelector": "true"},
            {"type": "Resource", "identifier": "eu/1", "kind": "Folder"},
            {"type": "JobAgent", "name": "copier", "agentType": "pull"},
            {"type": "Deployment", "name": "site", "systems": ["websites"], "resourceSelector": "true",
             "jobAgent": "copier"},
        ]});
        self.send(Role::Admin, "POST", "./apply", Some(documents)).await.expect(200);
        Seeded {
            deployment: self.get("./deployments/name/site").await.expect(200).text("/id"),
            environment: self.get("./environments/name/prod").await.expect(200).text("/id"),
            resource: self.get("./resources/identifier/eu%2F1").await.expect(200).text("/id"),
            agent: self.get("./job-agents/name/copier").await.expect(200).text("/id"),
        }
    }

    /// Reports a version and plans it: there is then a job to be claimed.
    pub async fn release(&self, seeded: &Seeded, tag: &str) -> String {
        let path = format!("./deployments/{}/versions", seeded.deployment);
        let version = self.send(Role::Developer, "POST", &path, Some(json!({"tag": tag}))).await.expect(201);
        self.clock.advance(Duration::from_secs(1));
        self.engine.settle().await.expect("planning goes on");
        version.text("/id")
    }
}

/// Ids of what [`Server::seed`] makes.
pub struct Seeded {
    pub deployment: String,
    pub environment: String,
    pub resource: String,
    pub agent: String,
}

impl Seeded {
    pub fn target(&self) -> String {
        format!("{}-{}-{}", self.resource, self.environment, self.deployment)
    }
}

/// The route of the table that a path leads to: fixed parts go before parameters, as in the router.
pub fn route_of(method: &str, path: &str) -> Summary {
    let parts: Vec<&str> = path.split('/').collect();
    let fits = |route: &&Summary| {
        let own: Vec<&str> = route.path.split('/').collect();
        own.len() == parts.len() && own.iter().zip(&parts).all(|(own, part)| own.starts_with('{') || own == part)
    };
    let routes = api::summaries();
    let method = if method == "HEAD" { "GET" } else { method };
    let found = routes.iter().filter(|route| route.method == method).filter(fits);
    found.min_by_key(|route| route.path.matches('{').count()).cloned().unwrap_or_else(|| panic!("{method} {path}"))
}

/// A path of a route with something plausible for every parameter but those given.
pub fn filled(route: &Summary, given: &[(&str, &str)]) -> String {
    const ID: &str = "0199d3c0-7a00-7000-8000-000000000000";
    let key = format!("{ID}-{ID}-{ID}");
    let part = |part: &str| match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
        None => part.to_owned(),
        Some(name) => match given.iter().find(|(given, _)| *given == name) {
            Some((_, value)) => (*value).to_owned(),
            None if name == "ws" => "default".to_owned(),
            None if name == "key" => key.clone(),
            None => ID.to_owned(),
        },
    };
    let path: Vec<String> = route.path.split('/').map(part).collect();
    let path = path.join("/");
    // The one route that cannot be asked without a query.
    if route.path.ends_with("/plugins") && route.method == "POST" {
        format!("{path}?name=p&version=1.0.0")
    } else {
        path
    }
}
