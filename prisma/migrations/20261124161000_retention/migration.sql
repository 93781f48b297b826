-- When what was found and done in an ended incident was deleted for its age; the incident itself stays, with how it ended.
ALTER TABLE incident ADD COLUMN details_deleted_at timestamptz;
CREATE INDEX incident_with_details ON incident (ended_at)
 WHERE state IN ('ignored', 'resolved') AND details_deleted_at IS NULL;
CREATE INDEX usage_of_none ON usage (at) WHERE incident_id IS NULL;
