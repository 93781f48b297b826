-- A person's No is a fact about things, under their physical identity: whatever a target is called, whichever incident,
-- tool or investigator meets them again.
CREATE TABLE denial (
  id            text PRIMARY KEY,
  -- Where it was said. Without foreign keys: forgetting an incident must not let anything run sooner.
  incident_id   text NOT NULL,
  action_id     text NOT NULL,
  -- `object`, `application` or `action` (this very action in this incident, and no more).
  scope         text NOT NULL,
  -- Of the things it covers, each `<system>/<kind>/<thing>`; an action that touches one of them is covered.
  keys          text[] NOT NULL,
  kind          text NOT NULL,
  label         text NOT NULL,
  said_by       text NOT NULL,
  said_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
  reason        text NOT NULL,
  -- Null: for as long as the thing is there.
  until         timestamptz,
  -- Of the incident when it was said: who may read the reason. Null: not posted yet.
  channel       text,
  taken_back_by text,
  taken_back_at timestamptz
);
CREATE INDEX denial_keys ON denial USING gin (keys) WHERE taken_back_at IS NULL;
CREATE INDEX denial_action ON denial (action_id);

ALTER TABLE action
  -- The physical system that would be changed, by whichever name: what the ledger locks, counts and keeps busy by.
  ADD COLUMN identity text,
  -- What it touches, as shown and hashed; their keys and their applications' for looking them up.
  ADD COLUMN objects jsonb NOT NULL DEFAULT '[]',
  ADD COLUMN object_keys text[] NOT NULL DEFAULT '{}',
  -- The denials that stood on its card: approving it is approving it although.
  ADD COLUMN denials_acknowledged text[] NOT NULL DEFAULT '{}';
UPDATE action SET identity = system_identifier;

CREATE INDEX action_object_keys ON action USING gin (object_keys) WHERE state IN ('proposed', 'approved');
CREATE INDEX action_identity_busy ON action (identity) WHERE state IN ('started', 'unknown');
CREATE INDEX action_identity_started ON action (identity, started_at) WHERE started_at IS NOT NULL;
