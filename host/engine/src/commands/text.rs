//! Checks what people write in commands, with the pointer of the field. What a name may be is the model's to say.

use model::{Labels, names, wanted::FieldError};

/// A name, tag or identifier.
pub fn name(pointer: &str, text: &str, errors: &mut Vec<FieldError>) {
    note(pointer, names::check_name(text), errors);
}

/// A reason, comment or description.
pub fn message(pointer: &str, text: &str, errors: &mut Vec<FieldError>) {
    note(pointer, names::check_text(text), errors);
}

/// Why somebody does what nobody does without a reason.
pub fn reason(pointer: &str, text: &str, errors: &mut Vec<FieldError>) {
    if text.trim().is_empty() {
        let message = "must say why, for those who read the trail later".to_owned();
        errors.push(FieldError { pointer: pointer.to_owned(), message });
    }
    message(pointer, text, errors);
}

/// Labels.
pub fn labels(pointer: &str, labels: &Labels, errors: &mut Vec<FieldError>) {
    note(pointer, names::check_label_count(labels.len()), errors);
    for (key, value) in labels {
        // A reference token of a JSON Pointer (RFC 6901 section 3).
        let pointer = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
        note(&pointer, names::check_name(key), errors);
        note(&pointer, names::check_label_value(value), errors);
    }
}

fn note(pointer: &str, checked: Result<(), String>, errors: &mut Vec<FieldError>) {
    if let Err(message) = checked {
        errors.push(FieldError { pointer: pointer.to_owned(), message });
    }
}
