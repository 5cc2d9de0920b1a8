//! Names of what events speak of by id. Read once; nothing is renamed in a play.

use std::collections::HashMap;

use model::{
    event::{Event, Subject},
    id::{DeploymentId, EnvironmentId, ResourceId, VersionId, WorkspaceId},
    release_target::TargetKey,
};
use store::{Page, StoreError, Tx};

/// What is known by name.
#[derive(Default)]
pub(crate) struct Names {
    deployments: HashMap<DeploymentId, String>,
    environments: HashMap<EnvironmentId, String>,
    resources: HashMap<ResourceId, String>,
    versions: HashMap<VersionId, String>,
}

impl Names {
    /// Learns the names of everything an event speaks of.
    pub async fn learn(&mut self, tx: &mut Tx, workspace: WorkspaceId, event: &Event) -> Result<(), StoreError> {
        let Subject { deployment, environment, resource, version, .. } = event.event.subject;
        if let Some(id) = deployment.filter(|id| !self.deployments.contains_key(id)) {
            let found = store::deployment::get(tx, workspace, id).await?;
            self.deployments.extend(found.map(|found| (id, found.name)));
        }
        if let Some(id) = environment.filter(|id| !self.environments.contains_key(id)) {
            let found = store::environment::get(tx, workspace, id).await?;
            self.environments.extend(found.map(|found| (id, found.name)));
        }
        if let Some(id) = resource.filter(|id| !self.resources.contains_key(id)) {
            let found = store::resource::get(tx, workspace, id).await?;
            self.resources.extend(found.map(|found| (id, found.identifier)));
        }
        if let Some(id) = version.filter(|id| !self.versions.contains_key(id)) {
            let found = store::version::get(tx, workspace, id).await?;
            self.versions.extend(found.map(|found| (id, found.tag)));
        }
        Ok(())
    }

    /// `deployment/environment/identifier`, or what of it the subject has.
    pub fn target(&self, subject: &Subject) -> Option<String> {
        let deployment = subject.deployment.and_then(|id| self.deployments.get(&id));
        let environment = subject.environment.and_then(|id| self.environments.get(&id));
        let resource = subject.resource.and_then(|id| self.resources.get(&id));
        let parts: Vec<&str> = [deployment, environment, resource].into_iter().flatten().map(String::as_str).collect();
        if parts.is_empty() { None } else { Some(parts.join("/")) }
    }

    /// The tag of the version the subject has.
    pub fn version(&self, subject: &Subject) -> Option<String> {
        subject.version.and_then(|id| self.versions.get(&id)).cloned()
    }
}

/// The target of that path, if there is or was one. An identifier may have slashes, the names before it have none.
pub(crate) async fn find(tx: &mut Tx, workspace: WorkspaceId, path: &str) -> Result<Option<TargetKey>, StoreError> {
    let mut parts = path.splitn(3, '/');
    let (Some(deployment), Some(environment), Some(resource)) = (parts.next(), parts.next(), parts.next()) else {
        return Ok(None);
    };
    let deployment = store::deployment::by_name(tx, workspace, deployment).await?;
    let environment = store::environment::by_name(tx, workspace, environment).await?;
    let resource = store::resource::by_identifier(tx, workspace, resource).await?;
    let (Some(deployment), Some(environment), Some(resource)) = (deployment, environment, resource) else {
        return Ok(None);
    };
    let key = TargetKey { deployment: deployment.id, environment: environment.id, resource: resource.id };
    Ok(store::release_target::get(tx, workspace, key).await?.map(|_| key))
}

/// Every target by path, in the order of their paths.
pub(crate) async fn targets(tx: &mut Tx, workspace: WorkspaceId) -> Result<Vec<(String, TargetKey)>, StoreError> {
    let mut targets = Vec::new();
    loop {
        let offset = u32::try_from(targets.len()).unwrap_or(u32::MAX);
        let page = Page { limit: model::limits::PAGE_MAX, offset };
        let listed = store::release_target::list(tx, workspace, store::release_target::Filter::default(), page).await?;
        let last = listed.items.is_empty();
        targets.extend(listed.items.into_iter().map(|target| {
            let path = format!("{}/{}/{}", target.deployment_name, target.environment_name, target.resource_identifier);
            (path, target.state.key)
        }));
        if last {
            targets.sort_unstable();
            return Ok(targets);
        }
    }
}
