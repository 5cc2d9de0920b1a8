//! Whether windows open exactly when they should: against python-dateutil, against a reading of RFC 5545 minute by
//! minute, and by laws that hold for every rule.

mod dateutil;
mod environment;
mod laws;
mod oracle;
mod spec;
mod speed;
