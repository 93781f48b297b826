-- The event bus: whoever changes a row tells every process, at its commit, by topic and id. Triggers, so that no path can
-- forget it. A notice is a hint and may be lost: who hears it reads the row, and looks now and then without one.
CREATE FUNCTION sentry_incident_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('sentry_bus', 'incident.changed ' || NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER incident_changed AFTER UPDATE ON incident FOR EACH ROW
  WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION sentry_incident_changed();

-- An incident is opened with an event.
CREATE FUNCTION sentry_incident_part_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('sentry_bus', 'incident.changed ' || NEW.incident_id);
  RETURN NULL;
END $$;
CREATE TRIGGER event_added AFTER INSERT ON event FOR EACH ROW EXECUTE FUNCTION sentry_incident_part_changed();
CREATE TRIGGER action_changed AFTER INSERT OR UPDATE ON action FOR EACH ROW
  EXECUTE FUNCTION sentry_incident_part_changed();

-- Work that a person stops while it is under way.
CREATE FUNCTION sentry_work_stopped() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('sentry_bus', 'work.stopped ' || TG_ARGV[0] || NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER incident_stopped AFTER UPDATE OF state ON incident FOR EACH ROW
  WHEN (NEW.state = 'stopped') EXECUTE FUNCTION sentry_work_stopped('');
CREATE TRIGGER question_stopped AFTER UPDATE OF state ON question FOR EACH ROW
  WHEN (NEW.state = 'stopped') EXECUTE FUNCTION sentry_work_stopped('question:');

CREATE FUNCTION sentry_proposal_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('sentry_bus', 'proposal.changed ' || coalesce(NEW.id, OLD.id));
  RETURN NULL;
END $$;
CREATE TRIGGER proposal_changed AFTER INSERT OR UPDATE OR DELETE ON dream_job FOR EACH ROW
  EXECUTE FUNCTION sentry_proposal_changed();

CREATE FUNCTION sentry_proposal_tried() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('sentry_bus', 'proposal.changed ' || NEW.job_id);
  RETURN NULL;
END $$;
CREATE TRIGGER proposal_tried AFTER INSERT OR UPDATE ON memory_dry_run FOR EACH ROW
  EXECUTE FUNCTION sentry_proposal_tried();

-- What everybody shares: promoted runbooks, and what a waiting proposal would replace.
CREATE FUNCTION sentry_workspace_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('sentry_bus', 'workspace.changed ' || coalesce(NEW.id, OLD.id));
  RETURN NULL;
END $$;
CREATE TRIGGER workspace_written AFTER INSERT OR UPDATE ON memory_document FOR EACH ROW
  WHEN (NEW.incident_id IS NULL) EXECUTE FUNCTION sentry_workspace_changed();
CREATE TRIGGER workspace_forgotten AFTER DELETE ON memory_document FOR EACH ROW
  WHEN (OLD.incident_id IS NULL) EXECUTE FUNCTION sentry_workspace_changed();
