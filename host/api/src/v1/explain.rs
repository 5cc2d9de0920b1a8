//! Explain on the wire: why a target is where it is, what holds each version back, and until when.

use axum::{Json, extract::State};
use model::{
    Labels,
    decision::Verdict,
    id::Uuid,
    release_target::TargetKey,
    report::{CandidateReport, GateReport, TargetReport},
};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::wire::{
    BlockKindName, FaultName, JobStatusName, Named, ResourceRef, RuleModeName, StandingName, Time, VerdictName,
    VersionRef, Ws,
};
use super::{skip::Skip, steer::Hold};
use crate::{
    app::App,
    extract::{Auth, PathId},
    problem::Problem,
};

/// Why a target is where it is, and until when.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Explanation {
    /// `resourceId-environmentId-deploymentId`.
    pub key: String,
    pub deployment: Named,
    pub environment: Named,
    pub resource: ResourceRef,
    /// What it runs.
    pub current: Option<VersionRef>,
    /// What it should run.
    pub desired: Option<VersionRef>,
    pub standing: StandingName,
    /// One sentence: why it stands there, and what would change it.
    #[schema(example = "v2 waits for prod-approval: 0 of 1 approvals")]
    pub reason: String,
    /// When time alone may change it.
    pub next_evaluation: Option<Time>,
    /// The rollback that holds it.
    pub hold: Option<Hold>,
    pub latest_job: Option<JobRef>,
    /// Versions that were looked at, newest first.
    pub candidates: Vec<Candidate>,
}

/// A job in short.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobRef {
    pub id: Uuid,
    pub status: JobStatusName,
    /// Counts from 1 per target and version.
    #[schema(example = 1)]
    pub attempt: u32,
    #[schema(example = "v1.4.2")]
    pub version_tag: String,
}

/// One version on one target.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Candidate {
    pub version: VersionRef,
    /// Its release there, once made.
    pub release_id: Option<Uuid>,
    /// What holds it apart from rules.
    pub blocks: Vec<Block>,
    /// Skips in force for it, oldest first.
    pub skips: Vec<Skip>,
    /// What every rule said, in the order in which they are asked.
    pub gates: Vec<Gate>,
}

/// What holds a version apart from rules.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Block {
    pub kind: BlockKindName,
    /// One sentence for a person.
    pub reason: String,
    /// When time alone ends it.
    pub until: Option<Time>,
}

/// What one rule said.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Gate {
    /// The policy's name.
    #[schema(example = "prod-approval")]
    pub policy: String,
    /// How people call the rule.
    #[schema(example = "anyApproval")]
    pub rule: String,
    pub rule_id: Uuid,
    pub policy_id: Uuid,
    pub verdict: VerdictName,
    pub mode: RuleModeName,
    /// Of the rules that carry the same name one that allows is enough.
    #[schema(example = "windows")]
    pub any_of: Option<String>,
    /// The time zone that the rule's configuration names.
    #[schema(example = "America/New_York")]
    pub timezone: Option<String>,
    /// One sentence for a person.
    pub reason: String,
    /// When time alone may change the answer.
    pub next_evaluation: Option<Time>,
    /// When time alone ends an allow.
    pub valid_until: Option<Time>,
    /// When the condition came true.
    pub satisfied_at: Option<Time>,
    /// Figures behind the reason.
    pub details: Labels,
    /// Why the rule could not answer.
    pub fault: Option<FaultName>,
}

impl From<TargetReport> for Explanation {
    fn from(report: TargetReport) -> Self {
        Self {
            key: report.target.key.to_string(),
            deployment: Named::from(&*report.target.deployment),
            environment: Named::from(&*report.target.environment),
            resource: ResourceRef::from(&*report.target.resource),
            current: report.current.as_deref().map(Into::into),
            desired: report.desired.as_deref().map(Into::into),
            standing: report.standing.into(),
            reason: report.reason,
            next_evaluation: report.next_evaluation.map(Into::into),
            hold: report.hold.map(Into::into),
            latest_job: report.latest_job.map(|(id, version, attempt, status)| JobRef {
                id: id.0,
                status: status.into(),
                attempt,
                version_tag: version.tag.clone(),
            }),
            candidates: report.candidates.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<CandidateReport> for Candidate {
    fn from(candidate: CandidateReport) -> Self {
        Self {
            version: VersionRef::from(&*candidate.version),
            release_id: candidate.release.map(|release| release.0),
            blocks: candidate.blocks.into_iter().map(Into::into).collect(),
            skips: candidate.skips.into_iter().map(Into::into).collect(),
            gates: candidate.gates.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<model::report::Block> for Block {
    fn from(block: model::report::Block) -> Self {
        Self { kind: block.kind.into(), reason: block.reason, until: block.until.map(Into::into) }
    }
}

impl From<GateReport> for Gate {
    fn from(gate: GateReport) -> Self {
        let decision = gate.decision;
        let next_evaluation = match decision.answer.verdict {
            Verdict::Wait(until) => until,
            Verdict::Allow | Verdict::Deny => None,
        };
        Self {
            policy: gate.policy,
            rule: decision.rule_label,
            rule_id: decision.rule.0,
            policy_id: decision.policy.0,
            any_of: gate.any_of,
            timezone: gate.timezone,
            verdict: decision.answer.verdict.into(),
            mode: decision.mode.into(),
            reason: decision.answer.reason,
            next_evaluation: next_evaluation.map(Into::into),
            valid_until: decision.answer.valid_until.map(Into::into),
            satisfied_at: decision.answer.satisfied_at.map(Into::into),
            details: decision.answer.details,
            fault: decision.fault.map(Into::into),
        }
    }
}

/// The target in a path.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct Key {
    /// A release target: `resourceId-environmentId-deploymentId`.
    #[expect(dead_code, reason = "described for OpenAPI; handlers take it as `PathId`")]
    key: String,
}

/// Why a target is where it is: what every rule says of every version that may go there, and when that may change.
#[utoipa::path(get, path = "/api/v1/workspaces/{ws}/release-targets/{key}/explain", tag = "targets",
    operation_id = "explain", params(Ws, Key),
    responses((status = 200, description = "The reasons.", body = Explanation)))]
pub(crate) async fn explain(
    State(app): State<App>,
    Auth(caller): Auth,
    PathId(key): PathId<TargetKey>,
) -> Result<Json<Explanation>, Problem> {
    let report = app.engine.explain(caller.workspace, key).await?;
    Ok(Json(report.ok_or_else(|| Problem::not_found("release target", key))?.into()))
}
