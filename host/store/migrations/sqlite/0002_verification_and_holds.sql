-- What people bypass, freeze, send back and start again; verification; rollouts in turns.
-- Joined by or with the rules of a target that have the same; whether it holds a target that runs nothing yet; for a
-- sequence, which of several versions goes next.
ALTER TABLE rules ADD COLUMN any_of TEXT;
ALTER TABLE rules ADD COLUMN applies_to_first INTEGER NOT NULL DEFAULT 1;
ALTER TABLE rules ADD COLUMN version_order TEXT NOT NULL DEFAULT 'newest';

ALTER TABLE versions ADD COLUMN ready_at INTEGER;
UPDATE versions SET ready_at = received_at WHERE status = 'ready';

ALTER TABLE jobs ADD COLUMN intent TEXT NOT NULL DEFAULT 'automatic';
-- Null while verification is open. Nobody asked for one of the jobs that are there, nor of those that an older server
-- adds meanwhile; a constant default says so without a rewrite of the table.
ALTER TABLE jobs ADD COLUMN verified TEXT DEFAULT 'not_asked';
UPDATE jobs SET verified = NULL WHERE ended_at IS NULL;

-- A place in a gradual rollout never moves once it is set.
ALTER TABLE releases ADD COLUMN rollout_index INTEGER;
ALTER TABLE releases ADD COLUMN rollout_total INTEGER;
ALTER TABLE releases ADD COLUMN rollout_started_at INTEGER;

-- Whether a change of what other deployments run makes this one due.
ALTER TABLE planning ADD COLUMN looks_at_dependencies INTEGER NOT NULL DEFAULT 0;

-- Either policy_id and rule_id or freeze_id is set.
CREATE TABLE skips (
  id BLOB PRIMARY KEY, workspace_id BLOB NOT NULL REFERENCES workspaces (id),
  policy_id BLOB, rule_id BLOB, freeze_id BLOB,
  version_id BLOB NOT NULL REFERENCES versions (id),
  deployment_id BLOB NOT NULL, environment_id BLOB, resource_id BLOB,
  user_name TEXT NOT NULL, reason TEXT NOT NULL, created_at INTEGER NOT NULL, expires_at INTEGER
) STRICT;
CREATE INDEX skips_deployment ON skips (deployment_id, created_at);
CREATE INDEX skips_workspace ON skips (workspace_id, created_at, id);

CREATE TABLE freezes (
  id BLOB PRIMARY KEY, workspace_id BLOB NOT NULL REFERENCES workspaces (id),
  name TEXT NOT NULL, selector TEXT NOT NULL, starts_at INTEGER NOT NULL, ends_at INTEGER,
  reason TEXT NOT NULL, created_by TEXT NOT NULL, created_at INTEGER NOT NULL,
  UNIQUE (workspace_id, name)
) STRICT;

-- A rollback keeps the target where it is. held_by says which of failed_version_id and user_name is set.
CREATE TABLE holds (
  deployment_id BLOB NOT NULL, environment_id BLOB NOT NULL, resource_id BLOB NOT NULL,
  workspace_id BLOB NOT NULL REFERENCES workspaces (id),
  release_id BLOB NOT NULL REFERENCES releases (id), version_id BLOB NOT NULL REFERENCES versions (id),
  held_by TEXT NOT NULL, failed_version_id BLOB, user_name TEXT,
  steps_back INTEGER NOT NULL, reason TEXT NOT NULL, since INTEGER NOT NULL, failed_at INTEGER,
  PRIMARY KEY (deployment_id, environment_id, resource_id)
) STRICT;

-- A redeploy that no job serves yet.
CREATE TABLE redeploys (
  deployment_id BLOB NOT NULL, environment_id BLOB NOT NULL, resource_id BLOB NOT NULL,
  workspace_id BLOB NOT NULL REFERENCES workspaces (id),
  release_id BLOB NOT NULL REFERENCES releases (id), version_id BLOB NOT NULL REFERENCES versions (id),
  user_name TEXT NOT NULL, reason TEXT NOT NULL, requested_at INTEGER NOT NULL,
  PRIMARY KEY (deployment_id, environment_id, resource_id)
) STRICT;

-- Wanted first, then taken: with a value (JSON) or an error. What was taken never changes.
CREATE TABLE measurements (
  id BLOB PRIMARY KEY, workspace_id BLOB NOT NULL REFERENCES workspaces (id),
  job_id BLOB NOT NULL REFERENCES jobs (id), rule_id BLOB NOT NULL, metric TEXT NOT NULL,
  due_at INTEGER NOT NULL, claimed_until INTEGER, taken_at INTEGER, value TEXT, error TEXT
) STRICT;
CREATE UNIQUE INDEX measurements_one_wanted ON measurements (job_id, rule_id, metric) WHERE taken_at IS NULL;
CREATE INDEX measurements_due ON measurements (due_at) WHERE taken_at IS NULL;
CREATE INDEX measurements_job ON measurements (job_id);
