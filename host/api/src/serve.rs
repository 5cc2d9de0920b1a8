//! Builds the router from the table and serves it until it is told to stop.

use std::{io, time::Duration};

use axum::{
    Router,
    middleware::{from_fn, from_fn_with_state},
    serve::ListenerExt as _,
};
use tokio::net::TcpListener;

use crate::{
    app::{ApiState, AppState},
    edge,
    gate::{Gate, gate},
    routes::table,
};

/// How long open requests may take once the server stops; streams and long polls end at once.
const DRAIN: Duration = Duration::from_secs(10);

/// Every route, ready to serve.
pub fn router(state: ApiState) -> Router {
    let app = AppState::new(state);
    let mut router = Router::new();
    for route in table() {
        let gate_state = Gate { app: app.clone(), needs: route.needs, limit: route.sends.bytes_max() };
        let (_, paths, methods) = route.described;
        let methods = methods.route_layer(from_fn_with_state(gate_state, gate));
        for path in paths.paths.keys() {
            router = router.route(path, methods.clone());
        }
    }
    router
        .fallback(edge::unknown_route)
        .method_not_allowed_fallback(edge::unknown_method)
        .layer(from_fn(edge::edge))
        .with_state(app)
}

/// Serves until `state.shutdown`, then lets open requests end.
///
/// # Errors
///
/// When the listener fails.
pub async fn serve(listener: TcpListener, state: ApiState) -> io::Result<()> {
    let shutdown = state.shutdown.clone();
    let listener = listener.tap_io(|stream| {
        // Small answers must not wait for more to come. A stream that refuses is slower, not wrong.
        let _ = stream.set_nodelay(true);
    });
    let serving = axum::serve(listener, router(state)).with_graceful_shutdown(shutdown.clone().cancelled_owned());
    tokio::select! {
        result = serving.into_future() => result,
        () = async { shutdown.cancelled().await; tokio::time::sleep(DRAIN).await } => {
            tracing::warn!("requests were still open after {} s and were cut off", DRAIN.as_secs());
            Ok(())
        }
    }
}
