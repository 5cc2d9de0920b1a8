//! What a name may be.

use model::limits::{LABEL_VALUE_BYTES_MAX, MESSAGE_BYTES_MAX, NAME_BYTES_MAX};

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

/// The value of a label.
///
/// # Errors
/// When it is too long.
pub fn check_label_value(value: &str) -> Result<(), String> {
    if value.len() > LABEL_VALUE_BYTES_MAX {
        return Err(format!("is {} bytes long, at most {LABEL_VALUE_BYTES_MAX} are allowed", value.len()));
    }
    Ok(())
}

/// A description.
///
/// # Errors
/// When it is too long.
pub fn check_text(text: &str) -> Result<(), String> {
    if text.len() > MESSAGE_BYTES_MAX {
        return Err(format!("is {} bytes long, at most {MESSAGE_BYTES_MAX} are allowed", text.len()));
    }
    Ok(())
}
