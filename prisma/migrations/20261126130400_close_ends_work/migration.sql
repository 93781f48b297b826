-- Work under way is told that a person ended its incident, as it is told of a stop. An end on another's word comes from a turn of the
-- incident itself, and no other one works then.
DROP TRIGGER incident_stopped ON incident;
CREATE TRIGGER incident_stopped AFTER UPDATE OF state ON incident FOR EACH ROW
  WHEN (NEW.state = 'stopped' OR NEW.state = 'resolved' AND NEW.resolved_by = 'person')
  EXECUTE FUNCTION sentry_work_stopped('');
