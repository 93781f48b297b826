-- What rests under another incident looks whether it still does once that one waits or is over itself, however that came about; and what
-- gets worse under it makes it as severe.
CREATE FUNCTION sentry_lead_moves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM sentry_enqueue_turns(array_agg(id), 'lead moves') FROM incident
   WHERE merged_into = NEW.id AND (state NOT IN ('ignored', 'resolved') OR fired_again_at > ended_at) HAVING count(*) > 0;
  RETURN NULL;
END $$;
CREATE TRIGGER lead_moves AFTER UPDATE OF state, muted_by, flapping_until ON incident FOR EACH ROW
  WHEN ((NEW.state, NEW.muted_by, NEW.flapping_until) IS DISTINCT FROM (OLD.state, OLD.muted_by, OLD.flapping_until)
        AND (NEW.muted_by IS NOT NULL OR NEW.flapping_until IS NOT NULL
             OR NEW.state IN ('ignored', 'reported', 'resolved', 'escalated', 'stopped')))
  EXECUTE FUNCTION sentry_lead_moves();

CREATE FUNCTION sentry_member_moves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM sentry_enqueue_turns(ARRAY[NEW.id], 'lead moves');
  RETURN NULL;
END $$;
CREATE TRIGGER member_moves AFTER UPDATE OF severity ON incident FOR EACH ROW
  WHEN (NEW.merged_into IS NOT NULL AND NEW.severity IS DISTINCT FROM OLD.severity)
  EXECUTE FUNCTION sentry_member_moves();

-- Which incidents of related systems began at about the same time.
CREATE INDEX incident_of_target ON incident (target, opened_at) WHERE state NOT IN ('ignored', 'resolved');
