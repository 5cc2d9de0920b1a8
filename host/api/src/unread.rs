//! The rest of a body that was refused before it was read. A client that writes all of it before it reads the answer
//! would never see that answer: the connection would close under it. So the rest is read and thrown away, up to a
//! bound, before the answer goes out.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::{Body, BodyDataStream, Bytes, HttpBody as _},
    extract::Request,
    http::header,
};
use futures::{Stream, StreamExt as _};
use model::limits::LARGE_BODY_BYTES_MAX;
use tokio::time::timeout;

/// Most that is thrown away: a client that sends more than twice what any route takes is cut off.
const BYTES_MAX: usize = 2 * LARGE_BODY_BYTES_MAX;
/// Longest that is waited for it.
const PATIENCE: Duration = Duration::from_secs(5);

/// The body of a request, also held by the edge; gone once it has ended or failed.
#[derive(Clone)]
pub(crate) struct Unread(Arc<Mutex<Option<BodyDataStream>>>);

impl Unread {
    /// Keeps hold of a request's body while the handler has it. Nothing when there is none, or when the client waits
    /// to be told before it sends (`Expect`): whoever would read on then would ask for it.
    pub fn of(request: Request) -> (Request, Option<Self>) {
        if request.body().is_end_stream() || request.headers().contains_key(header::EXPECT) {
            return (request, None);
        }
        let (parts, body) = request.into_parts();
        let unread = Self(Arc::new(Mutex::new(Some(body.into_data_stream()))));
        (Request::from_parts(parts, Body::from_stream(unread.clone())), Some(unread))
    }

    /// Throws away what was not read.
    pub async fn throw_away(mut self) {
        let rest = async {
            let mut bytes = 0;
            while let Some(Ok(chunk)) = self.next().await {
                bytes += chunk.len();
                if bytes > BYTES_MAX {
                    break;
                }
            }
        };
        // A client that is slower than this is cut off as well.
        let _ = timeout(PATIENCE, rest).await;
    }
}

impl Stream for Unread {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(body) = held.as_mut() else { return Poll::Ready(None) };
        let next = body.poll_next_unpin(context);
        if matches!(next, Poll::Ready(None | Some(Err(_)))) {
            *held = None;
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::stream;

    use super::*;

    fn counted(chunks: usize, size: usize) -> (Request, Arc<AtomicUsize>) {
        let read = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&read);
        let body = stream::iter((0..chunks).map(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            Ok::<_, std::io::Error>(vec![0_u8; size])
        }));
        (Request::new(Body::from_stream(body)), read)
    }

    #[tokio::test]
    async fn the_rest_is_read_up_to_a_bound() {
        let (request, read) = counted(10, 1000);
        let (request, unread) = Unread::of(request);
        drop(request);
        unread.expect("a body").throw_away().await;
        assert_eq!(read.load(Ordering::Relaxed), 10);

        let (request, read) = counted(1000, 1 << 20);
        Unread::of(request).1.expect("a body").throw_away().await;
        assert_eq!(read.load(Ordering::Relaxed), 65);
    }

    #[tokio::test]
    async fn a_client_that_waits_is_not_asked() {
        let (mut request, _) = counted(10, 1000);
        request.headers_mut().insert(header::EXPECT, header::HeaderValue::from_static("100-continue"));
        assert!(Unread::of(request).1.is_none());
        assert!(Unread::of(Request::new(Body::empty())).1.is_none());
    }
}
