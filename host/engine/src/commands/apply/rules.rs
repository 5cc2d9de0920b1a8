//! Checks rules before they are saved: the plugin is there, rules on what the rule is for, and takes its configuration.
//!
//! This asks plugins, so it runs before the transaction of the apply. A plugin that disappears in between is met as
//! missing by the next pass, and blocks.

use std::sync::Arc;

use model::{
    id::WorkspaceId,
    plugin::{Plugin, Scope},
    policy::RuleKey,
    wanted::{FieldError, Wanted, WantedRule},
};

use crate::{CommandError, Engine};

impl Engine {
    pub(super) async fn check_rules(
        &self,
        workspace: WorkspaceId,
        wanted: &[Wanted],
        errors: &mut Vec<FieldError>,
    ) -> Result<(), CommandError> {
        if !wanted.iter().any(|wanted| matches!(wanted, Wanted::Policy(policy) if !policy.rules.is_empty())) {
            return Ok(());
        }
        let mut tx = self.store.read("command.check_rules").await?;
        let plugins: Vec<Arc<Plugin>> =
            store::plugin::all(&mut tx, workspace).await?.into_iter().map(Arc::new).collect();
        drop(tx);
        for (document, wanted) in wanted.iter().enumerate() {
            let Wanted::Policy(policy) = wanted else { continue };
            // The planner's own rule has no plugin to ask; its configuration was read with the document.
            let rules = policy.rules.iter().enumerate().filter(|(_, rule)| rule.key != RuleKey::Rollback);
            for (index, rule) in rules {
                let at = format!("/documents/{document}/rules/{index}/{}", rule.key.name());
                self.check_rule(&at, rule, &plugins, errors).await;
            }
        }
        Ok(())
    }

    async fn check_rule(&self, at: &str, rule: &WantedRule, plugins: &[Arc<Plugin>], errors: &mut Vec<FieldError>) {
        let mut wrong = |pointer: String, message: String| errors.push(FieldError { pointer, message });
        let config_at = if rule.key == RuleKey::Plugin { format!("{at}/config") } else { at.to_owned() };
        let Some(plugin) = rule.plugin.resolve(plugins.iter().map(Arc::as_ref)) else {
            wrong(format!("{at}/name"), missing(rule, plugins));
            return;
        };
        if let Some(message) = scope_error(rule, plugin) {
            wrong(format!("{at}/scope"), message);
        }
        if let Err(fault) = self.load(plugin.digest).await {
            wrong(at.to_owned(), format!("plugin `{}` cannot be asked: {fault}", plugin.name));
            return;
        }
        match self.host.validate(plugin.digest, &rule.config).await {
            Ok(found) => {
                for error in found {
                    wrong(format!("{config_at}{}", error.path), error.message);
                }
            }
            Err(fault) => {
                wrong(config_at, format!("plugin `{}` did not check this: {fault}", plugin.name));
                return;
            }
        }
        if plugin.manifest.hooks.verify {
            match self.host.probes(plugin.digest, &rule.config).await {
                Ok(probes) => {
                    for probe in probes {
                        for error in self.measures.check(&probe) {
                            let what = format!("metric `{}`: {}", probe.metric, error.message);
                            wrong(
                                config_at.clone(),
                                if error.path.is_empty() { what } else { format!("{}: {what}", error.path) },
                            );
                        }
                    }
                }
                // What `validate` found is said already.
                Err(fault) => {
                    if !errors.iter().any(|error| error.pointer.starts_with(at)) {
                        let message = format!("plugin `{}` did not say what to measure: {fault}", plugin.name);
                        errors.push(FieldError { pointer: config_at, message });
                    }
                }
            }
        }
    }
}

fn missing(rule: &WantedRule, plugins: &[Arc<Plugin>]) -> String {
    let versions: Vec<String> = plugins
        .iter()
        .filter(|plugin| plugin.name == rule.plugin.name)
        .map(|plugin| plugin.version.to_string())
        .collect();
    if versions.is_empty() {
        let mut names: Vec<&str> = plugins.iter().map(|plugin| plugin.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        format!("there is no plugin `{}`; there are: {}", rule.plugin.name, names.join(", "))
    } else {
        let (name, range) = (&rule.plugin.name, &rule.plugin.range);
        format!("no version of plugin `{name}` is in `{range}`; there are: {}", versions.join(", "))
    }
}

/// A gate is asked per target, environment or deployment; and a pass sees one deployment at a time.
fn scope_error(rule: &WantedRule, plugin: &Plugin) -> Option<String> {
    let scope = rule.scope.unwrap_or(plugin.manifest.scope);
    match scope {
        Scope::Target | Scope::Environment | Scope::Deployment => None,
        Scope::System | Scope::Workspace => Some(format!(
            "`{}` reaches over several deployments, which rules cannot yet; use target, environment or deployment",
            scope.name()
        )),
    }
}
