//! Over real sockets: a client that sends too much still hears why, and a server that stops lets nobody hold it up.

use std::{net::SocketAddr, time::Duration};

use model::access::Role;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
    time::timeout,
};

use crate::server::Server;

async fn serving(server: &Server) -> (SocketAddr, JoinHandle<std::io::Result<()>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    (address, tokio::spawn(api::serve(listener, server.state.clone())))
}

fn head(server: &Server, method: &str, path: &str, more: &str) -> String {
    let key = server.key(Role::Admin);
    format!("{method} {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\n{more}\r\n")
}

/// Writes all of it, and only then reads the answer.
async fn write_then_read(address: SocketAddr, head: String, body: Vec<u8>) -> String {
    let mut socket = TcpStream::connect(address).await.expect("connected");
    socket.write_all(head.as_bytes()).await.expect("the head is taken");
    socket.write_all(&body).await.expect("the body is taken");
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).await.expect("an answer");
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_writes_first_still_hears_why_it_is_refused() {
    let server = Server::start().await;
    let (address, _) = serving(&server).await;
    let length = 33 << 20;
    let announced = format!("connection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n");
    let apply = head(&server, "POST", "/api/v1/workspaces/default/apply", &announced);
    let answer = write_then_read(address, apply, vec![b'x'; length]).await;
    assert!(answer.starts_with("HTTP/1.1 413") && answer.contains("body_too_large"), "{answer}");

    let key = server.key(Role::Admin);
    let wrong = head(&server, "POST", "/api/v1/workspaces/default/apply", &announced).replace(key, "wrong");
    let answer = write_then_read(address, wrong, vec![b'x'; length]).await;
    assert!(answer.starts_with("HTTP/1.1 401") && answer.contains("credentials_invalid"), "{answer}");

    let unknown = head(&server, "POST", "/api/v1/nope", &announced);
    let answer = write_then_read(address, unknown, vec![b'x'; length]).await;
    assert!(answer.starts_with("HTTP/1.1 404") && answer.contains("route_unknown"), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_asks_first_need_not_send() {
    let server = Server::start().await;
    let (address, _) = serving(&server).await;
    let more =
        "connection: close\r\nexpect: 100-continue\r\ncontent-type: application/json\r\ncontent-length: 99999999\r\n";
    let apply = head(&server, "POST", "/api/v1/workspaces/default/apply", more);
    let answer = timeout(Duration::from_secs(3), write_then_read(address, apply, Vec::new())).await.expect("at once");
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_and_idle_connections_end_with_the_server() {
    let server = Server::start().await;
    let (address, serving) = serving(&server).await;
    let mut stream = TcpStream::connect(address).await.expect("connected");
    let open = head(&server, "GET", "/api/v1/workspaces/default/events/stream", "");
    stream.write_all(open.as_bytes()).await.expect("asked");
    let mut idle = TcpStream::connect(address).await.expect("connected");
    idle.write_all(head(&server, "GET", "/healthz", "").as_bytes()).await.expect("asked");
    let mut buffer = [0; 64];
    for socket in [&mut stream, &mut idle] {
        assert!(socket.read(&mut buffer).await.expect("an answer") > 0);
    }
    server.shutdown.cancel();
    let served = timeout(Duration::from_secs(5), serving).await.expect("long before requests are cut off");
    served.expect("no panic").expect("no error");
}
