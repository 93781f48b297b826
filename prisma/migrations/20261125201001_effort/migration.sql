-- How much is done about an alert. With 'none', 'on_demand' and 'triage' an incident rests as reported until somebody wants more.
ALTER TABLE incident ADD COLUMN effort text;

-- What joins one that waits or rests may ask for more than it began with.
CREATE OR REPLACE FUNCTION sentry_alert_joins_muted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM incident i WHERE i.id = NEW.incident_id
                AND (i.muted_by IS NOT NULL OR i.state = 'reported' AND i.effort IN ('none', 'on_demand', 'triage')))
     AND (SELECT a.status = 'firing' AND a.labels = NEW.labels AND a.title = NEW.title FROM alert a
           WHERE a.incident_id = NEW.incident_id AND a.source = NEW.source AND a.fingerprint = NEW.fingerprint AND a.id < NEW.id
           ORDER BY a.id DESC LIMIT 1) IS NOT TRUE THEN
    PERFORM sentry_enqueue_turns(ARRAY[NEW.incident_id], 'alert joined');
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION sentry_muted_moves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM sentry_enqueue_turns(ARRAY[NEW.id], 'alert joined');
  RETURN NULL;
END $$;
DROP TRIGGER muted_moves ON incident;
CREATE TRIGGER muted_moves AFTER UPDATE OF severity, target, alert_name ON incident FOR EACH ROW
  WHEN ((NEW.muted_by IS NOT NULL OR NEW.state = 'reported' AND NEW.effort IN ('none', 'on_demand', 'triage'))
        AND (NEW.severity, NEW.target, NEW.alert_name) IS DISTINCT FROM (OLD.severity, OLD.target, OLD.alert_name))
  EXECUTE FUNCTION sentry_muted_moves();
