-- What changes of a part is shown where the incident that leads is: whoever shows that one hears of it.
CREATE OR REPLACE FUNCTION sentry_incident_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('sentry_bus', 'incident.changed ' || NEW.id);
  IF NEW.merged_into IS NOT NULL THEN
    PERFORM pg_notify('sentry_bus', 'incident.changed ' || NEW.merged_into);
  END IF;
  RETURN NULL;
END $$;
