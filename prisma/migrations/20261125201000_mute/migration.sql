-- Alerts that wait: what a person or a maintenance window mutes is recorded, and opens no thread until the mute ends.
CREATE SEQUENCE mute_number;
CREATE TABLE mute (
  id        text PRIMARY KEY DEFAULT 'M' || nextval('mute_number'::regclass),
  matcher   text NOT NULL,
  by        text NOT NULL,
  reason    text NOT NULL DEFAULT '',
  -- One of a maintenance window: which, and when it began.
  occurrence text UNIQUE,
  begun_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  until     timestamptz NOT NULL,
  ended_by  text,
  -- Its incidents go on; what it held back is counted.
  closed_at timestamptz,
  alerts    int NOT NULL DEFAULT 0,
  incidents int NOT NULL DEFAULT 0,
  firing    int NOT NULL DEFAULT 0
);
CREATE INDEX mute_open ON mute (until) WHERE closed_at IS NULL;
CREATE INDEX mute_begun ON mute (begun_at);

ALTER TABLE incident ADD COLUMN muted_by text;
CREATE INDEX incident_muted ON incident (muted_by) WHERE muted_by IS NOT NULL;

CREATE FUNCTION sentry_mute_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('sentry_bus', 'mute.changed ' || NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER mute_changed AFTER INSERT OR UPDATE ON mute FOR EACH ROW EXECUTE FUNCTION sentry_mute_changed();

-- What joins a muted incident may be another alert than the mute is for: it is looked at again. One that only repeats is not.
CREATE FUNCTION sentry_alert_joins_muted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM incident i WHERE i.id = NEW.incident_id AND i.muted_by IS NOT NULL)
     AND (SELECT a.status = 'firing' AND a.labels = NEW.labels AND a.title = NEW.title FROM alert a
           WHERE a.incident_id = NEW.incident_id AND a.source = NEW.source AND a.fingerprint = NEW.fingerprint AND a.id < NEW.id
           ORDER BY a.id DESC LIMIT 1) IS NOT TRUE THEN
    PERFORM sentry_enqueue_turns(ARRAY[NEW.incident_id], 'muted?');
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER alert_joins_muted AFTER INSERT ON alert FOR EACH ROW
  WHEN (NEW.status = 'firing') EXECUTE FUNCTION sentry_alert_joins_muted();

CREATE FUNCTION sentry_muted_moves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM sentry_enqueue_turns(ARRAY[NEW.id], 'muted?');
  RETURN NULL;
END $$;
CREATE TRIGGER muted_moves AFTER UPDATE OF severity, target, alert_name ON incident FOR EACH ROW
  WHEN (NEW.muted_by IS NOT NULL AND (NEW.severity, NEW.target, NEW.alert_name) IS DISTINCT FROM (OLD.severity, OLD.target, OLD.alert_name))
  EXECUTE FUNCTION sentry_muted_moves();
