//! Which releases a planning pass looks at: one condition for the releases themselves, their jobs, what was measured
//! of these, and decisions.

/// On `releases r` of deployment `$1`. What is open, and whatever else there is of a version of which anything is open:
/// how that stands elsewhere may matter. What a target should run, runs, is held on or is to start again; what somebody
/// works on; and what was closed though it is newer than what its target runs: a pass that did not know of it would
/// make it again.
macro_rules! planned_releases {
    () => {
        "r.deployment_id = $1 AND (
    r.closed IS NULL
    OR r.version_id IN (SELECT o.version_id FROM releases o WHERE o.deployment_id = $1 AND o.closed IS NULL)
    OR r.id IN (SELECT t.desired_release_id FROM release_targets t
      WHERE t.deployment_id = $1 AND t.desired_release_id IS NOT NULL)
    OR r.id IN (SELECT t.current_release_id FROM release_targets t
      WHERE t.deployment_id = $1 AND t.current_release_id IS NOT NULL)
    OR r.id IN (SELECT h.release_id FROM holds h WHERE h.deployment_id = $1)
    OR r.id IN (SELECT w.release_id FROM redeploys w WHERE w.deployment_id = $1)
    OR r.id IN (SELECT u.release_id FROM jobs u WHERE u.deployment_id = $1 AND u.ended_at IS NULL)
    OR r.id IN (SELECT c.id FROM releases c
      JOIN versions cv ON cv.id = c.version_id
      JOIN release_targets t ON t.deployment_id = c.deployment_id AND t.environment_id = c.environment_id
        AND t.resource_id = c.resource_id
      LEFT JOIN releases cr ON cr.id = t.current_release_id
      LEFT JOIN versions rv ON rv.id = cr.version_id
      WHERE c.deployment_id = $1 AND c.closed IS NOT NULL AND (rv.id IS NULL
        OR (CASE WHEN cv.created_at < cv.received_at THEN cv.created_at ELSE cv.received_at END, cv.id)
         > (CASE WHEN rv.created_at < rv.received_at THEN rv.created_at ELSE rv.received_at END, rv.id))))"
    };
}

pub(crate) use planned_releases;
