//! The one place that says which cryptography TLS uses.

/// Makes ring the provider of this process. Once is enough; later calls change nothing.
pub fn install() {
    // An error means that one is installed already, which is this one.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
