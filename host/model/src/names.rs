//! What a name, a label or a text of a person may be. Checked where it comes in, once.

use crate::limits::{LABEL_VALUE_BYTES_MAX, LABELS_MAX, MESSAGE_BYTES_MAX, NAME_BYTES_MAX};

/// A name, tag, identifier, kind or label key.
///
/// # Errors
/// In words for a person: what is wrong and what would be right.
pub fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("is empty, expected at least one character".to_owned());
    }
    if name.len() > NAME_BYTES_MAX {
        return Err(format!("is {} bytes long, at most {NAME_BYTES_MAX} are allowed", name.len()));
    }
    if name.trim() != name {
        return Err(format!("`{name}` begins or ends with white space"));
    }
    if let Some(control) = name.chars().find(|char| char.is_control()) {
        return Err(format!("contains the control character U+{:04X}", u32::from(control)));
    }
    Ok(())
}

/// The name of a deployment or an environment, which is a part of paths such as `deployment/environment/resource`.
///
/// # Errors
/// In words for a person: what is wrong and what would be right.
pub fn check_path_name(name: &str) -> Result<(), String> {
    check_name(name)?;
    if name.contains('/') {
        return Err(format!("`{name}` contains a slash, which separates the parts of deployment/environment/resource"));
    }
    Ok(())
}

/// How many labels a thing may have.
///
/// # Errors
/// When there are too many.
pub fn check_label_count(count: usize) -> Result<(), String> {
    if count > LABELS_MAX {
        return Err(format!("has {count} labels, at most {LABELS_MAX} are allowed"));
    }
    Ok(())
}

/// The value of a label.
///
/// # Errors
/// When it is too long or contains NUL.
pub fn check_label_value(value: &str) -> Result<(), String> {
    if value.len() > LABEL_VALUE_BYTES_MAX {
        return Err(format!("is {} bytes long, at most {LABEL_VALUE_BYTES_MAX} are allowed", value.len()));
    }
    no_nul(value)
}

/// A description, reason or comment.
///
/// # Errors
/// When it is too long or contains NUL.
pub fn check_text(text: &str) -> Result<(), String> {
    if text.len() > MESSAGE_BYTES_MAX {
        return Err(format!("is {} bytes long, at most {MESSAGE_BYTES_MAX} are allowed", text.len()));
    }
    no_nul(text)
}

/// PostgreSQL keeps no NUL in text, so neither engine is given one.
fn no_nul(text: &str) -> Result<(), String> {
    if text.contains('\0') { Err("contains NUL".to_owned()) } else { Ok(()) }
}
