-- The few numbers of a target at one time, by a look of Sentry's own: what is usual there is told by them. One row a target and slot of
-- time, so that several processes take one between them.
CREATE TABLE usual_sample (
  target   text NOT NULL,
  slot     timestamptz NOT NULL,
  taken_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- The system that its name stood for; null: nothing of it could be read.
  system   text,
  -- By name; what could not be told is left out.
  numbers  jsonb NOT NULL DEFAULT '{}',
  -- What could not be read, and why; null: all could.
  why      text,
  PRIMARY KEY (target, slot)
);
CREATE INDEX usual_sample_taken ON usual_sample (taken_at);
