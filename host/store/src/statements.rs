//! Every text of SQL, for the test that prepares each on both engines.

use crate::{
    access, approval, claim, decision, dependency, deployment, environment, event, freeze, hold, idempotency, job,
    job_agent, job_result, many::Many, measurement, planning, plugin, policy, pool, redeploy, release, release_target,
    resource, skip, system, version, workspace,
};

/// One text.
#[derive(Debug)]
pub struct Statement {
    /// `noun.verb`.
    pub name: &'static str,
    /// As it is run; for chunks of rows, with two of them.
    pub text: String,
    /// Types of the binds, where PostgreSQL cannot tell them from the text.
    pub postgres_types: Vec<&'static str>,
}

/// What runs on SQLite.
#[must_use]
pub fn sqlite() -> Vec<Statement> {
    both().chain(single(claim::sqlite::ALL)).chain(many(claim::sqlite::MANY)).collect()
}

/// What runs on PostgreSQL.
#[must_use]
pub fn postgres() -> Vec<Statement> {
    both()
        .chain(single(claim::postgres::ALL))
        .chain(many(claim::postgres::MANY))
        .chain(single(&[event::LOCK, pool::POSTGRES_NOW]))
        .collect()
}

fn both() -> impl Iterator<Item = Statement> {
    let texts: [&[&'static str]; 26] = [
        workspace::ALL,
        access::ALL,
        system::ALL,
        resource::ALL,
        job_agent::ALL,
        environment::ALL,
        deployment::ALL,
        version::ALL,
        plugin::ALL,
        policy::ALL,
        approval::ALL,
        release_target::ALL,
        release::ALL,
        job::ALL,
        job_result::ALL,
        decision::ALL,
        event::ALL,
        planning::ALL,
        claim::ALL,
        idempotency::ALL,
        skip::ALL,
        freeze::ALL,
        hold::ALL,
        redeploy::ALL,
        measurement::ALL,
        dependency::ALL,
    ];
    let chunked: [&[Many]; 11] = [
        environment::MANY,
        deployment::MANY,
        policy::MANY,
        release_target::MANY,
        release::MANY,
        job::MANY,
        decision::MANY,
        event::MANY,
        hold::MANY,
        redeploy::MANY,
        measurement::MANY,
    ];
    texts.into_iter().flat_map(single).chain(chunked.into_iter().flat_map(many))
}

fn single(texts: &[&'static str]) -> Vec<Statement> {
    texts.iter().map(|text| statement(text, (*text).to_owned(), Vec::new())).collect()
}

fn many(texts: &[Many]) -> Vec<Statement> {
    texts.iter().map(|many| statement(many.sql, many.text(2), postgres_types(many.sql).repeat(2))).collect()
}

/// Binds of a group whose types PostgreSQL cannot tell.
fn postgres_types(sql: &'static str) -> &'static [&'static str] {
    match crate::error::statement_name(sql) {
        "job.save" => job::SAVE_TYPES,
        "job.settle_verification" => job::SETTLE_TYPES,
        "release.place" => release::PLACE_TYPES,
        "hold.end" | "redeploy.finish" => &["uuid", "uuid", "uuid"],
        _ => &[],
    }
}

fn statement(sql: &'static str, text: String, postgres_types: Vec<&'static str>) -> Statement {
    Statement { name: crate::error::statement_name(sql), text, postgres_types }
}
