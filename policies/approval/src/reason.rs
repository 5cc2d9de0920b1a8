//! Sentences that say what is missing and who can supply it.

use tidegate_policy::{Version, gate::Approval, instant_text};

use crate::{
    Config,
    rule::{Standing, Word},
};

/// Names in one sentence before the rest is counted.
const NAMES_MAX: usize = 5;

/// Somebody eligible said no.
pub(crate) fn rejected(rejections: &[&Approval]) -> String {
    let names: Vec<String> = rejections
        .iter()
        .map(|word| match word.reason.trim() {
            "" => word.user.clone(),
            why => format!("{} (\"{}\")", word.user, shortened(why)),
        })
        .collect();
    let until = if rejections.len() == 1 { "that is withdrawn" } else { "all of them are withdrawn" };
    format!("rejected by {}; it stays blocked until {until}", list(&names, "and"))
}

/// Enough said yes.
pub(crate) fn approved(counted: &[&Word<'_>]) -> String {
    format!("approved by {}", list(&approvers(counted), "and"))
}

/// Not enough said yes.
pub(crate) fn missing(config: &Config, version: &Version, words: &[Word<'_>], missing: usize) -> String {
    let counted: Vec<&Word<'_>> =
        words.iter().filter(|word| matches!(word.standing, Standing::Counts { .. })).collect();
    let mut sentence = format!(
        "{missing}{} {} needed from {}",
        if counted.is_empty() { "" } else { " more" },
        if missing == 1 { "approval" } else { "approvals" },
        who(config, version),
    );
    if !counted.is_empty() {
        sentence.push_str(&format!("; approved by {}", list(&approvers(&counted), "and")));
    }
    let dropped: Vec<String> = words.iter().filter_map(why_not).collect();
    if !dropped.is_empty() {
        sentence.push_str(&format!("; not counted: {}", list(&dropped, "and")));
    }
    sentence
}

fn approvers(counted: &[&Word<'_>]) -> Vec<String> {
    counted
        .iter()
        .map(|word| match word.standing {
            Standing::Counts { no_longer_eligible: true } => format!("{} (no longer eligible)", word.approval.user),
            Standing::Counts { no_longer_eligible: false }
            | Standing::NotEligible
            | Standing::OwnVersion
            | Standing::Expired(_) => word.approval.user.clone(),
        })
        .collect()
}

fn why_not(word: &Word<'_>) -> Option<String> {
    let user = &word.approval.user;
    match word.standing {
        Standing::Counts { .. } => None,
        Standing::NotEligible => Some(format!("{user} (not eligible)")),
        Standing::OwnVersion => Some(format!("{user} (created the version)")),
        Standing::Expired(until) => Some(format!("{user} (expired {})", instant_text(until))),
    }
}

/// Who may give what is missing.
fn who(config: &Config, version: &Version) -> String {
    let mut sources = Vec::new();
    if !config.roles.is_empty() {
        sources.push(format!("a member of {}", list(&config.roles, "or")));
    }
    if !config.users.is_empty() {
        sources.push(list(&config.users, "or"));
    }
    let mut who = if sources.is_empty() { "anyone".to_owned() } else { sources.join(", or from ") };
    if let (true, Some(creator)) = (config.prevent_self_approval, &version.created_by) {
        who.push_str(&format!(" other than {creator}, who created the version"));
    }
    who
}

/// `a, b and c`; of many names, the first few and how many more.
fn list(names: &[String], word: &str) -> String {
    let more = names.len().saturating_sub(NAMES_MAX);
    let shown = &names[..names.len() - more];
    match (shown, more) {
        ([], _) => String::new(),
        ([only], 0) => only.clone(),
        (all, 0) => format!("{} {word} {}", all[..all.len() - 1].join(", "), all[all.len() - 1]),
        (some, more) => format!("{} {word} {more} more", some.join(", ")),
    }
}

/// The first 200 characters of what a person wrote.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
