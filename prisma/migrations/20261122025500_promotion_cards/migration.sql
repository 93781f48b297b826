-- Proposals have a card in Slack, drawn and kept like an incident's messages; and a runbook's steps are tried before it
-- may be approved.

-- incident_id is the id of what is drawn: an incident, or a proposal (dream_…).
ALTER TABLE slack_post DROP CONSTRAINT slack_post_incident_id_fkey;
ALTER TABLE slack_lease DROP CONSTRAINT slack_lease_incident_id_fkey;

CREATE TABLE memory_dry_run (
  job_id  text NOT NULL REFERENCES dream_job (id) ON DELETE CASCADE,
  -- Of the text whose steps were tried.
  sha256  text NOT NULL,
  passed  boolean NOT NULL,
  -- Which system they were tried on; null: on none.
  target  text,
  -- What each step did, for people; no output of the system.
  lines   jsonb NOT NULL,
  at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (job_id, sha256)
);
