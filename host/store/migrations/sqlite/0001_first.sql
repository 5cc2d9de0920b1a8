-- Ids are 16-byte UUIDs, instants are milliseconds since the epoch (UTC), JSON and label maps are text.
-- What must be null in one status and set in another is checked when a row becomes a value.

CREATE TABLE workspaces (
  id BLOB PRIMARY KEY, slug TEXT NOT NULL UNIQUE, name TEXT NOT NULL, created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE api_keys (
  id BLOB PRIMARY KEY, workspace_id BLOB NOT NULL REFERENCES workspaces (id),
  -- SHA-256 of a 256-bit random secret; the secret itself is shown once and never kept.
  secret_hash BLOB NOT NULL UNIQUE,
  user_name TEXT NOT NULL, teams TEXT NOT NULL, role TEXT NOT NULL, agent_id BLOB,
  created_at INTEGER NOT NULL, expires_at INTEGER, last_used_at INTEGER
) STRICT;
CREATE INDEX api_keys_user ON api_keys (workspace_id, user_name, created_at);

CREATE TABLE systems (
  id BLOB PRIMARY KEY, workspace_id BLOB NOT NULL REFERENCES workspaces (id),
  name TEXT NOT NULL, description TEXT NOT NULL, metadata TEXT NOT NULL, created_at INTEGER NOT NULL,
  UNIQUE (workspace_id, name)
) STRICT;

CREATE TABLE resources (
  id BLOB PRIMARY KEY, workspace_id BLOB NOT NULL REFERENCES workspaces (id),
  identifier TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, version TEXT NOT NULL,
  metadata TEXT NOT NULL, config TEXT NOT NULL, created_at INTEGER NOT NULL,
  UNIQUE (workspace_id, identifier)
) STRICT;

CREATE TABLE job_agents (
  id BLOB PRIMARY KEY, workspace_id BLOB NOT NULL REFERENCES workspaces (id),
  name TEXT NOT NULL, agent_type TEXT NOT NULL, config TEXT NOT NULL, lease_seconds INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (workspace_id, name)
) STRICT;

CREATE TABLE environments (
  id BLOB PRIMARY KEY, workspace_id BLOB NOT NULL REFERENCES workspaces (id),
  name TEXT NOT NULL, description TEXT NOT NULL, resource_selector TEXT NOT NULL, metadata TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (workspace_id, name)
) STRICT;

CREATE TABLE environment_systems (
  environment_id BLOB NOT NULL REFERENCES environments (id), system_id BLOB NOT NULL REFERENCES systems (id),
  PRIMARY KEY (environment_id, system_id)
) STRICT;

CREATE TABLE deployments (
  id BLOB PRIMARY KEY, workspace_id BLOB NOT NULL REFERENCES workspaces (id),
  name TEXT NOT NULL, description TEXT NOT NULL, resource_selector TEXT NOT NULL,
  job_agent_id BLOB REFERENCES job_agents (id), job_agent_config TEXT NOT NULL,
  job_deadline_seconds INTEGER NOT NULL, metadata TEXT NOT NULL, created_at INTEGER NOT NULL,
  UNIQUE (workspace_id, name)
) STRICT;

CREATE TABLE deployment_systems (
  deployment_id BLOB NOT NULL REFERENCES deployments (id), system_id BLOB NOT NULL REFERENCES systems (id),
  PRIMARY KEY (deployment_id, system_id)
) STRICT;

CREATE TABLE versions (
  id BLOB PRIMARY KEY, workspace_id BLOB NOT NULL REFERENCES workspaces (id),
  deployment_id BLOB NOT NULL REFERENCES deployments (id),
  tag TEXT NOT NULL, name TEXT NOT NULL, config TEXT NOT NULL, job_agent_config TEXT NOT NULL,
  metadata TEXT NOT NULL, status TEXT NOT NULL, created_at INTEGER NOT NULL, received_at INTEGER NOT NULL,
  created_by TEXT,
  UNIQUE (deployment_id, tag)
) STRICT;

-- A component's bytes, once for all names and workspaces that use them.
CREATE TABLE plugin_blobs (digest BLOB PRIMARY KEY, bytes BLOB NOT NULL) STRICT;

CREATE TABLE plugins (
  id BLOB PRIMARY KEY, workspace_id BLOB NOT NULL REFERENCES workspaces (id),
  name TEXT NOT NULL, version TEXT NOT NULL, digest BLOB NOT NULL REFERENCES plugin_blobs (digest),
  manifest TEXT NOT NULL, created_at INTEGER NOT NULL,
  UNIQUE (workspace_id, name, version)
) STRICT;

CREATE TABLE policies (
  id BLOB PRIMARY KEY, workspace_id BLOB NOT NULL REFERENCES workspaces (id),
  name TEXT NOT NULL, description TEXT NOT NULL, selector TEXT NOT NULL, priority INTEGER NOT NULL,
  enabled INTEGER NOT NULL, metadata TEXT NOT NULL, created_at INTEGER NOT NULL,
  UNIQUE (workspace_id, name)
) STRICT;

CREATE TABLE rules (
  id BLOB PRIMARY KEY, policy_id BLOB NOT NULL REFERENCES policies (id), position INTEGER NOT NULL,
  rule_key TEXT NOT NULL, plugin_name TEXT NOT NULL, plugin_range TEXT NOT NULL, config TEXT NOT NULL,
  mode TEXT NOT NULL, on_error TEXT NOT NULL, scope TEXT, created_at INTEGER NOT NULL,
  UNIQUE (policy_id, position)
) STRICT;

CREATE TABLE approvals (
  id BLOB PRIMARY KEY, workspace_id BLOB NOT NULL REFERENCES workspaces (id),
  version_id BLOB NOT NULL REFERENCES versions (id), environment_id BLOB NOT NULL REFERENCES environments (id),
  user_name TEXT NOT NULL, roles_then TEXT NOT NULL, decision TEXT NOT NULL, at INTEGER NOT NULL,
  reason TEXT NOT NULL,
  UNIQUE (version_id, environment_id, user_name)
) STRICT;

-- Kept by difference. last_token is the highest fence ever given for the target.
CREATE TABLE release_targets (
  deployment_id BLOB NOT NULL REFERENCES deployments (id),
  environment_id BLOB NOT NULL REFERENCES environments (id),
  resource_id BLOB NOT NULL REFERENCES resources (id),
  workspace_id BLOB NOT NULL REFERENCES workspaces (id),
  attached INTEGER NOT NULL, desired_release_id BLOB, current_release_id BLOB,
  last_token INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (deployment_id, environment_id, resource_id)
) STRICT;

CREATE TABLE releases (
  id BLOB PRIMARY KEY, workspace_id BLOB NOT NULL REFERENCES workspaces (id),
  deployment_id BLOB NOT NULL, environment_id BLOB NOT NULL, resource_id BLOB NOT NULL,
  version_id BLOB NOT NULL REFERENCES versions (id),
  variables TEXT, created_at INTEGER NOT NULL, closed TEXT, closed_at INTEGER,
  UNIQUE (deployment_id, environment_id, resource_id, version_id)
) STRICT;
CREATE INDEX releases_open ON releases (deployment_id) WHERE closed IS NULL;

CREATE TABLE jobs (
  id BLOB PRIMARY KEY, workspace_id BLOB NOT NULL REFERENCES workspaces (id),
  release_id BLOB NOT NULL REFERENCES releases (id),
  deployment_id BLOB NOT NULL, environment_id BLOB NOT NULL, resource_id BLOB NOT NULL,
  version_id BLOB NOT NULL REFERENCES versions (id),
  kind TEXT NOT NULL, agent_id BLOB NOT NULL REFERENCES job_agents (id), attempt INTEGER NOT NULL,
  available_at INTEGER NOT NULL, priority INTEGER NOT NULL,
  lease_seconds INTEGER NOT NULL, deadline_seconds INTEGER NOT NULL,
  config TEXT NOT NULL, context TEXT NOT NULL, external_id TEXT, links TEXT NOT NULL, message TEXT NOT NULL,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  -- The state: status, and what its variant carries.
  status TEXT NOT NULL, offers INTEGER NOT NULL DEFAULT 0,
  lease_token INTEGER, lease_holder TEXT, lease_since INTEGER, lease_until INTEGER,
  started_at INTEGER, ended_at INTEGER, cancel_requested_at INTEGER
) STRICT;
CREATE INDEX jobs_claim ON jobs (agent_id, available_at, priority, id) WHERE status = 'queued' AND lease_token IS NULL;
CREATE INDEX jobs_leased ON jobs (lease_until) WHERE ended_at IS NULL AND lease_token IS NOT NULL;
CREATE INDEX jobs_available ON jobs (available_at) WHERE status = 'queued' AND lease_token IS NULL;
CREATE INDEX jobs_release ON jobs (release_id);
-- Whatever races, a release never has two attempts at once.
CREATE UNIQUE INDEX jobs_one_unfinished ON jobs (release_id) WHERE ended_at IS NULL;
CREATE INDEX jobs_unfinished ON jobs (deployment_id) WHERE ended_at IS NULL;
CREATE INDEX jobs_target ON jobs (deployment_id, environment_id, resource_id, created_at);
CREATE INDEX jobs_workspace ON jobs (workspace_id, created_at, id);

-- What an agent reported under a token: the result that counted, and what came too late, as evidence.
CREATE TABLE job_results (
  job_id BLOB NOT NULL REFERENCES jobs (id), lease_token INTEGER NOT NULL,
  at INTEGER NOT NULL, accepted INTEGER NOT NULL, status TEXT NOT NULL, body_hash BLOB NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (job_id, lease_token, body_hash)
) STRICT;
-- A result counts once, whatever is sent again.
CREATE UNIQUE INDEX job_results_accepted ON job_results (job_id) WHERE accepted;

CREATE TABLE decisions (
  id BLOB PRIMARY KEY, workspace_id BLOB NOT NULL REFERENCES workspaces (id),
  policy_id BLOB NOT NULL, rule_id BLOB NOT NULL, rule_label TEXT NOT NULL, digest BLOB,
  version_id BLOB NOT NULL REFERENCES versions (id),
  deployment_id BLOB NOT NULL, environment_id BLOB, resource_id BLOB,
  mode TEXT NOT NULL, verdict TEXT NOT NULL, wait_until INTEGER, reason TEXT NOT NULL, satisfied_at INTEGER,
  valid_until INTEGER, details TEXT NOT NULL, fault TEXT, at INTEGER NOT NULL,
  -- False once a later decision of the same rule, version and scope stands in its place.
  latest INTEGER NOT NULL
) STRICT;
CREATE INDEX decisions_latest ON decisions (version_id, rule_id) WHERE latest;
CREATE INDEX decisions_version ON decisions (deployment_id, version_id, at);

-- Planning work: one row per deployment. Anything that changes a fact raises `generation` in its own transaction;
-- a pass that has seen generation N sets planned to N. Work is due while planned < generation or next_at has come.
-- `facts` rises only with what a plan must not be stale to (versions, approvals, policies, selectors).
CREATE TABLE planning (
  deployment_id BLOB PRIMARY KEY REFERENCES deployments (id),
  workspace_id BLOB NOT NULL REFERENCES workspaces (id),
  generation INTEGER NOT NULL, facts INTEGER NOT NULL, planned INTEGER NOT NULL, next_at INTEGER,
  claim_token INTEGER NOT NULL DEFAULT 0, claimed_until INTEGER
) STRICT;
CREATE INDEX planning_next ON planning (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX planning_behind ON planning (deployment_id) WHERE planned < generation;

-- Append-only: the audit trail, and results.
CREATE TABLE events (
  id BLOB PRIMARY KEY, workspace_id BLOB NOT NULL REFERENCES workspaces (id),
  at INTEGER NOT NULL, kind TEXT NOT NULL, actor TEXT NOT NULL,
  system_id BLOB, deployment_id BLOB, environment_id BLOB, resource_id BLOB, version_id BLOB, release_id BLOB,
  job_id BLOB, policy_id BLOB, data TEXT NOT NULL
) STRICT;
-- Written with each event; the sequencer moves its rows to event_positions, in the order of seq.
CREATE TABLE event_outbox (
  seq INTEGER PRIMARY KEY, workspace_id BLOB NOT NULL, event_id BLOB NOT NULL UNIQUE REFERENCES events (id)
) STRICT;
-- The sequencer's: committed events in order, without gaps per workspace.
CREATE TABLE event_positions (
  workspace_id BLOB NOT NULL REFERENCES workspaces (id), position INTEGER NOT NULL,
  event_id BLOB NOT NULL UNIQUE REFERENCES events (id),
  PRIMARY KEY (workspace_id, position)
) STRICT;

CREATE TRIGGER events_no_update BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_no_delete BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER job_results_no_update BEFORE UPDATE ON job_results BEGIN SELECT RAISE(ABORT, 'job results are append-only'); END;
CREATE TRIGGER job_results_no_delete BEFORE DELETE ON job_results BEGIN SELECT RAISE(ABORT, 'job results are append-only'); END;

-- Answers to POSTs that carried an Idempotency-Key, for 24 hours.
CREATE TABLE idempotency_keys (
  workspace_id BLOB NOT NULL REFERENCES workspaces (id), key TEXT NOT NULL, request_hash BLOB NOT NULL,
  status INTEGER NOT NULL, body TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, key)
) STRICT;
