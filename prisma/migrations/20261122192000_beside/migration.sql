-- What runs beside the incident's own course: an undo, and what is to keep a problem that is fixed from coming back.
ALTER TABLE action ADD COLUMN beside boolean NOT NULL DEFAULT false;
UPDATE action SET beside = true WHERE undoes IS NOT NULL;
ALTER TABLE action ADD CONSTRAINT action_undo_is_beside CHECK (undoes IS NULL OR beside);

-- A lasting fix that waits for its decision does not stand in the way of the repair's undo.
DROP INDEX action_one_pending;
CREATE UNIQUE INDEX action_one_pending ON action (incident_id, (beside AND undoes IS NULL))
 WHERE state IN ('proposed', 'approved', 'started');
