//! A resource of the demo: a real folder, served as a web site by an HTTP server on a port of its own.
//! It answers GET, reads files inside its folder and nothing else.

use std::{
    fs,
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    path::{Component, Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::{Context, Result};

/// Longest head of a request, bytes.
const HEAD_BYTES_MAX: usize = 8 * 1024;

/// Most of a body that nobody wants which is read before the connection is closed, bytes.
const UNREAD_BYTES_MAX: u64 = 64 * 1024;

/// A served folder. Dropping it ends the server.
pub struct Site {
    address: SocketAddr,
    folder: PathBuf,
    stop: Arc<AtomicBool>,
    server: Option<JoinHandle<()>>,
}

impl Site {
    /// Serves `folder`, which need not be there yet, on a free port of this machine.
    pub fn serve(folder: PathBuf) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").context("no free port for a site")?;
        let address = listener.local_addr()?;
        let stop = Arc::new(AtomicBool::new(false));
        let server = thread::spawn({
            let (folder, stop) = (folder.clone(), Arc::clone(&stop));
            move || {
                for stream in listener.incoming().flatten() {
                    if stop.load(Ordering::SeqCst) {
                        return;
                    }
                    // A client that goes away early is its own affair.
                    let _ = answer(stream, &folder);
                }
            }
        });
        Ok(Self { address, folder, stop, server: Some(server) })
    }

    /// Where it is served.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it serves.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // The server waits for a connection; give it one, so that it looks.
        if TcpStream::connect(self.address).is_ok()
            && let Some(server) = self.server.take()
        {
            let _ = server.join();
        }
    }
}

fn answer(mut stream: TcpStream, folder: &Path) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    stream.set_write_timeout(Some(Duration::from_secs(5)))?;
    let mut head = Vec::new();
    let mut part = [0_u8; 1024];
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        let read = stream.read(&mut part)?;
        if read == 0 || head.len() + read > HEAD_BYTES_MAX {
            return Ok(());
        }
        head.extend_from_slice(&part[..read]);
    }
    let head = String::from_utf8_lossy(&head);
    let mut words = head.split(' ');
    let (status, kind, body) = match (words.next(), words.next()) {
        (Some("GET"), Some(path)) => match inside(folder, path).and_then(|file| Some((fs::read(&file).ok()?, file))) {
            Some((body, file)) => ("200 OK", content_type(&file), body),
            None => ("404 Not Found", "text/plain; charset=utf-8", b"nothing here\n".to_vec()),
        },
        _ => ("405 Method Not Allowed", "text/plain; charset=utf-8", b"GET only\n".to_vec()),
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\ncache-control: no-store\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(&body)?;
    // Closed with a body unread, the connection is reset, and the client may lose the answer to that.
    stream.shutdown(Shutdown::Write)?;
    std::io::copy(&mut stream.take(UNREAD_BYTES_MAX), &mut std::io::sink()).map(drop)
}

/// The file that a path names, if it stays inside the folder.
fn inside(folder: &Path, path: &str) -> Option<PathBuf> {
    let path = path.split(['?', '#']).next().unwrap_or_default().trim_start_matches('/');
    let path = Path::new(if path.is_empty() { "index.html" } else { path });
    path.components().all(|part| matches!(part, Component::Normal(_))).then(|| folder.join(path))
}

fn content_type(file: &Path) -> &'static str {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        _ => "text/plain; charset=utf-8",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http;

    #[test]
    fn serves_what_lies_in_the_folder_now_and_nothing_outside() {
        let place = tempfile::tempdir().expect("a temporary folder");
        fs::write(place.path().join("secret"), "no").expect("written");
        let site = Site::serve(place.path().join("site")).expect("a port");
        let get = |path: &str| http::request(site.address(), "GET", path, &[], b"").expect("an answer");
        assert_eq!(get("/").status, 404, "the folder is not there yet");

        fs::create_dir(site.folder()).expect("made");
        fs::write(site.folder().join("index.html"), "<h1>v1</h1>").expect("written");
        assert_eq!(get("/").text(), "<h1>v1</h1>");
        assert_eq!(get("/index.html?x=1").status, 200);
        assert_eq!(get("/../secret").status, 404);
        assert_eq!(get("//etc/passwd").status, 404);
        assert_eq!(http::request(site.address(), "PUT", "/", &[], b"x").expect("an answer").status, 405);
    }
}
