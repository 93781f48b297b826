-- A stop may end by itself.
ALTER TABLE switch ADD COLUMN until timestamptz;

-- A row lock alone is no queue: claims that share it one after the other could keep whoever presses *Stop* waiting for
-- ever. The advisory lock is one: a claim takes it shared before it reads the switch, whoever sets the switch alone.
CREATE OR REPLACE FUNCTION switch_in_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('sentry switch', 0));
  PERFORM 1 FROM switch WHERE scope = '*' FOR UPDATE;
  RETURN NULL;
END $$;

-- What the switch said when it kept this from being approved or run; goes when the switch no longer does, and the incident on.
ALTER TABLE action ADD COLUMN held_by text;
CREATE INDEX action_held ON action (incident_id) WHERE held_by IS NOT NULL;

-- All that the price table charges for.
ALTER TABLE usage ADD COLUMN cache_write_1h_tokens bigint NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN thinking_tokens bigint NOT NULL DEFAULT 0;

-- What model calls under way may cost at most; counted as spent until they have ended or their time is up.
CREATE TABLE spend_reservation (
  id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  incident_id text,
  usd         double precision NOT NULL,
  at          timestamptz NOT NULL DEFAULT clock_timestamp(),
  until       timestamptz NOT NULL
);
CREATE INDEX spend_reservation_until ON spend_reservation (until);

-- The cost breaker: one for all processes. Its row is the lock under which spending is counted and reserved.
CREATE TABLE cost_breaker (
  one    boolean PRIMARY KEY DEFAULT true CHECK (one),
  state  text NOT NULL DEFAULT 'closed' CHECK (state IN ('closed', 'open', 'half_open')),
  since  timestamptz NOT NULL DEFAULT clock_timestamp(),
  reason text NOT NULL DEFAULT '',
  -- The reservation of the one call that tries whether it may close again.
  trial  uuid,
  -- Whether the channel has been told of this opening.
  told   boolean NOT NULL DEFAULT true
);
INSERT INTO cost_breaker DEFAULT VALUES;

-- Makes the placeholders that stand for people and hosts towards a model: the same in every process and after a restart,
-- and no guessing back without it.
CREATE TABLE placeholder_key (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  key text NOT NULL DEFAULT gen_random_uuid()::text || gen_random_uuid()::text
);
INSERT INTO placeholder_key DEFAULT VALUES;
