-- What is open on related systems is looked for at the first turn of every incident.
CREATE INDEX incident_unfinished_target ON incident (target, opened_at DESC) WHERE state NOT IN ('ignored', 'resolved');
