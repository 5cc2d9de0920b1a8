//! The rules of a policy: each one key that names its plugin, and beside it how its answers count.

use model::{
    Json,
    limits::RULES_PER_POLICY_MAX,
    names::check_name,
    plugin::{PluginRef, Scope},
    policy::{OnError, Order, RuleKey, RuleMode},
    rollback::Rollback,
    wanted::{FieldError, WantedRule},
};
use semver::VersionReq;
use serde_json::Map;

use crate::fields::{Fields, escape, expected, list, unknown};

const MODES: &[&str] = &["enforce", "audit"];
const ON_ERROR: &[&str] = &["block", "allow"];
const SCOPES: &[&str] = &["target", "environment", "deployment", "system", "workspace"];
const ORDERS: &[&str] = &["newest", "queue"];

/// What any rule may say beside its key, and one that ships inside it as well.
const COMMON: [&str; 5] = ["mode", "onError", "scope", "anyOf", "appliesToFirst"];

/// Windows in which releases may start are joined by or, since one that is open is enough.
const WINDOWS: &str = "windows";

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
    let Some(object) = item.as_object() else {
        return Err(at(pointer, expected(&format!("a rule with one of {}", list(&keys)), item)));
    };
    let key = the_key(object, pointer)?;
    let mut fields = Fields::new(object, pointer);
    let beside = Common::read(&mut fields, true);
    let order = match key {
        RuleKey::ReleaseSequencing | RuleKey::Plugin => fields.word("order", Order::parse, ORDERS),
        RuleKey::AnyApproval
        | RuleKey::DeploymentWindow
        | RuleKey::VersionCooldown
        | RuleKey::VersionSelector
        | RuleKey::EnvironmentProgression
        | RuleKey::GradualRollout
        | RuleKey::DeploymentDependency
        | RuleKey::Retry
        | RuleKey::Verification
        | RuleKey::Rollback => None,
    };
    let inside = match fields.take(key.name()) {
        None => Map::new(),
        Some(Json::Object(inside)) => inside.clone(),
        Some(other) => {
            fields.error(key.name(), expected("an object", other));
            Map::new()
        }
    };
    let inner = fields.pointer_to(key.name());
    let (plugin, mut config, within) = match (key, key.shipped_plugin()) {
        (RuleKey::Plugin, _) => {
            let (plugin, config, errors) = own(&inside, &inner);
            fields.extend(errors);
            (plugin, config, Common::default())
        }
        (_, shipped) => {
            let (config, within, errors) = split(key, inside, &inner);
            fields.extend(errors);
            // Nothing looks at the plugin of a rollback, which is the planner's own.
            let name = shipped.unwrap_or(key.name()).to_owned();
            (PluginRef { name, range: VersionReq::STAR }, config, within)
        }
    };
    for (field, (here, there)) in COMMON.into_iter().zip(beside.said().into_iter().zip(within.said())) {
        if here && there {
            fields.error(field, format!("stands beside `{0}` and inside it, expected it once", key.name()));
        }
    }
    let common = beside.or(within);
    if key == RuleKey::Rollback {
        fields.extend(rollback(&common, &config, object, pointer));
    }
    let order = match key {
        RuleKey::ReleaseSequencing => sequence_order(order, &mut config, &mut fields),
        RuleKey::Plugin => order.unwrap_or(Order::Newest),
        RuleKey::AnyApproval
        | RuleKey::DeploymentWindow
        | RuleKey::VersionCooldown
        | RuleKey::VersionSelector
        | RuleKey::EnvironmentProgression
        | RuleKey::GradualRollout
        | RuleKey::DeploymentDependency
        | RuleKey::Retry
        | RuleKey::Verification
        | RuleKey::Rollback => Order::Newest,
    };
    let errors = fields.finish();
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(WantedRule {
        key,
        plugin,
        mode: common.mode.unwrap_or(RuleMode::Enforce),
        on_error: common.on_error.unwrap_or(OnError::Block),
        scope: common.scope,
        any_of: common.any_of.unwrap_or_else(|| group(key, &config)),
        applies_to_first: common.applies_to_first.unwrap_or_else(|| key.applies_to_first()),
        order,
        config,
    })
}

/// The one key that names a rule.
fn the_key(object: &Map<String, Json>, pointer: &str) -> Result<RuleKey, Vec<FieldError>> {
    let keys = RuleKey::ALL.map(RuleKey::name);
    let written: Vec<RuleKey> = RuleKey::ALL.into_iter().filter(|key| object.contains_key(key.name())).collect();
    match written.as_slice() {
        [key] => Ok(*key),
        // The likeliest slip is a misspelt key: say so of the key, not of the rule.
        [] => Err(match object.keys().find(|key| !COMMON.contains(&key.as_str()) && *key != "order") {
            Some(other) => at(&format!("{pointer}/{}", escape(other)), unknown("rule", other, &keys)),
            None => at(pointer, format!("names no rule, expected one of {}", list(&keys))),
        }),
        [first, second, ..] => {
            let (first, second) = (first.name(), second.name());
            Err(at(pointer, format!("has both `{first}` and `{second}`, expected one of them (make it two rules)")))
        }
    }
}

fn at(pointer: &str, message: String) -> Vec<FieldError> {
    vec![FieldError { pointer: pointer.to_owned(), message }]
}

/// What every rule may say, whatever its plugin.
#[derive(Default)]
struct Common {
    mode: Option<RuleMode>,
    on_error: Option<OnError>,
    scope: Option<Scope>,
    /// Null says something: that it is in no group, where it would be in one.
    any_of: Option<Option<String>>,
    applies_to_first: Option<bool>,
}

impl Common {
    fn read(fields: &mut Fields<'_>, mode: bool) -> Self {
        Self {
            mode: if mode { fields.word("mode", RuleMode::parse, MODES) } else { None },
            on_error: fields.word("onError", OnError::parse, ON_ERROR),
            scope: fields.word("scope", Scope::parse, SCOPES),
            any_of: fields.nullable_name("anyOf"),
            applies_to_first: fields.boolean("appliesToFirst"),
        }
    }

    /// Which of [`COMMON`] were said.
    const fn said(&self) -> [bool; COMMON.len()] {
        let Self { mode, on_error, scope, any_of, applies_to_first } = self;
        [mode.is_some(), on_error.is_some(), scope.is_some(), any_of.is_some(), applies_to_first.is_some()]
    }

    fn or(self, other: Self) -> Self {
        Self {
            mode: self.mode.or(other.mode),
            on_error: self.on_error.or(other.on_error),
            scope: self.scope.or(other.scope),
            any_of: self.any_of.or(other.any_of),
            applies_to_first: self.applies_to_first.or(other.applies_to_first),
        }
    }
}

/// The group of a rule that says nothing of it.
fn group(key: RuleKey, config: &Json) -> Option<String> {
    let allows = config.get("allowWindow") != Some(&Json::Bool(false));
    (key == RuleKey::DeploymentWindow && allows).then(|| WINDOWS.to_owned())
}

/// Which version goes next; the sequence that ships is told as well, so what stands beside it goes into its
/// configuration. Side by side every version goes, as in a queue.
fn sequence_order(beside: Option<Order>, config: &mut Json, fields: &mut Fields<'_>) -> Order {
    let parallel = config.get("mode").and_then(Json::as_str) == Some("parallel");
    let inside = config.get("order").and_then(Json::as_str).and_then(Order::parse);
    if let (Some(order), Some(config)) = (beside, config.as_object_mut()) {
        if config.contains_key("order") {
            let name = RuleKey::ReleaseSequencing.name();
            fields.error("order", format!("stands beside `{name}` and inside it, expected it once"));
        }
        config.insert("order".to_owned(), Json::String(order.name().to_owned()));
    }
    if parallel { Order::Queue } else { beside.or(inside).unwrap_or(Order::Newest) }
}

/// The configuration of a rollback is checked here, since no plugin does. It lets nothing pass and holds nothing back,
/// so what is said of rules that do means nothing of it.
fn rollback(common: &Common, config: &Json, object: &Map<String, Json>, pointer: &str) -> Vec<FieldError> {
    let inner = format!("{pointer}/{}", RuleKey::Rollback.name());
    let mut errors: Vec<FieldError> = Rollback::parse(config)
        .err()
        .unwrap_or_default()
        .into_iter()
        .map(|error| FieldError { pointer: format!("{inner}{}", error.path), message: error.message })
        .collect();
    for (field, _) in COMMON.into_iter().zip(common.said()).filter(|(field, said)| *said && *field != "mode") {
        let place = if object.contains_key(field) { pointer } else { &inner };
        let message = "means nothing for `rollback`, which is asked for no permission (expected it on other rules)";
        errors.push(FieldError { pointer: format!("{place}/{field}"), message: message.to_owned() });
    }
    errors
}

/// A rule that ships: its configuration, and what every rule may say if it stands inside. A sequence's `mode` is its
/// own (sequential or parallel); its `scope` is the rule's.
fn split(key: RuleKey, mut inside: Map<String, Json>, pointer: &str) -> (Json, Common, Vec<FieldError>) {
    let own_mode = key == RuleKey::ReleaseSequencing;
    let mut common = Map::new();
    for field in COMMON {
        if !(own_mode && field == "mode")
            && let Some(value) = inside.shift_remove(field)
        {
            common.insert(field.to_owned(), value);
        }
    }
    let mut fields = Fields::new(&common, pointer);
    let within = Common::read(&mut fields, !own_mode);
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
