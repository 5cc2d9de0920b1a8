-- The twin of ../sqlite/0001_first.sql: same tables, columns and indexes. Ids are UUIDs, instants are milliseconds since the epoch (UTC), JSON and label maps are text.
-- What must be null in one status and set in another is checked when a row becomes a value.

CREATE TABLE workspaces (
  id UUID PRIMARY KEY, slug TEXT NOT NULL UNIQUE, name TEXT NOT NULL, created_at BIGINT NOT NULL
);

CREATE TABLE api_keys (
  id UUID PRIMARY KEY, workspace_id UUID NOT NULL REFERENCES workspaces (id),
  -- SHA-256 of a 256-bit random secret; the secret itself is shown once and never kept.
  secret_hash BYTEA NOT NULL UNIQUE,
  user_name TEXT NOT NULL, teams TEXT NOT NULL, role TEXT NOT NULL, agent_id UUID,
  created_at BIGINT NOT NULL, expires_at BIGINT, last_used_at BIGINT
);
CREATE INDEX api_keys_user ON api_keys (workspace_id, user_name, created_at);

CREATE TABLE systems (
  id UUID PRIMARY KEY, workspace_id UUID NOT NULL REFERENCES workspaces (id),
  name TEXT NOT NULL, description TEXT NOT NULL, metadata TEXT NOT NULL, created_at BIGINT NOT NULL,
  UNIQUE (workspace_id, name)
);

CREATE TABLE resources (
  id UUID PRIMARY KEY, workspace_id UUID NOT NULL REFERENCES workspaces (id),
  identifier TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, version TEXT NOT NULL,
  metadata TEXT NOT NULL, config TEXT NOT NULL, created_at BIGINT NOT NULL,
  UNIQUE (workspace_id, identifier)
);

CREATE TABLE job_agents (
  id UUID PRIMARY KEY, workspace_id UUID NOT NULL REFERENCES workspaces (id),
  name TEXT NOT NULL, agent_type TEXT NOT NULL, config TEXT NOT NULL, lease_seconds BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  UNIQUE (workspace_id, name)
);

CREATE TABLE environments (
  id UUID PRIMARY KEY, workspace_id UUID NOT NULL REFERENCES workspaces (id),
  name TEXT NOT NULL, description TEXT NOT NULL, resource_selector TEXT NOT NULL, metadata TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  UNIQUE (workspace_id, name)
);

CREATE TABLE environment_systems (
  environment_id UUID NOT NULL REFERENCES environments (id), system_id UUID NOT NULL REFERENCES systems (id),
  PRIMARY KEY (environment_id, system_id)
);

CREATE TABLE deployments (
  id UUID PRIMARY KEY, workspace_id UUID NOT NULL REFERENCES workspaces (id),
  name TEXT NOT NULL, description TEXT NOT NULL, resource_selector TEXT NOT NULL,
  job_agent_id UUID REFERENCES job_agents (id), job_agent_config TEXT NOT NULL,
  job_deadline_seconds BIGINT NOT NULL, metadata TEXT NOT NULL, created_at BIGINT NOT NULL,
  UNIQUE (workspace_id, name)
);

CREATE TABLE deployment_systems (
  deployment_id UUID NOT NULL REFERENCES deployments (id), system_id UUID NOT NULL REFERENCES systems (id),
  PRIMARY KEY (deployment_id, system_id)
);

CREATE TABLE versions (
  id UUID PRIMARY KEY, workspace_id UUID NOT NULL REFERENCES workspaces (id),
  deployment_id UUID NOT NULL REFERENCES deployments (id),
  tag TEXT NOT NULL, name TEXT NOT NULL, config TEXT NOT NULL, job_agent_config TEXT NOT NULL,
  metadata TEXT NOT NULL, status TEXT NOT NULL, created_at BIGINT NOT NULL, received_at BIGINT NOT NULL,
  created_by TEXT,
  UNIQUE (deployment_id, tag)
);

-- A component's bytes, once for all names and workspaces that use them.
CREATE TABLE plugin_blobs (digest BYTEA PRIMARY KEY, bytes BYTEA NOT NULL);

CREATE TABLE plugins (
  id UUID PRIMARY KEY, workspace_id UUID NOT NULL REFERENCES workspaces (id),
  name TEXT NOT NULL, version TEXT NOT NULL, digest BYTEA NOT NULL REFERENCES plugin_blobs (digest),
  manifest TEXT NOT NULL, created_at BIGINT NOT NULL,
  UNIQUE (workspace_id, name, version)
);

CREATE TABLE policies (
  id UUID PRIMARY KEY, workspace_id UUID NOT NULL REFERENCES workspaces (id),
  name TEXT NOT NULL, description TEXT NOT NULL, selector TEXT NOT NULL, priority BIGINT NOT NULL,
  enabled BOOLEAN NOT NULL, metadata TEXT NOT NULL, created_at BIGINT NOT NULL,
  UNIQUE (workspace_id, name)
);

CREATE TABLE rules (
  id UUID PRIMARY KEY, policy_id UUID NOT NULL REFERENCES policies (id), position BIGINT NOT NULL,
  rule_key TEXT NOT NULL, plugin_name TEXT NOT NULL, plugin_range TEXT NOT NULL, config TEXT NOT NULL,
  mode TEXT NOT NULL, on_error TEXT NOT NULL, scope TEXT, created_at BIGINT NOT NULL,
  UNIQUE (policy_id, position)
);

CREATE TABLE approvals (
  id UUID PRIMARY KEY, workspace_id UUID NOT NULL REFERENCES workspaces (id),
  version_id UUID NOT NULL REFERENCES versions (id), environment_id UUID NOT NULL REFERENCES environments (id),
  user_name TEXT NOT NULL, roles_then TEXT NOT NULL, decision TEXT NOT NULL, at BIGINT NOT NULL,
  reason TEXT NOT NULL,
  UNIQUE (version_id, environment_id, user_name)
);

-- Kept by difference. last_token is the highest fence ever given for the target.
CREATE TABLE release_targets (
  deployment_id UUID NOT NULL REFERENCES deployments (id),
  environment_id UUID NOT NULL REFERENCES environments (id),
  resource_id UUID NOT NULL REFERENCES resources (id),
  workspace_id UUID NOT NULL REFERENCES workspaces (id),
  attached BOOLEAN NOT NULL, desired_release_id UUID, current_release_id UUID,
  last_token BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (deployment_id, environment_id, resource_id)
);

CREATE TABLE releases (
  id UUID PRIMARY KEY, workspace_id UUID NOT NULL REFERENCES workspaces (id),
  deployment_id UUID NOT NULL, environment_id UUID NOT NULL, resource_id UUID NOT NULL,
  version_id UUID NOT NULL REFERENCES versions (id),
  variables TEXT, created_at BIGINT NOT NULL, closed TEXT, closed_at BIGINT,
  UNIQUE (deployment_id, environment_id, resource_id, version_id)
);
CREATE INDEX releases_open ON releases (deployment_id) WHERE closed IS NULL;

CREATE TABLE jobs (
  id UUID PRIMARY KEY, workspace_id UUID NOT NULL REFERENCES workspaces (id),
  release_id UUID NOT NULL REFERENCES releases (id),
  deployment_id UUID NOT NULL, environment_id UUID NOT NULL, resource_id UUID NOT NULL,
  version_id UUID NOT NULL REFERENCES versions (id),
  kind TEXT NOT NULL, agent_id UUID NOT NULL REFERENCES job_agents (id), attempt BIGINT NOT NULL,
  available_at BIGINT NOT NULL, priority BIGINT NOT NULL,
  lease_seconds BIGINT NOT NULL, deadline_seconds BIGINT NOT NULL,
  config TEXT NOT NULL, context TEXT NOT NULL, external_id TEXT, links TEXT NOT NULL, message TEXT NOT NULL,
  created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
  -- The state: status, and what its variant carries.
  status TEXT NOT NULL, offers BIGINT NOT NULL DEFAULT 0,
  lease_token BIGINT, lease_holder TEXT, lease_since BIGINT, lease_until BIGINT,
  started_at BIGINT, ended_at BIGINT, cancel_requested_at BIGINT
);
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
  job_id UUID NOT NULL REFERENCES jobs (id), lease_token BIGINT NOT NULL,
  at BIGINT NOT NULL, accepted BOOLEAN NOT NULL, status TEXT NOT NULL, body_hash BYTEA NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (job_id, lease_token, body_hash)
);
-- A result counts once, whatever is sent again.
CREATE UNIQUE INDEX job_results_accepted ON job_results (job_id) WHERE accepted;

CREATE TABLE decisions (
  id UUID PRIMARY KEY, workspace_id UUID NOT NULL REFERENCES workspaces (id),
  policy_id UUID NOT NULL, rule_id UUID NOT NULL, rule_label TEXT NOT NULL, digest BYTEA,
  version_id UUID NOT NULL REFERENCES versions (id),
  deployment_id UUID NOT NULL, environment_id UUID, resource_id UUID,
  mode TEXT NOT NULL, verdict TEXT NOT NULL, wait_until BIGINT, reason TEXT NOT NULL, satisfied_at BIGINT,
  valid_until BIGINT, details TEXT NOT NULL, fault TEXT, at BIGINT NOT NULL,
  -- False once a later decision of the same rule, version and scope stands in its place.
  latest BOOLEAN NOT NULL
);
CREATE INDEX decisions_latest ON decisions (version_id, rule_id) WHERE latest;
CREATE INDEX decisions_version ON decisions (deployment_id, version_id, at);

-- Planning work: one row per deployment. Anything that changes a fact raises `generation` in its own transaction;
-- a pass that has seen generation N sets planned to N. Work is due while planned < generation or next_at has come.
-- `facts` rises only with what a plan must not be stale to (versions, approvals, policies, selectors).
CREATE TABLE planning (
  deployment_id UUID PRIMARY KEY REFERENCES deployments (id),
  workspace_id UUID NOT NULL REFERENCES workspaces (id),
  generation BIGINT NOT NULL, facts BIGINT NOT NULL, planned BIGINT NOT NULL, next_at BIGINT,
  claim_token BIGINT NOT NULL DEFAULT 0, claimed_until BIGINT
);
CREATE INDEX planning_next ON planning (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX planning_behind ON planning (deployment_id) WHERE planned < generation;

-- Append-only: the audit trail, and results.
CREATE TABLE events (
  id UUID PRIMARY KEY, workspace_id UUID NOT NULL REFERENCES workspaces (id),
  at BIGINT NOT NULL, kind TEXT NOT NULL, actor TEXT NOT NULL,
  system_id UUID, deployment_id UUID, environment_id UUID, resource_id UUID, version_id UUID, release_id UUID,
  job_id UUID, policy_id UUID, data TEXT NOT NULL
);
-- Written with each event; the sequencer moves its rows to event_positions, in the order of seq.
CREATE TABLE event_outbox (
  seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, workspace_id UUID NOT NULL, event_id UUID NOT NULL UNIQUE REFERENCES events (id)
);
-- The sequencer's: committed events in order, without gaps per workspace.
CREATE TABLE event_positions (
  workspace_id UUID NOT NULL REFERENCES workspaces (id), position BIGINT NOT NULL,
  event_id UUID NOT NULL UNIQUE REFERENCES events (id),
  PRIMARY KEY (workspace_id, position)
);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% are append-only', replace(TG_TABLE_NAME, '_', ' ');
END
$$;
CREATE TRIGGER events_no_change BEFORE UPDATE OR DELETE ON events
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER events_no_truncate BEFORE TRUNCATE ON events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER job_results_no_change BEFORE UPDATE OR DELETE ON job_results
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER job_results_no_truncate BEFORE TRUNCATE ON job_results
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Answers to POSTs that carried an Idempotency-Key, for 24 hours.
CREATE TABLE idempotency_keys (
  workspace_id UUID NOT NULL REFERENCES workspaces (id), key TEXT NOT NULL, request_hash BYTEA NOT NULL,
  status BIGINT NOT NULL, body TEXT NOT NULL, at BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, key)
);
