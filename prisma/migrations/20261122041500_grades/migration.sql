-- What people thought of an incident's work: one answer per person and question, changeable.
CREATE TABLE grade (
  incident_id text NOT NULL REFERENCES incident (id) ON DELETE CASCADE,
  question    text NOT NULL CHECK (question IN ('cause_right', 'useful')),
  -- Slack user id.
  by          text NOT NULL,
  answer      boolean NOT NULL,
  -- The runbook whose diagnosis was graded; null: none.
  runbook_id  text,
  at          timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (incident_id, question, by)
);
CREATE INDEX grade_runbook ON grade (runbook_id) WHERE runbook_id IS NOT NULL;
