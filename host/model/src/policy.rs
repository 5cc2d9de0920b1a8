//! Policies and their rules. A rule is one plugin with one configuration; but for `rollback` the host has no rules of
//! its own.

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
    /// `deploymentWindow`
    DeploymentWindow,
    /// `versionCooldown`
    VersionCooldown,
    /// `versionSelector`
    VersionSelector,
    /// `environmentProgression`
    EnvironmentProgression,
    /// `gradualRollout`
    GradualRollout,
    /// `deploymentDependency`
    DeploymentDependency,
    /// `releaseSequencing`
    ReleaseSequencing,
    /// `retry`
    Retry,
    /// `verification`
    Verification,
    /// `rollback`
    Rollback,
    /// `plugin`
    Plugin,
}

impl RuleKey {
    /// Every key.
    pub const ALL: [Self; 12] = [
        Self::AnyApproval,
        Self::DeploymentWindow,
        Self::VersionCooldown,
        Self::VersionSelector,
        Self::EnvironmentProgression,
        Self::GradualRollout,
        Self::DeploymentDependency,
        Self::ReleaseSequencing,
        Self::Retry,
        Self::Verification,
        Self::Rollback,
        Self::Plugin,
    ];

    /// The key as it is written in a policy.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AnyApproval => "anyApproval",
            Self::DeploymentWindow => "deploymentWindow",
            Self::VersionCooldown => "versionCooldown",
            Self::VersionSelector => "versionSelector",
            Self::EnvironmentProgression => "environmentProgression",
            Self::GradualRollout => "gradualRollout",
            Self::DeploymentDependency => "deploymentDependency",
            Self::ReleaseSequencing => "releaseSequencing",
            Self::Retry => "retry",
            Self::Verification => "verification",
            Self::Rollback => "rollback",
            Self::Plugin => "plugin",
        }
    }

    /// The key of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name() == name)
    }

    /// The plugin behind a key that ships; `None` for `plugin`, which names its own, and for `rollback`, which is the
    /// planner's.
    #[must_use]
    pub const fn shipped_plugin(self) -> Option<&'static str> {
        match self {
            Self::AnyApproval => Some("approval"),
            Self::DeploymentWindow => Some("window"),
            Self::VersionCooldown => Some("cooldown"),
            Self::VersionSelector => Some("version-selector"),
            Self::EnvironmentProgression => Some("environment-progression"),
            Self::GradualRollout => Some("gradual-rollout"),
            Self::DeploymentDependency => Some("dependency"),
            Self::ReleaseSequencing => Some("sequence"),
            Self::Retry => Some("retry"),
            Self::Verification => Some("verification"),
            Self::Rollback | Self::Plugin => None,
        }
    }

    /// Whether such a rule holds a target that runs nothing yet, unless it says `appliesToFirst`: a new cluster must
    /// not wait for Monday.
    #[must_use]
    pub const fn applies_to_first(self) -> bool {
        match self {
            Self::DeploymentWindow | Self::VersionCooldown | Self::GradualRollout => false,
            Self::AnyApproval
            | Self::VersionSelector
            | Self::EnvironmentProgression
            | Self::DeploymentDependency
            | Self::ReleaseSequencing
            | Self::Retry
            | Self::Verification
            | Self::Rollback
            | Self::Plugin => true,
        }
    }
}

/// Which of several versions that may go to a target goes next, as far as a sequence rule is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// The newest; older ones are superseded.
    Newest,
    /// Every one that is newer than the last started, oldest first.
    Queue,
}

impl Order {
    /// The name in the API and in the store.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::Queue => "queue",
        }
    }

    /// The order of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Newest, Self::Queue].into_iter().find(|order| order.name() == name)
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
    /// Which plugin. For `rollback` there is none, and nothing looks at this.
    pub plugin: PluginRef,
    /// What it is told.
    pub config: Json,
    /// Whether its answers count.
    pub mode: RuleMode,
    /// What it means when it cannot answer.
    pub on_error: OnError,
    /// In place of the plugin's own scope.
    pub scope: Option<Scope>,
    /// Joined by or with the rules of its targets that have the same; without it, by and.
    pub any_of: Option<String>,
    /// Whether it holds a target that runs nothing yet.
    pub applies_to_first: bool,
    /// For a sequence: which of several versions goes next.
    pub order: Order,
}

impl Rule {
    /// How people call the rule: its key, or its plugin's name.
    #[must_use]
    pub fn label(&self) -> &str {
        match self.key {
            RuleKey::Plugin => &self.plugin.name,
            RuleKey::AnyApproval
            | RuleKey::DeploymentWindow
            | RuleKey::VersionCooldown
            | RuleKey::VersionSelector
            | RuleKey::EnvironmentProgression
            | RuleKey::GradualRollout
            | RuleKey::DeploymentDependency
            | RuleKey::ReleaseSequencing
            | RuleKey::Retry
            | RuleKey::Verification
            | RuleKey::Rollback => self.key.name(),
        }
    }
}
