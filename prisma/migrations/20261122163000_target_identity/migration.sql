-- Which system a target's name stands for (the identity of an action): a stop of one name is a stop of the system, so that
-- another name of the same system does not escape it.
CREATE TABLE target_identity (
  target text PRIMARY KEY,
  identity text NOT NULL,
  domain text NOT NULL,
  seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX target_identity_identity ON target_identity (identity);
