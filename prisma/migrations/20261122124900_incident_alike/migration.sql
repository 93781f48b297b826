-- Memory counts how often a problem came: incidents of one alert, and of one kind on one target, newest first.
CREATE INDEX incident_same_alert ON incident (fingerprint, opened_at DESC);
CREATE INDEX incident_alike ON incident (domain, target, incident_type, opened_at DESC);
-- What was run in each of them.
CREATE INDEX episode_incident ON episode (incident_id);
