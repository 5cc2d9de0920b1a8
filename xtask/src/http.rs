//! A small HTTP/1.1 client over the standard library: one request per connection, bodies in memory. Enough for local
//! servers that we start ourselves; it knows no TLS, no redirects and no proxies.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

/// No local answer takes longer unless something hangs.
const ANSWER_MAX: Duration = Duration::from_secs(70);

/// What came back.
#[derive(Debug, Clone)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The body, whole.
    pub body: Vec<u8>,
}

impl Response {
    /// The body as JSON.
    pub fn json(&self) -> Result<Value> {
        serde_json::from_slice(&self.body).with_context(|| format!("not JSON: {}", self.text()))
    }

    /// The body as text, for people.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Sends one request and reads the whole answer.
pub fn request(to: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Result<Response> {
    let whole = || format!("{method} http://{to}{path}");
    let mut stream = TcpStream::connect_timeout(&to, Duration::from_secs(5)).with_context(whole)?;
    stream.set_read_timeout(Some(ANSWER_MAX))?;
    stream.set_write_timeout(Some(ANSWER_MAX))?;
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {to}\r\nconnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    stream.write_all(head.as_bytes()).with_context(whole)?;
    stream.write_all(body).with_context(whole)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).with_context(whole)?;
    parse(&answer).with_context(whole)
}

fn parse(answer: &[u8]) -> Result<Response> {
    let end = find(answer, b"\r\n\r\n").context("the connection was cut before the head of the answer ended")?;
    let head = std::str::from_utf8(&answer[..end]).context("the head of the answer is not text")?;
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok());
    let status = status.with_context(|| format!("no status line: {head}"))?;
    let header = |wanted: &str| {
        let found = head.split("\r\n").filter_map(|line| line.split_once(':'));
        found.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim())
    };
    let body = &answer[end + 4..];
    if header("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
        return Ok(Response { status, body: unchunk(body)? });
    }
    if let Some(length) = header("content-length") {
        let length: usize = length.parse().context("content-length is no number")?;
        ensure!(body.len() == length, "the body was cut: {} bytes of {length}", body.len());
    }
    Ok(Response { status, body: body.to_vec() })
}

fn unchunk(mut rest: &[u8]) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = find(rest, b"\r\n").context("a chunk without its length")?;
        let length = std::str::from_utf8(&rest[..end])?.split(';').next().unwrap_or_default().trim();
        let length = usize::from_str_radix(length, 16).with_context(|| format!("`{length}` is no chunk length"))?;
        rest = &rest[end + 2..];
        if length == 0 {
            return Ok(body);
        }
        if rest.len() < length + 2 {
            bail!("a chunk was cut: {} bytes of {length}", rest.len());
        }
        body.extend_from_slice(&rest[..length]);
        rest = &rest[length + 2..];
    }
}

fn find(within: &[u8], what: &[u8]) -> Option<usize> {
    within.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(answer: &str, status: u16, body: &str) {
        let response = parse(answer.as_bytes()).expect("a well-formed answer");
        assert_eq!((response.status, response.text().as_str()), (status, body));
    }

    #[test]
    fn answers_with_a_length_with_chunks_and_until_the_end() {
        check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "ok");
        check("HTTP/1.1 422 No\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1;x=y\r\nd\r\n0\r\n\r\n", 422, "abcd");
        check("HTTP/1.1 204 No Content\r\n\r\n", 204, "");
    }

    #[test]
    fn an_answer_that_was_cut_is_an_error() {
        for cut in [
            "HTTP/1.1 200 OK\r\ncontent-le",
            "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nab",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabc",
        ] {
            parse(cut.as_bytes()).expect_err(cut);
        }
    }
}
