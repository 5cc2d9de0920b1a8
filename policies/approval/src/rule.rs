//! Who approved, who counts, how many are missing. Pure: everything is an argument.

use std::collections::BTreeMap;

use tidegate_policy::{
    Timestamp, Version,
    gate::{Approval, ApprovalDecision, Decision},
    instant_text,
};

use crate::{Config, reason};

/// What became of one person's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It counts.
    Counts {
        /// The role that made it count was since lost; the word is kept.
        no_longer_eligible: bool,
    },
    /// Neither a user nor a member of a role that may approve.
    NotEligible,
    /// The version's own creator.
    OwnVersion,
    /// It counted, until then.
    Expired(Timestamp),
}

/// One person's word and what became of it.
#[derive(Debug, Clone, Copy)]
pub struct Word<'a> {
    /// The word.
    pub approval: &'a Approval,
    /// What became of it.
    pub standing: Standing,
}

/// May the version go?
#[must_use]
pub fn decide(
    config: &Config,
    now: Timestamp,
    rule_created_at: Timestamp,
    version: &Version,
    approvals: &[Approval],
) -> Decision {
    // The server's instant, not the creator's: whoever reports versions must not pass by backdating one.
    let created_at = version.received_at;
    if created_at < rule_created_at {
        let reason = format!("the version was created before this rule ({})", instant_text(rule_created_at));
        return Decision::allow(reason).satisfied_at(created_at);
    }
    if config.min_approvals == 0 {
        return Decision::allow("no approval is required").satisfied_at(created_at);
    }
    let words = last_words(approvals);
    let rejected: Vec<&Approval> = words
        .iter()
        .copied()
        .filter(|word| word.decision == ApprovalDecision::Rejected && eligible(config, &word.user, &word.roles_then))
        .collect();
    let approved: Vec<Word<'_>> = words
        .into_iter()
        .filter(|word| word.decision == ApprovalDecision::Approved)
        .map(|approval| Word { approval, standing: standing(config, now, version, approval) })
        .collect();
    let counted: Vec<&Word<'_>> =
        approved.iter().filter(|word| matches!(word.standing, Standing::Counts { .. })).collect();
    let required = usize::try_from(config.min_approvals).unwrap_or(usize::MAX);

    let decision = if !rejected.is_empty() {
        Decision::deny(reason::rejected(&rejected))
    } else if counted.len() >= required {
        let mut given: Vec<Timestamp> = counted.iter().map(|word| word.approval.at).collect();
        given.sort_unstable();
        let decision = Decision::allow(reason::approved(&counted)).satisfied_at(given[required - 1]);
        match config.expires_after {
            // It ends when so many have expired that one fewer than required is left.
            Some(expiry) => decision.valid_until(given[given.len() - required].saturating_add(expiry.millis())),
            None => decision,
        }
    } else {
        Decision::wait(reason::missing(config, version, &approved, required - counted.len()))
    };
    let names = |words: Vec<&str>| words.join(", ");
    decision
        .detail("required", required)
        .detail("approvals", counted.len())
        .detail("approvedBy", names(counted.iter().map(|word| word.approval.user.as_str()).collect()))
        .detail("rejectedBy", names(rejected.iter().map(|word| word.user.as_str()).collect()))
}

/// Each person's last word, by time: somebody who says it twice counts once.
fn last_words(approvals: &[Approval]) -> Vec<&Approval> {
    let mut last: BTreeMap<&str, &Approval> = BTreeMap::new();
    for approval in approvals {
        let known = last.entry(&approval.user).or_insert(approval);
        if approval.at >= known.at {
            *known = approval;
        }
    }
    let mut words: Vec<&Approval> = last.into_values().collect();
    words.sort_by(|a, b| a.at.cmp(&b.at).then_with(|| a.user.cmp(&b.user)));
    words
}

fn standing(config: &Config, now: Timestamp, version: &Version, approval: &Approval) -> Standing {
    if config.prevent_self_approval && version.created_by.as_deref() == Some(approval.user.as_str()) {
        return Standing::OwnVersion;
    }
    if !eligible(config, &approval.user, &approval.roles_then) {
        return Standing::NotEligible;
    }
    if let Some(expiry) = config.expires_after {
        let until = approval.at.saturating_add(expiry.millis());
        if now >= until {
            return Standing::Expired(until);
        }
    }
    Standing::Counts { no_longer_eligible: !eligible(config, &approval.user, &approval.roles_now) }
}

/// Whether somebody with these roles may approve.
fn eligible(config: &Config, user: &str, roles: &[String]) -> bool {
    let anybody = config.roles.is_empty() && config.users.is_empty();
    anybody || config.users.iter().any(|name| name == user) || config.roles.iter().any(|role| roles.contains(role))
}

#[cfg(test)]
mod tests;
