//! Applies a policy. Its rules' plugins and configurations were checked before (see rules.rs).

use std::sync::Arc;

use model::{
    event::{EventKind, Subject},
    id::{PolicyId, RuleId},
    policy::{Policy, Rule},
    wanted::{WantedPolicy, WantedRule},
};
use store::StoreError;

use super::{Applying, Change};

impl Applying<'_> {
    pub(super) async fn policy(&mut self, wanted: &WantedPolicy) -> Result<Change, StoreError> {
        let before = store::policy::by_name(&mut self.tx, self.caller.workspace, &wanted.name).await?;
        let id = before.as_ref().map_or_else(|| PolicyId(self.tx.new_id()), |before| before.id);
        let rules = self.rules(id, before.as_ref(), &wanted.rules);
        let next = Policy {
            id,
            workspace: self.caller.workspace,
            name: wanted.name.clone(),
            description: wanted.description.clone(),
            selector: wanted.selector.clone(),
            priority: wanted.priority,
            enabled: wanted.enabled,
            rules,
            metadata: wanted.metadata.clone(),
            created_at: before.as_ref().map_or(self.now, |before| before.created_at),
        };
        let (change, kind) = match &before {
            Some(before) if *before == next => return Ok(Change::Unchanged),
            Some(_) => {
                store::policy::update(&mut self.tx, &next).await?;
                (Change::Updated, EventKind::PolicyUpdated)
            }
            None => {
                store::policy::insert(&mut self.tx, &next).await?;
                (Change::Created, EventKind::PolicyCreated)
            }
        };
        self.replan_all = true;
        self.tell(kind, &next.name, Subject { policy: Some(next.id), ..Subject::default() }).await?;
        Ok(change)
    }

    /// A rule keeps its id and age when it is there unchanged, or else when one with its name is: a version that a
    /// rule holds must not slip through because the rule was edited.
    fn rules(&mut self, policy: PolicyId, before: Option<&Policy>, wanted: &[WantedRule]) -> Vec<Arc<Rule>> {
        let mut left: Vec<Arc<Rule>> = before.map_or_else(Vec::new, |before| before.rules.clone());
        let mut kept: Vec<Option<Arc<Rule>>> = vec![None; wanted.len()];
        for same in [unchanged as fn(&Rule, &WantedRule) -> bool, renamed_not] {
            for (kept, wanted) in kept.iter_mut().zip(wanted).filter(|(kept, _)| kept.is_none()) {
                if let Some(place) = left.iter().position(|rule| same(rule, wanted)) {
                    *kept = Some(left.remove(place));
                }
            }
        }
        kept.into_iter()
            .zip(wanted)
            .map(|(kept, wanted)| {
                Arc::new(Rule {
                    id: kept.as_ref().map_or_else(|| RuleId(self.tx.new_id()), |kept| kept.id),
                    policy,
                    created_at: kept.as_ref().map_or(self.now, |kept| kept.created_at),
                    key: wanted.key,
                    plugin: wanted.plugin.clone(),
                    config: wanted.config.clone(),
                    mode: wanted.mode,
                    on_error: wanted.on_error,
                    scope: wanted.scope,
                    any_of: wanted.any_of.clone(),
                    applies_to_first: wanted.applies_to_first,
                    order: wanted.order,
                })
            })
            .collect()
    }
}

fn unchanged(rule: &Rule, wanted: &WantedRule) -> bool {
    rule.key == wanted.key
        && rule.plugin == wanted.plugin
        && rule.config == wanted.config
        && rule.mode == wanted.mode
        && rule.on_error == wanted.on_error
        && rule.scope == wanted.scope
        && rule.any_of == wanted.any_of
        && rule.applies_to_first == wanted.applies_to_first
        && rule.order == wanted.order
}

fn renamed_not(rule: &Rule, wanted: &WantedRule) -> bool {
    rule.key == wanted.key && rule.plugin.name == wanted.plugin.name
}
