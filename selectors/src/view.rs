//! What a selector may look at, borrowed from the host's own things: no map is built of a resource until an expression
//! asks for one as a whole.

use std::{collections::BTreeMap, fmt, sync::OnceLock};

use cel::{
    ExecutionError,
    common::{
        traits::{Container, Indexer, Iterable, Iterator as CelIterator, Sizer, Zeroer},
        types::{
            CelBool, CelDouble, CelInt, CelList, CelMap, CelMapKey, CelNull, CelString, CelTimestamp, CelUInt, Type,
        },
        value::{BuiltinRef, CowVal, Val},
    },
    context::VariableResolver,
};
use serde_json::Value as Json;
use uuid::Uuid;

/// A resource.
#[derive(Debug, Clone, Copy)]
pub struct ResourceView<'a> {
    /// `resource.id`
    pub id: Uuid,
    /// `resource.identifier`
    pub identifier: &'a str,
    /// `resource.name`
    pub name: &'a str,
    /// `resource.kind`
    pub kind: &'a str,
    /// `resource.version`
    pub version: &'a str,
    /// `resource.metadata`
    pub metadata: &'a BTreeMap<String, String>,
    /// `resource.config`
    pub config: &'a Json,
}

/// A deployment or an environment.
#[derive(Debug, Clone, Copy)]
pub struct NamedView<'a> {
    /// `deployment.id`
    pub id: Uuid,
    /// `deployment.name`
    pub name: &'a str,
    /// `deployment.metadata`
    pub metadata: &'a BTreeMap<String, String>,
}

/// A version.
#[derive(Debug, Clone, Copy)]
pub struct VersionView<'a> {
    /// `version.id`
    pub id: Uuid,
    /// `version.tag`
    pub tag: &'a str,
    /// `version.name`
    pub name: &'a str,
    /// `version.status`
    pub status: &'a str,
    /// `version.metadata`
    pub metadata: &'a BTreeMap<String, String>,
    /// `version.config`
    pub config: &'a Json,
    /// `version.createdAt`, milliseconds since 1970; a timestamp in CEL.
    pub created_at_millis: i64,
    /// `version.createdBy`; absent when nobody is known.
    pub created_by: Option<&'a str>,
}

/// The variables of one evaluation.
#[derive(Debug, Default)]
pub struct Bindings<'a> {
    deployment: Option<Record<'a>>,
    environment: Option<Record<'a>>,
    resource: Option<Record<'a>>,
    version: Option<Record<'a>>,
}

impl<'a> Bindings<'a> {
    /// For the selector of a deployment or an environment.
    #[must_use]
    pub fn of_resource(resource: ResourceView<'a>) -> Self {
        Self { resource: Some(Record::new(Source::Resource(resource))), ..Self::default() }
    }

    /// For the selector of a policy.
    #[must_use]
    pub fn of_target(deployment: NamedView<'a>, environment: NamedView<'a>, resource: ResourceView<'a>) -> Self {
        Self {
            deployment: Some(Record::new(Source::Named(deployment))),
            environment: Some(Record::new(Source::Named(environment))),
            resource: Some(Record::new(Source::Resource(resource))),
            version: None,
        }
    }

    /// The same with a version, for a version selector.
    #[must_use]
    pub fn with_version(self, version: VersionView<'a>) -> Self {
        Self { version: Some(Record::new(Source::Version(version))), ..self }
    }
}

impl VariableResolver for Bindings<'_> {
    fn resolve<'b>(&'b self, variable: &str) -> Option<CowVal<'b, 'b>> {
        let record = match variable {
            "deployment" => &self.deployment,
            "environment" => &self.environment,
            "resource" => &self.resource,
            "version" => &self.version,
            _ => return None,
        };
        record.as_ref().map(|record| CowVal::Borrowed(record))
    }
}

/// Fields of each variable. [`Source::field`] answers for exactly these; a test compares the two.
pub(crate) const RESOURCE_FIELDS: &[&str] = &["id", "identifier", "name", "kind", "version", "metadata", "config"];
pub(crate) const NAMED_FIELDS: &[&str] = &["id", "name", "metadata"];
pub(crate) const VERSION_FIELDS: &[&str] =
    &["id", "tag", "name", "status", "metadata", "config", "createdAt", "createdBy"];

/// Where a map's entries come from.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    Resource(ResourceView<'a>),
    Named(NamedView<'a>),
    Version(VersionView<'a>),
    Labels(&'a BTreeMap<String, String>),
    Object(&'a serde_json::Map<String, Json>),
}

impl<'a> Source<'a> {
    /// The value under a key, made when it is asked for.
    pub(crate) fn field(self, key: &str) -> Option<Box<dyn Val + 'a>> {
        match self {
            Self::Resource(resource) => match key {
                "id" => Some(id(resource.id)),
                "identifier" => Some(string(resource.identifier)),
                "name" => Some(string(resource.name)),
                "kind" => Some(string(resource.kind)),
                "version" => Some(string(resource.version)),
                "metadata" => Some(labels(resource.metadata)),
                "config" => Some(json(resource.config)),
                _ => None,
            },
            Self::Named(named) => match key {
                "id" => Some(id(named.id)),
                "name" => Some(string(named.name)),
                "metadata" => Some(labels(named.metadata)),
                _ => None,
            },
            Self::Version(version) => match key {
                "id" => Some(id(version.id)),
                "tag" => Some(string(version.tag)),
                "name" => Some(string(version.name)),
                "status" => Some(string(version.status)),
                "metadata" => Some(labels(version.metadata)),
                "config" => Some(json(version.config)),
                "createdAt" => timestamp(version.created_at_millis),
                "createdBy" => version.created_by.map(string),
                _ => None,
            },
            Self::Labels(labels) => labels.get(key).map(|value| string(value)),
            Self::Object(object) => object.get(key).map(json),
        }
    }

    fn keys(self) -> Vec<&'a str> {
        match self {
            Self::Resource(_) => RESOURCE_FIELDS.to_vec(),
            Self::Named(_) => NAMED_FIELDS.to_vec(),
            Self::Version(_) => VERSION_FIELDS.to_vec(),
            Self::Labels(labels) => labels.keys().map(String::as_str).collect(),
            Self::Object(object) => object.keys().map(String::as_str).collect(),
        }
    }
}

/// A map in CEL whose entries are looked up in what it borrows.
pub(crate) struct Record<'a> {
    source: Source<'a>,
    /// All entries, for the few expressions that compare, count or walk them.
    whole: OnceLock<CelMap<'a>>,
}

impl<'a> Record<'a> {
    pub(crate) fn new(source: Source<'a>) -> Self {
        Self { source, whole: OnceLock::new() }
    }

    fn whole(&self) -> &CelMap<'a> {
        self.whole.get_or_init(|| {
            let entries = self.source.keys().into_iter().filter_map(|key| {
                let value = self.source.field(key)?;
                Some((CelMapKey::String(CelString::from(key)), value))
            });
            CelMap::from(entries.collect::<std::collections::HashMap<_, _>>())
        })
    }
}

impl fmt::Debug for Record<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.source.keys()).finish()
    }
}

impl Val for Record<'_> {
    fn get_type(&self) -> &Type {
        <Self as Val>::cel_type()
    }

    fn cel_type() -> &'static Type {
        &cel::common::types::MAP_TYPE
    }

    fn as_container(&self) -> Option<&dyn Container> {
        Some(self)
    }

    fn as_indexer<'b, 'v>(&'b self) -> Option<&'b (dyn Indexer + 'v)>
    where
        Self: 'v,
    {
        Some(self)
    }

    // An owned map is taken apart this way.
    fn into_indexer<'v>(self: Box<Self>) -> Option<Box<dyn Indexer + 'v>>
    where
        Self: 'v,
    {
        Some(self)
    }

    fn as_iterable<'b, 'v>(&'b self) -> Option<&'b (dyn Iterable + 'v)>
    where
        Self: 'v,
    {
        Some(self)
    }

    fn as_sizer(&self) -> Option<&dyn Sizer> {
        Some(self)
    }

    fn as_zeroer(&self) -> Option<&dyn Zeroer> {
        Some(self)
    }

    fn equals(&self, other: &dyn Val) -> bool {
        self.whole().equals(other)
    }

    fn clone_as_boxed<'v>(&self) -> Box<dyn Val + 'v>
    where
        Self: 'v,
    {
        Box::new(Record::new(self.source))
    }

    // What compares with a map, or copies one out, sees this as the map it stands for.
    fn as_builtin<'b, 'v>(&'b self) -> BuiltinRef<'b, 'v>
    where
        Self: 'v,
    {
        BuiltinRef::Map(self.whole())
    }
}

impl Container for Record<'_> {
    fn contains(&self, value: &dyn Val) -> Result<bool, ExecutionError> {
        match value.downcast_ref::<CelString<'_>>() {
            Some(key) => Ok(self.source.field(key.inner()).is_some()),
            None => self.whole().contains(value),
        }
    }
}

impl Indexer for Record<'_> {
    fn get<'b, 'v>(&'b self, index: &dyn Val) -> Result<CowVal<'b, 'v>, ExecutionError>
    where
        Self: 'v,
    {
        match index.downcast_ref::<CelString<'_>>() {
            Some(key) => match self.source.field(key.inner()) {
                Some(value) => Ok(CowVal::Owned(value)),
                None => Err(ExecutionError::no_such_key(key.inner())),
            },
            None => self.whole().get(index),
        }
    }

    fn steal<'v>(self: Box<Self>, index: &dyn Val) -> Result<Box<dyn Val + 'v>, ExecutionError>
    where
        Self: 'v,
    {
        self.get(index).map(CowVal::into_owned)
    }
}

impl Iterable for Record<'_> {
    fn iter<'b, 'v>(&'b self) -> Box<dyn CelIterator<'b, 'v> + 'b>
    where
        Self: 'v,
    {
        self.whole().iter()
    }
}

impl Sizer for Record<'_> {
    fn size(&self) -> CelInt {
        self.whole().size()
    }
}

impl Zeroer for Record<'_> {
    fn is_zero_value(&self) -> bool {
        self.whole().is_empty()
    }
}

/// A JSON value as CEL sees it: whole numbers are `int` (or `uint` beyond its range), others `double`.
pub(crate) fn json(value: &Json) -> Box<dyn Val + '_> {
    match value {
        Json::Null => Box::new(CelNull),
        Json::Bool(value) => Box::new(CelBool::from(*value)),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(int), _) => Box::new(CelInt::from(int)),
            (None, Some(uint)) => Box::new(CelUInt::from(uint)),
            (None, None) => Box::new(CelDouble::from(number.as_f64().unwrap_or(f64::NAN))),
        },
        Json::String(value) => string(value),
        Json::Array(items) => Box::new(CelList::from(items.iter().map(json).collect::<Vec<_>>())),
        Json::Object(object) => Box::new(Record::new(Source::Object(object))),
    }
}

fn string<'a>(value: &'a str) -> Box<dyn Val + 'a> {
    Box::new(CelString::from(value))
}

fn id<'a>(value: Uuid) -> Box<dyn Val + 'a> {
    Box::new(CelString::from(value.to_string()))
}

fn labels<'a>(value: &'a BTreeMap<String, String>) -> Box<dyn Val + 'a> {
    Box::new(Record::new(Source::Labels(value)))
}

/// Absent where the calendar ends, which no real version reaches.
fn timestamp<'a>(millis: i64) -> Option<Box<dyn Val + 'a>> {
    let instant = chrono::DateTime::from_timestamp_millis(millis)?;
    Some(Box::new(CelTimestamp::from(instant.fixed_offset())))
}
