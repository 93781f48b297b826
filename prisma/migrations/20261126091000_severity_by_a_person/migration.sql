-- How bad it was told to be when a person said otherwise: they have seen that, and only what is worse changes it again. Null: nobody has.
ALTER TABLE incident ADD COLUMN severity_seen text;

-- A monitor repeats its alert with the severity it always had, and a turn judges by what it read: neither undoes a person's word. What
-- rests under the incident still raises it, since nobody else calls for that.
CREATE FUNCTION sentry_keep_severity() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF sentry_worse_severity(OLD.severity_seen, NEW.severity) = OLD.severity_seen
     AND NOT EXISTS (SELECT FROM incident m WHERE m.merged_into = OLD.id AND m.severity = NEW.severity
                        AND m.source_resolved_at IS NULL AND m.state NOT IN ('ignored', 'resolved')) THEN
    NEW.severity := OLD.severity;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER keep_severity BEFORE UPDATE OF severity ON incident FOR EACH ROW
  WHEN (OLD.severity_seen IS NOT NULL AND NEW.severity <> OLD.severity)
  EXECUTE FUNCTION sentry_keep_severity();

-- With its end their word has been heeded: what fires again is as bad as it is told to be.
CREATE FUNCTION sentry_forget_severity_seen() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.severity_seen := NULL;
  RETURN NEW;
END $$;
CREATE TRIGGER forget_severity_seen BEFORE UPDATE OF state ON incident FOR EACH ROW
  WHEN (OLD.severity_seen IS NOT NULL AND NEW.state IN ('resolved', 'ignored'))
  EXECUTE FUNCTION sentry_forget_severity_seen();
