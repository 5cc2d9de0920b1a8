//! A release target: one deployment, in one environment, on one resource.

use std::{fmt, str::FromStr, sync::Arc};

use crate::{
    deployment::Deployment,
    environment::Environment,
    id::{DeploymentId, EnvironmentId, ReleaseId, ResourceId, Uuid},
    resource::Resource,
};

/// The key of a release target; as text `resourceId-environmentId-deploymentId`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TargetKey {
    /// What is deployed.
    pub deployment: DeploymentId,
    /// In which stage.
    pub environment: EnvironmentId,
    /// On what.
    pub resource: ResourceId,
}

/// Text that is not a target key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a release target (expected resourceId-environmentId-deploymentId)")]
pub struct ParseTargetKeyError(pub String);

impl fmt::Display for TargetKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.resource, self.environment, self.deployment)
    }
}

impl FromStr for TargetKey {
    type Err = ParseTargetKeyError;
    fn from_str(text: &str) -> Result<Self, ParseTargetKeyError> {
        let part = |index: usize| {
            let start = index * 37;
            text.get(start..start + 36).and_then(|part| Uuid::try_parse(part).ok())
        };
        let joined =
            text.len() == 110 && text.as_bytes().get(36) == Some(&b'-') && text.as_bytes().get(73) == Some(&b'-');
        match (joined, part(0), part(1), part(2)) {
            (true, Some(resource), Some(environment), Some(deployment)) => Ok(Self {
                deployment: DeploymentId(deployment),
                environment: EnvironmentId(environment),
                resource: ResourceId(resource),
            }),
            _ => Err(ParseTargetKeyError(text.to_owned())),
        }
    }
}

/// A release target with everything a policy may look at.
#[derive(Debug, Clone)]
pub struct ReleaseTarget {
    /// Its key.
    pub key: TargetKey,
    /// What is deployed.
    pub deployment: Arc<Deployment>,
    /// In which stage.
    pub environment: Arc<Environment>,
    /// On what.
    pub resource: Arc<Resource>,
}

impl ReleaseTarget {
    /// `deployment/environment/identifier`, as people call it.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{}/{}/{}", self.deployment.name, self.environment.name, self.resource.identifier)
    }
}

/// What is kept of a target between passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TargetState {
    /// Its key.
    pub key: TargetKey,
    /// False once the selectors no longer match: nothing new is started there.
    pub attached: bool,
    /// What should run there.
    pub desired: Option<ReleaseId>,
    /// What ran there last with success.
    pub current: Option<ReleaseId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        let key = TargetKey {
            deployment: DeploymentId(Uuid::from_u128(3)),
            environment: EnvironmentId(Uuid::from_u128(2)),
            resource: ResourceId(Uuid::from_u128(1)),
        };
        assert_eq!(key.to_string().parse(), Ok(key));
        for bad in ["", "a-b-c", &key.to_string()[1..], "é".repeat(55).as_str()] {
            assert!(bad.parse::<TargetKey>().is_err(), "{bad}");
        }
    }
}
