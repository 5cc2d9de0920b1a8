//! The rules of a policy: each one key that names its plugin, and beside it how its answers count.

use model::{
    Json,
    limits::RULES_PER_POLICY_MAX,
    names::check_name,
    plugin::{PluginRef, Scope},
    policy::{OnError, RuleKey, RuleMode},
    wanted::{FieldError, WantedRule},
};
use semver::VersionReq;
use serde_json::Map;

use crate::fields::{Fields, expected, list, unknown};

const MODES: &[&str] = &["enforce", "audit"];
const ON_ERROR: &[&str] = &["block", "allow"];
const SCOPES: &[&str] = &["target", "environment", "deployment", "system", "workspace"];

/// The `rules` of a policy.
pub(crate) fn rules(fields: &mut Fields<'_>) -> Vec<WantedRule> {
    let Some(value) = fields.take("rules") else { return Vec::new() };
    let Some(items) = value.as_array() else {
        fields.error("rules", expected("a list of rules", value));
        return Vec::new();
    };
    if items.len() > RULES_PER_POLICY_MAX {
        fields.error("rules", format!("has {} rules, at most {RULES_PER_POLICY_MAX} are allowed", items.len()));
        return Vec::new();
    }
    let pointer = fields.pointer_to("rules");
    let mut rules = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        match rule(item, &format!("{pointer}/{index}")) {
            Ok(rule) => rules.push(rule),
            Err(errors) => fields.extend(errors),
        }
    }
    rules
}

fn rule(item: &Json, pointer: &str) -> Result<WantedRule, Vec<FieldError>> {
    let keys = RuleKey::ALL.map(RuleKey::name);
    let at = |pointer: &str, message: String| vec![FieldError { pointer: pointer.to_owned(), message }];
    let Some(object) = item.as_object() else {
        return Err(at(pointer, expected(&format!("a rule with one of {}", list(&keys)), item)));
    };
    let written: Vec<RuleKey> = RuleKey::ALL.into_iter().filter(|key| object.contains_key(key.name())).collect();
    let key = match written.as_slice() {
        [key] => *key,
        [] => {
            // The likeliest slip is a misspelt key: say so of the key, not of the rule.
            let beside = ["mode", "onError", "scope"];
            return Err(match object.keys().find(|key| !beside.contains(&key.as_str())) {
                Some(other) => {
                    let pointer = format!("{pointer}/{}", crate::fields::escape(other));
                    at(&pointer, unknown("rule", other, &keys))
                }
                None => at(pointer, format!("names no rule, expected one of {}", list(&keys))),
            });
        }
        [first, second, ..] => {
            let message = format!(
                "has both `{}` and `{}`, expected one of them (make it two rules)",
                first.name(),
                second.name()
            );
            return Err(at(pointer, message));
        }
    };
    let mut fields = Fields::new(object, pointer);
    let beside = Beside::read(&mut fields, true, true);
    let inside = match fields.take(key.name()) {
        None => Some(Map::new()),
        Some(Json::Object(inside)) => Some(inside.clone()),
        Some(other) => {
            fields.error(key.name(), expected("an object", other));
            None
        }
    };
    let inside = inside.unwrap_or_default();
    let inner = fields.pointer_to(key.name());
    let (plugin, config, within) = match key.shipped_plugin() {
        Some(name) => {
            let (config, within, errors) = shipped(key, inside, &inner);
            fields.extend(errors);
            (PluginRef { name: name.to_owned(), range: VersionReq::STAR }, config, within)
        }
        None => {
            let (plugin, config, errors) = own(&inside, &inner);
            fields.extend(errors);
            (plugin, config, Beside::default())
        }
    };
    for (field, twice) in [
        ("mode", beside.mode.is_some() && within.mode.is_some()),
        ("onError", beside.on_error.is_some() && within.on_error.is_some()),
        ("scope", beside.scope.is_some() && within.scope.is_some()),
    ] {
        if twice {
            fields.error(field, format!("stands beside `{0}` and inside it, expected it once", key.name()));
        }
    }
    let errors = fields.finish();
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(WantedRule {
        key,
        plugin,
        config,
        mode: beside.mode.or(within.mode).unwrap_or(RuleMode::Enforce),
        on_error: beside.on_error.or(within.on_error).unwrap_or(OnError::Block),
        scope: beside.scope.or(within.scope),
    })
}

/// What every rule may say, whatever its plugin.
#[derive(Default)]
struct Beside {
    mode: Option<RuleMode>,
    on_error: Option<OnError>,
    scope: Option<Scope>,
}

impl Beside {
    fn read(fields: &mut Fields<'_>, mode: bool, scope: bool) -> Self {
        Self {
            mode: if mode { fields.word("mode", RuleMode::parse, MODES) } else { None },
            on_error: fields.word("onError", OnError::parse, ON_ERROR),
            scope: if scope { fields.word("scope", Scope::parse, SCOPES) } else { None },
        }
    }
}

/// A shipped rule: its configuration, and what every rule may say if it stands inside. A sequence's `mode` is its own
/// (sequential or parallel); its `scope` is the rule's.
fn shipped(key: RuleKey, mut inside: Map<String, Json>, pointer: &str) -> (Json, Beside, Vec<FieldError>) {
    let own_mode = key == RuleKey::ReleaseSequencing;
    let mut common = Map::new();
    for field in ["mode", "onError", "scope"] {
        if !(own_mode && field == "mode")
            && let Some(value) = inside.shift_remove(field)
        {
            common.insert(field.to_owned(), value);
        }
    }
    let mut fields = Fields::new(&common, pointer);
    let within = Beside::read(&mut fields, !own_mode, true);
    (Json::Object(inside), within, fields.finish())
}

/// `plugin: {name, version, config}`.
fn own(inside: &Map<String, Json>, pointer: &str) -> (PluginRef, Json, Vec<FieldError>) {
    let mut fields = Fields::new(inside, pointer);
    let name = fields.name("name", check_name);
    let range = match fields.string("version") {
        None => VersionReq::STAR,
        Some(text) => VersionReq::parse(text).unwrap_or_else(|error| {
            fields
                .error("version", format!("`{text}` is not a range of versions such as `^1.2` or `=1.2.3` ({error})"));
            VersionReq::STAR
        }),
    };
    let config = fields.config("config");
    (PluginRef { name, range }, config, fields.finish())
}
