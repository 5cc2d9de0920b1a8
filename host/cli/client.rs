//! The HTTP client of all commands: JSON in and out, problems as errors, names encoded, and reads tried again when the
//! server is just away. Writes are sent once: whether one that broke off was carried out, only the caller can judge.

use std::time::Duration;

use anyhow::{Context, Result};
use reqwest::{Method, RequestBuilder, StatusCode, Url, header};
use serde::Serialize;
use serde_json::Value as Json;

use crate::{
    failure::{Problem, Refused, Usage},
    settings::Settings,
};

/// Waits between the attempts of a read that finds no server.
const RETRY_WAITS: [Duration; 3] = [Duration::from_millis(200), Duration::from_millis(500), Duration::from_secs(1)];
/// A server that takes no connection for this long is away.
const CONNECT_MAX: Duration = Duration::from_secs(5);
/// Longest an ordinary request takes; a large apply is the slowest.
const REQUEST_MAX: Duration = Duration::from_secs(120);
/// Page of a list that is read to its end.
const PAGE: usize = 500;

/// A server, a workspace and a key.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    base: Url,
    workspace: String,
}

/// A query string's parameters.
pub type Query<'a> = [(&'a str, String)];

impl Client {
    /// For the server that the settings name. Sends nothing yet.
    ///
    /// # Errors
    /// When the address is none or the key cannot be read.
    pub fn new(settings: &Settings) -> Result<Self> {
        let base = Url::parse(&settings.url)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
            .ok_or_else(|| {
                Usage(format!("`{}` is not the address of a server, such as http://127.0.0.1:8080", settings.url))
            })?;
        let mut headers = header::HeaderMap::new();
        if let Some(key) = settings.key()? {
            let mut value = header::HeaderValue::try_from(format!("Bearer {key}"))
                .map_err(|_| Usage("the API key contains characters that no key has".to_owned()))?;
            value.set_sensitive(true);
            headers.insert(header::AUTHORIZATION, value);
        }
        let http = reqwest::Client::builder()
            .user_agent(concat!("tidegate/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers)
            .connect_timeout(CONNECT_MAX)
            .build()
            .context("no HTTP client")?;
        Ok(Self { http, base, workspace: settings.workspace.clone() })
    }

    /// The address of a path whose segments need not be encoded.
    #[must_use]
    pub fn url(&self, segments: &[&str]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(["api", "v1"]).extend(segments);
        }
        url
    }

    /// The same below the workspace.
    #[must_use]
    pub fn in_workspace(&self, segments: &[&str]) -> Url {
        let mut all = vec!["workspaces", self.workspace.as_str()];
        all.extend(segments);
        self.url(&all)
    }

    /// A read.
    pub async fn get(&self, url: Url, query: &Query<'_>) -> Result<Json> {
        let mut waits = RETRY_WAITS.iter();
        loop {
            match self.send(Method::GET, url.clone(), query, |request| request).await {
                Err(error) if is_away(&error) => match waits.next() {
                    Some(wait) => tokio::time::sleep(*wait).await,
                    None => return Err(error),
                },
                answer => return answer.map(|(_, json)| json),
            }
        }
    }

    /// All items of a list, page by page.
    pub async fn list(&self, url: Url, query: &Query<'_>) -> Result<Vec<Json>> {
        let mut items = Vec::new();
        loop {
            let mut query = query.to_vec();
            query.push(("limit", PAGE.to_string()));
            query.push(("offset", items.len().to_string()));
            let mut page = self.get(url.clone(), &query).await?;
            let total = page["total"].as_u64();
            let Json::Array(found) = page["items"].take() else { anyhow::bail!("`{url}` answers with no list") };
            let last = found.is_empty();
            items.extend(found);
            if last || total.is_none_or(|total| u64::try_from(items.len()).is_ok_and(|count| count >= total)) {
                return Ok(items);
            }
        }
    }

    /// A write with a JSON body. The status tells whether something new was made.
    pub async fn write(&self, method: Method, url: Url, body: &impl Serialize) -> Result<(StatusCode, Json)> {
        let body = serde_json::to_vec(body).context("the body cannot be written as JSON")?;
        self.send(method, url, &[], |request| request.header(header::CONTENT_TYPE, "application/json").body(body)).await
    }

    /// An upload of bytes.
    pub async fn upload(
        &self,
        url: Url,
        query: &Query<'_>,
        media_type: &'static str,
        bytes: Vec<u8>,
    ) -> Result<(StatusCode, Json)> {
        self.send(Method::POST, url, query, |request| request.header(header::CONTENT_TYPE, media_type).body(bytes))
            .await
    }

    /// A stream of server-sent events. It has no end of its own, so neither has the request.
    pub async fn stream(&self, url: Url, query: &Query<'_>, after: Option<&str>) -> Result<reqwest::Response> {
        let mut request = self.http.get(url).query(query).header(header::ACCEPT, "text/event-stream");
        if let Some(after) = after {
            request = request.header("Last-Event-ID", after);
        }
        let answer = request.send().await.map_err(away)?;
        let status = answer.status();
        if status.is_success() {
            return Ok(answer);
        }
        let body = answer.bytes().await.map_err(away)?;
        Err(refused(status, &body))
    }

    /// A request whose answer may take as long as `wait` says. `None` for 204.
    pub async fn poll(&self, url: Url, query: &Query<'_>, wait: Duration) -> Result<Option<Json>> {
        let request = self.http.get(url).query(query).timeout(wait + Duration::from_secs(15));
        let answer = request.send().await.map_err(away)?;
        let (status, json) = read(answer).await?;
        Ok((status != StatusCode::NO_CONTENT).then_some(json))
    }

    async fn send(
        &self,
        method: Method,
        url: Url,
        query: &Query<'_>,
        with_body: impl FnOnce(RequestBuilder) -> RequestBuilder,
    ) -> Result<(StatusCode, Json)> {
        let request = with_body(self.http.request(method, url).query(query).timeout(REQUEST_MAX));
        read(request.send().await.map_err(away)?).await
    }
}

async fn read(answer: reqwest::Response) -> Result<(StatusCode, Json)> {
    let status = answer.status();
    let body = answer.bytes().await.map_err(away)?;
    if !status.is_success() {
        return Err(refused(status, &body));
    }
    if body.is_empty() {
        return Ok((status, Json::Null));
    }
    let json = serde_json::from_slice(&body).context("the server answered with something that is not JSON")?;
    Ok((status, json))
}

fn refused(status: StatusCode, body: &[u8]) -> anyhow::Error {
    let status = status.as_u16();
    anyhow::Error::new(Refused { status, problem: Problem::parse(status, body) })
}

/// No answer came.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {why}")]
struct NoAnswer {
    what: String,
    why: String,
    /// There was no server to take the request: nothing was done, and trying again is safe.
    unsent: bool,
}

fn away(error: reqwest::Error) -> anyhow::Error {
    let server = error.url().map_or_else(|| "the server".to_owned(), |url| url.origin().ascii_serialization());
    let what = if error.is_connect() {
        format!("no server answers at {server} (start one with `tidegate serve`)")
    } else if error.is_timeout() {
        format!("{server} took too long to answer")
    } else {
        format!("the connection to {server} broke off")
    };
    // The innermost cause is what people can act on; the layers around it name each other.
    let innermost = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source()).last();
    let why = innermost.map(ToString::to_string).unwrap_or_default();
    NoAnswer { what, why, unsent: error.is_connect() }.into()
}

fn is_away(error: &anyhow::Error) -> bool {
    error.downcast_ref::<NoAnswer>().is_some_and(|no_answer| no_answer.unsent)
}

/// Whether the request may succeed when it is sent again: no answer came, or the server is not itself.
#[must_use]
pub fn is_passing(error: &anyhow::Error) -> bool {
    error.is::<NoAnswer>()
        || error.downcast_ref::<Refused>().is_some_and(|refused| refused.status >= 500 || refused.status == 429)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(url: &str) -> Result<Client> {
        crate::crypto::install();
        Client::new(&Settings {
            url: url.to_owned(),
            api_key: Some("k".to_owned()),
            workspace: "my shop".to_owned(),
            data_dir: None,
        })
    }

    #[test]
    fn names_are_encoded_in_addresses() {
        let client = client("http://127.0.0.1:8080/base/").expect("an address");
        let url = client.in_workspace(&["resources", "identifier", "a/b c?"]);
        assert_eq!(
            url.as_str(),
            "http://127.0.0.1:8080/base/api/v1/workspaces/my%20shop/resources/identifier/a%2Fb%20c%3F"
        );
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for url in ["", "127.0.0.1:8080", "ftp://host", "http://"] {
            assert!(client(url).expect_err(url).is::<Usage>(), "{url}");
        }
    }
}
