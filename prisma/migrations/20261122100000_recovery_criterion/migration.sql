-- What a proposal is for: only a repair is judged by a recovery criterion, and only a repair can be called fixed.
-- What was proposed before counted as a repair; it has no measure on record, so its verification cannot tell.
ALTER TABLE action ADD COLUMN purpose text NOT NULL DEFAULT 'repair'
  CONSTRAINT action_purpose CHECK (purpose IN ('repair', 'prevent', 'undo'));
UPDATE action SET purpose = 'undo' WHERE undoes IS NOT NULL;

-- On whose word an incident is over; null while it is not, and for incidents that ended before this was kept.
ALTER TABLE incident ADD COLUMN resolved_by text
  CONSTRAINT incident_resolved_by CHECK (resolved_by IN ('confirmed', 'source', 'person'));
UPDATE incident SET resolved_by = CASE WHEN verdict = 'fixed' THEN 'confirmed' ELSE 'source' END WHERE state = 'resolved';

-- Every look at a recovery criterion: red before, green after, and whether it stayed so.
CREATE TABLE criterion_reading (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  incident_id text NOT NULL REFERENCES incident (id) ON DELETE CASCADE,
  action_id   text NOT NULL,
  -- proposal, claim: red, or nothing runs; watch: after it ran; after: 1, 5 and 15 minutes after it was called fixed.
  phase       text NOT NULL CHECK (phase IN ('proposal', 'claim', 'watch', 'after')),
  state       text NOT NULL CHECK (state IN ('red', 'green', 'unread')),
  holds       boolean,
  lines       text[] NOT NULL,
  -- By step: the number its measure read, or null.
  readings    jsonb NOT NULL,
  at          timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX criterion_reading_action ON criterion_reading (action_id, id);
CREATE INDEX criterion_reading_incident ON criterion_reading (incident_id);
