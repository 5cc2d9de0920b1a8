//! Policies and their rules. A rule is one plugin with one configuration; the host has no rules of its own.

use crate::{
    Json, Labels,
    id::{PolicyId, RuleId, WorkspaceId},
    plugin::{PluginRef, Scope},
    time::Timestamp,
};

/// A set of rules for the targets that its selector matches.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// Its id.
    pub id: PolicyId,
    /// Its workspace.
    pub workspace: WorkspaceId,
    /// Its name, unique in the workspace.
    pub name: String,
    /// For people.
    pub description: String,
    /// CEL over `deployment`, `environment` and `resource`. One that fails to evaluate blocks.
    pub selector: String,
    /// High ones are asked first.
    pub priority: i64,
    /// A disabled one has no effect.
    pub enabled: bool,
    /// In order.
    pub rules: Vec<std::sync::Arc<Rule>>,
    /// Labels.
    pub metadata: Labels,
    /// When it was made.
    pub created_at: Timestamp,
}

/// The key under which a rule is written, for the plugins that ship; any other is written `plugin:`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RuleKey {
    /// `anyApproval`
    AnyApproval,
    /// `retry`
    Retry,
    /// `releaseSequencing`
    ReleaseSequencing,
    /// `plugin`
    Plugin,
}

impl RuleKey {
    /// Every key.
    pub const ALL: [Self; 4] = [Self::AnyApproval, Self::Retry, Self::ReleaseSequencing, Self::Plugin];

    /// The key as it is written in a policy.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AnyApproval => "anyApproval",
            Self::Retry => "retry",
            Self::ReleaseSequencing => "releaseSequencing",
            Self::Plugin => "plugin",
        }
    }

    /// The key of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name() == name)
    }

    /// The plugin behind a key that ships; `None` for `plugin`, which names its own.
    #[must_use]
    pub const fn shipped_plugin(self) -> Option<&'static str> {
        match self {
            Self::AnyApproval => Some("approval"),
            Self::Retry => Some("retry"),
            Self::ReleaseSequencing => Some("sequence"),
            Self::Plugin => None,
        }
    }
}

/// Whether a rule's answers count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RuleMode {
    /// They do.
    Enforce,
    /// It is asked and recorded, and changes nothing.
    Audit,
}

impl RuleMode {
    /// The name in the API and in the store.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Enforce => "enforce",
            Self::Audit => "audit",
        }
    }

    /// The mode of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Enforce, Self::Audit].into_iter().find(|mode| mode.name() == name)
    }
}

/// What a rule that cannot answer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OnError {
    /// Fail closed.
    Block,
    /// Fail open, and show it.
    Allow,
}

impl OnError {
    /// The name in the API and in the store.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Allow => "allow",
        }
    }

    /// The value of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Block, Self::Allow].into_iter().find(|on_error| on_error.name() == name)
    }
}

/// One plugin with one configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Kept while the rule's key and configuration stay the same.
    pub id: RuleId,
    /// The policy it belongs to.
    pub policy: PolicyId,
    /// When it was made; a version made before may pass by that.
    pub created_at: Timestamp,
    /// The key it was written under.
    pub key: RuleKey,
    /// Which plugin.
    pub plugin: PluginRef,
    /// What it is told.
    pub config: Json,
    /// Whether its answers count.
    pub mode: RuleMode,
    /// What it means when it cannot answer.
    pub on_error: OnError,
    /// In place of the plugin's own scope.
    pub scope: Option<Scope>,
}

impl Rule {
    /// How people call the rule: its key, or its plugin's name.
    #[must_use]
    pub fn label(&self) -> &str {
        match self.key {
            RuleKey::Plugin => &self.plugin.name,
            RuleKey::AnyApproval | RuleKey::Retry | RuleKey::ReleaseSequencing => self.key.name(),
        }
    }
}
