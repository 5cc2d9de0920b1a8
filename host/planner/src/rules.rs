//! Which rules govern a target, in the order in which they are asked.

use std::{collections::HashMap, sync::Arc};

use model::{
    plugin::{Fault, FaultCode, Plugin, Scope},
    policy::{Order, Policy, Rule, RuleKey, RuleMode},
    release_target::ReleaseTarget,
    rollback::Rollback,
    snapshot::Snapshot,
};

use crate::matching::PolicySelector;

/// The rules of a target: policy priority high to low, then policy name, then position.
#[derive(Debug)]
pub struct RuleSet {
    pub rules: Vec<GoverningRule>,
}

/// One rule and who answers for it.
#[derive(Debug, Clone)]
pub struct GoverningRule {
    pub policy: Arc<Policy>,
    pub rule: Arc<Rule>,
    pub by: Governor,
}

/// Who answers for a rule.
#[derive(Debug, Clone)]
pub enum Governor {
    Plugin(Arc<Plugin>),
    /// The planner itself.
    Planner(Rollback),
    /// Nobody can: the plugin is missing or the policy's selector failed. The rule is then taken as a gate.
    Nobody(Fault),
}

impl RuleSet {
    /// In the order in which they are asked: those that want to know the target's place in a rollout last.
    pub fn gates(&self) -> impl Iterator<Item = &GoverningRule> {
        let gates = || self.rules.iter().filter(|rule| rule.is_gate());
        gates().filter(|rule| !rule.is_rollout()).chain(gates().filter(|rule| rule.is_rollout()))
    }

    pub fn retries(&self) -> impl Iterator<Item = (&GoverningRule, &Arc<Plugin>)> {
        self.with_plugin().filter(|(_, plugin)| plugin.manifest.hooks.retry)
    }

    pub fn sequences(&self) -> impl Iterator<Item = (&GoverningRule, &Arc<Plugin>)> {
        self.with_plugin().filter(|(_, plugin)| plugin.manifest.hooks.sequence)
    }

    pub fn verifications(&self) -> impl Iterator<Item = (&GoverningRule, &Arc<Plugin>)> {
        self.with_plugin().filter(|(_, plugin)| plugin.manifest.hooks.verify)
    }

    /// What rollback rules that are enforced say together: any may send back, and the narrowest window counts.
    pub fn rollback(&self) -> Option<Rollback> {
        let rules = self.rules.iter().filter(|rule| rule.rule.mode == RuleMode::Enforce);
        let rules = rules.filter_map(|rule| match &rule.by {
            Governor::Planner(rollback) => Some(*rollback),
            Governor::Plugin(_) | Governor::Nobody(_) => None,
        });
        rules.reduce(|one, other| Rollback {
            on_verification_failed: one.on_verification_failed || other.on_verification_failed,
            on_job_failed: one.on_job_failed || other.on_job_failed,
            window: one.window.min(other.window),
        })
    }

    /// Whether a sequence wants every version that may go, oldest first.
    pub fn is_queue(&self) -> bool {
        let enforced = |rule: &GoverningRule| rule.rule.mode == RuleMode::Enforce;
        self.sequences().any(|(rule, _)| enforced(rule) && rule.rule.order == Order::Queue)
    }

    fn with_plugin(&self) -> impl Iterator<Item = (&GoverningRule, &Arc<Plugin>)> {
        self.rules.iter().filter_map(|rule| match &rule.by {
            Governor::Plugin(plugin) => Some((rule, plugin)),
            Governor::Planner(_) | Governor::Nobody(_) => None,
        })
    }
}

impl GoverningRule {
    fn is_gate(&self) -> bool {
        match &self.by {
            Governor::Plugin(plugin) => plugin.manifest.hooks.gate,
            Governor::Planner(_) => false,
            Governor::Nobody(_) => self.rule.key != RuleKey::Rollback,
        }
    }

    /// Whether it wants to know the target's place in a rollout.
    pub fn is_rollout(&self) -> bool {
        match &self.by {
            Governor::Plugin(plugin) => plugin.manifest.facts.rollout_position,
            Governor::Planner(_) | Governor::Nobody(_) => false,
        }
    }

    /// How far one answer reaches: the rule's own word, else its plugin's. That nobody can answer holds for this
    /// target alone: next to it the policy's selector may well work, and neither may stand in for the other.
    pub fn scope(&self) -> Scope {
        match &self.by {
            Governor::Plugin(plugin) => self.rule.scope.unwrap_or(plugin.manifest.scope),
            Governor::Planner(_) | Governor::Nobody(_) => Scope::Target,
        }
    }
}

/// Finds the rules of targets; those that the same policies match share one set.
pub struct RuleBook {
    policies: Vec<(Arc<Policy>, PolicySelector, Vec<GoverningRule>)>,
    sets: HashMap<Vec<Matched>, Arc<RuleSet>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Matched {
    No,
    Yes,
    /// The selector failed, with this message.
    Failed(String),
}

impl RuleBook {
    pub fn new(snapshot: &Snapshot) -> Self {
        let policies = snapshot
            .policies
            .iter()
            .map(|policy| {
                let rules = policy
                    .rules
                    .iter()
                    .map(|rule| GoverningRule {
                        policy: Arc::clone(policy),
                        rule: Arc::clone(rule),
                        by: governor(rule, &snapshot.plugins),
                    })
                    .collect();
                (Arc::clone(policy), PolicySelector::parse(&policy.selector), rules)
            })
            .collect();
        Self { policies, sets: HashMap::new() }
    }

    pub fn of(&mut self, target: &ReleaseTarget) -> Arc<RuleSet> {
        let matched: Vec<Matched> = self
            .policies
            .iter()
            .map(|(_, selector, _)| match selector.matches(target) {
                Ok(true) => Matched::Yes,
                Ok(false) => Matched::No,
                Err(message) => Matched::Failed(message),
            })
            .collect();
        if let Some(set) = self.sets.get(&matched) {
            return Arc::clone(set);
        }
        let mut rules = Vec::new();
        for ((policy, _, of_policy), matched) in self.policies.iter().zip(&matched) {
            match matched {
                Matched::No => {}
                Matched::Yes => rules.extend(of_policy.iter().cloned()),
                Matched::Failed(message) => rules.extend(of_policy.iter().map(|rule| GoverningRule {
                    by: Governor::Nobody(Fault {
                        code: FaultCode::SelectorError,
                        message: format!("the selector of policy `{}` failed here: {message}", policy.name),
                    }),
                    ..rule.clone()
                })),
            }
        }
        let set = Arc::new(RuleSet { rules });
        self.sets.insert(matched, Arc::clone(&set));
        set
    }
}

fn governor(rule: &Rule, plugins: &[Arc<Plugin>]) -> Governor {
    if rule.key == RuleKey::Rollback {
        // Checked when it was saved; one that cannot be read sends nothing back.
        let never = Rollback { on_verification_failed: false, on_job_failed: false, window: 0 };
        return Governor::Planner(Rollback::parse(&rule.config).unwrap_or(never));
    }
    let found = rule.plugin.resolve(plugins.iter().map(Arc::as_ref));
    match found.and_then(|found| plugins.iter().find(|plugin| plugin.id == found.id)) {
        Some(plugin) => Governor::Plugin(Arc::clone(plugin)),
        None => Governor::Nobody(Fault {
            code: FaultCode::PluginMissing,
            message: format!("there is no plugin `{}` in this workspace", rule.plugin),
        }),
    }
}
