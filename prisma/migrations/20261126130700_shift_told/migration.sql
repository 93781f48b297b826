-- When somebody was handed a shift last: not twice within an hour, however often a schedule changes its mind.
CREATE TABLE shift_told (
  user_id text PRIMARY KEY,
  told_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- A test stays on record after its end: it counts in no statistics, and is nothing to learn from.
ALTER TABLE test_incident ADD COLUMN over boolean NOT NULL DEFAULT false;
CREATE INDEX test_incident_open ON test_incident (raised_at) WHERE NOT over;

CREATE FUNCTION sentry_is_test(v_incident text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM alert a JOIN test_incident t ON t.delivery_key = a.delivery_key WHERE a.incident_id = v_incident)
$$;
