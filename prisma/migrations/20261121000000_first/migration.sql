-- The record: incidents as rows, what happened as events, every use of a tool as evidence.

CREATE SEQUENCE incident_number;

CREATE TABLE incident (
  id                 text PRIMARY KEY DEFAULT 'INC-' || nextval('incident_number'),
  state              text NOT NULL DEFAULT 'open',
  stopped_from       text,
  title              text NOT NULL,
  alert_name         text,
  severity           text NOT NULL,
  domain             text NOT NULL,
  target             text,
  incident_type      text,
  routine            boolean,
  source             text NOT NULL,
  fingerprint        text NOT NULL,
  labels             jsonb NOT NULL,
  annotations        jsonb NOT NULL,
  occurrences        integer NOT NULL DEFAULT 1,
  round              integer NOT NULL DEFAULT 1,
  cause              text,
  confidence         double precision,
  verdict            text,
  next_step          text,
  words              text,
  source_resolved_at timestamptz,
  investigator       text,
  cost_usd           double precision NOT NULL DEFAULT 0,
  requesters         text[] NOT NULL DEFAULT '{}',
  channel            text,
  thread_ts          text,
  opened_at          timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at           timestamptz
);

-- One unfinished incident a fingerprint: what makes accepting idempotent under concurrency.
CREATE UNIQUE INDEX incident_unfinished_fingerprint ON incident (fingerprint)
  WHERE state NOT IN ('ignored', 'resolved');
CREATE INDEX incident_fingerprint_opened ON incident (fingerprint, opened_at DESC);
CREATE INDEX incident_alert_name_unfinished ON incident (alert_name) WHERE state NOT IN ('ignored', 'resolved');
CREATE INDEX incident_opened ON incident (opened_at DESC);
CREATE INDEX incident_thread ON incident (channel, thread_ts);

CREATE TABLE alert (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  incident_id  text NOT NULL REFERENCES incident (id) ON DELETE CASCADE,
  delivery_key text NOT NULL UNIQUE,
  source       text NOT NULL,
  fingerprint  text NOT NULL,
  status       text NOT NULL,
  title        text NOT NULL,
  labels       jsonb NOT NULL,
  annotations  jsonb NOT NULL,
  starts_at    timestamptz NOT NULL,
  ends_at      timestamptz,
  url          text,
  received_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX alert_incident ON alert (incident_id, id);

CREATE TABLE event (
  seq         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  incident_id text NOT NULL REFERENCES incident (id) ON DELETE CASCADE,
  type        text NOT NULL,
  body        jsonb NOT NULL,
  -- A step that runs again after a crash records the same event under the same key: once.
  dedupe_key  text,
  at          timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (incident_id, dedupe_key)
);
CREATE INDEX event_incident ON event (incident_id, seq);

CREATE TABLE tool_call (
  id            text PRIMARY KEY,
  incident_id   text NOT NULL REFERENCES incident (id) ON DELETE CASCADE,
  role          text NOT NULL,
  tool          text NOT NULL,
  target        text,
  input         jsonb,
  state         text NOT NULL,
  output        text NOT NULL,
  result        jsonb,
  output_sha256 text NOT NULL,
  truncated     boolean NOT NULL,
  code          text,
  action_id     text,
  started_at    timestamptz NOT NULL,
  finished_at   timestamptz NOT NULL
);
CREATE INDEX tool_call_incident ON tool_call (incident_id, started_at);

-- The ledger of mutations. `state` moves only by single statements that name the state they leave.
CREATE TABLE action (
  id                text PRIMARY KEY,
  incident_id       text NOT NULL REFERENCES incident (id) ON DELETE CASCADE,
  round             integer NOT NULL,
  state             text NOT NULL,
  tool              text NOT NULL,
  target            text NOT NULL,
  input             jsonb,
  command           text NOT NULL,
  plan_hash         text NOT NULL,
  guard             jsonb,
  system_identifier text,
  timeline_id       bigint,
  why               text NOT NULL,
  blast_radius      text NOT NULL,
  preflight         text[] NOT NULL,
  undo              text NOT NULL,
  risk              text NOT NULL,
  runbook_id        text,
  verify            jsonb NOT NULL,
  audit_only        boolean NOT NULL,
  proposed_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at        timestamptz NOT NULL,
  decided_by        text,
  decided_at        timestamptz,
  decision_reason   text,
  claim_id          text,
  done_by           timestamptz,
  started_at        timestamptz,
  finished_at       timestamptz,
  outcome           text,
  tool_call_id      text
);
CREATE INDEX action_incident ON action (incident_id, proposed_at);
CREATE INDEX action_target_busy ON action (target) WHERE state IN ('started', 'unknown');
-- One undecided action an incident: a turn that runs again does not propose twice.
CREATE UNIQUE INDEX action_one_pending ON action (incident_id) WHERE state IN ('proposed', 'approved', 'started');

-- The switch: `*` for everything, `domain:<domain>`, `target:<name>`.
CREATE TABLE switch (
  scope   text PRIMARY KEY,
  stopped boolean NOT NULL,
  reason  text NOT NULL DEFAULT '',
  by      text NOT NULL DEFAULT '',
  at      timestamptz NOT NULL DEFAULT clock_timestamp()
);
INSERT INTO switch (scope, stopped) VALUES ('*', false);

-- Hash-chained: entry n carries the hash of entry n-1. Appended only by audit_append().
CREATE TABLE audit_entry (
  seq       bigint PRIMARY KEY,
  prev_hash text NOT NULL,
  body      text NOT NULL,
  hash      text NOT NULL
);
CREATE TABLE audit_head (
  one  boolean PRIMARY KEY DEFAULT true CHECK (one),
  seq  bigint NOT NULL,
  hash text NOT NULL
);
INSERT INTO audit_head (seq, hash) VALUES (0, repeat('0', 64));

-- Takes a batch, locks the head row once, returns the last sequence number.
CREATE FUNCTION audit_append(bodies text[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  n bigint; h text; b text; next_hash text;
BEGIN
  SELECT seq, hash INTO n, h FROM audit_head FOR UPDATE;
  FOREACH b IN ARRAY bodies LOOP
    n := n + 1;
    next_hash := encode(sha256(convert_to(n::text || E'\n' || h || E'\n' || b, 'UTF8')), 'hex');
    INSERT INTO audit_entry (seq, prev_hash, body, hash) VALUES (n, h, b, next_hash);
    h := next_hash;
  END LOOP;
  UPDATE audit_head SET seq = n, hash = h;
  RETURN n;
END $$;

CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER audit_entry_append_only BEFORE UPDATE OR DELETE ON audit_entry
  FOR EACH ROW EXECUTE FUNCTION audit_refuse();
CREATE TRIGGER audit_entry_no_truncate BEFORE TRUNCATE ON audit_entry
  FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse();

CREATE TABLE usage (
  id                 bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  incident_id        text REFERENCES incident (id) ON DELETE CASCADE,
  role               text NOT NULL,
  model              text NOT NULL,
  input_tokens       bigint NOT NULL,
  cache_read_tokens  bigint NOT NULL,
  cache_write_tokens bigint NOT NULL,
  output_tokens      bigint NOT NULL,
  cost_usd           double precision NOT NULL,
  at                 timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX usage_at ON usage (at);
CREATE INDEX usage_incident ON usage (incident_id);

-- Memory: what was tried, and what still has to reach Chroma.
CREATE TABLE episode (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  incident_id text REFERENCES incident (id) ON DELETE CASCADE,
  action_id   text UNIQUE,
  at          timestamptz NOT NULL DEFAULT clock_timestamp(),
  error       text NOT NULL,
  diagnosis   text NOT NULL,
  command     text NOT NULL,
  result      text NOT NULL,
  success     boolean
);
CREATE INDEX episode_at ON episode (at DESC);

CREATE TABLE memory_outbox (
  collection text NOT NULL,
  id         text NOT NULL,
  document   text NOT NULL,
  metadata   jsonb NOT NULL,
  attempts   integer NOT NULL DEFAULT 0,
  next_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_error text,
  PRIMARY KEY (collection, id)
);

-- Slack: what came in, and what stands there.
CREATE TABLE slack_inbox (
  event_key    text PRIMARY KEY,
  body         jsonb NOT NULL,
  received_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  processed_at timestamptz,
  attempts     integer NOT NULL DEFAULT 0,
  last_error   text
);
CREATE INDEX slack_inbox_unprocessed ON slack_inbox (received_at) WHERE processed_at IS NULL;

CREATE TABLE slack_cursor (
  channel text PRIMARY KEY,
  last_ts text NOT NULL
);

-- One row a message slot (`root`, `live:1`, `diagnosis:1`, `action:<id>` …) of an incident's thread.
CREATE TABLE slack_post (
  incident_id text NOT NULL REFERENCES incident (id) ON DELETE CASCADE,
  slot        text NOT NULL,
  channel     text NOT NULL,
  ts          text,
  -- Of what stands in Slack; the message is edited when what should stand there differs.
  sent_hash   text,
  -- Set before a post is tried and cleared after: a crash in between is settled by looking in Slack, not by posting again.
  posting_since timestamptz,
  posted_at   timestamptz,
  PRIMARY KEY (incident_id, slot)
);

-- One process at a time draws an incident's thread.
CREATE TABLE slack_lease (
  incident_id text PRIMARY KEY REFERENCES incident (id) ON DELETE CASCADE,
  holder      text NOT NULL,
  until       timestamptz NOT NULL,
  -- What the record looked like when all of it last stood in Slack; a record that looks otherwise is drawn again.
  drawn_mark  text NOT NULL DEFAULT ''
);

CREATE TABLE process (
  executor_id text PRIMARY KEY,
  pid         integer NOT NULL,
  host        text NOT NULL,
  started_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  beat_at     timestamptz NOT NULL DEFAULT clock_timestamp()
);
