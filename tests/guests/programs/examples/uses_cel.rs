//! Gives the value of an expression over the candidate's tag, or what is wrong with it.
use tidegate_policy::gate::{Decision, Request};

fn evaluate(what: &str, request: &Request) -> Result<Decision, String> {
    let variables = tidegate_policy::cel::variables(&[("tag", &request.candidate.tag)]);
    let value = tidegate_policy::cel::evaluate(what, &variables)?;
    Ok(Decision::allow(value.to_string()))
}

guest_programs::gate!("uses_cel", evaluate);
