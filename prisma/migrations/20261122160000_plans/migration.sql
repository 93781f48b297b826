-- A plan of several steps is named by its first one, which carries what is decided of it: card, approvals, expiry.
-- The later steps are `queued` until the step before them has taken effect. A single action is a plan of its own.
ALTER TABLE action ADD COLUMN plan_id text, ADD COLUMN step integer NOT NULL DEFAULT 1;
UPDATE action SET plan_id = id;
ALTER TABLE action ALTER COLUMN plan_id SET NOT NULL,
  ADD CONSTRAINT action_step CHECK (step BETWEEN 1 AND 5),
  ADD CONSTRAINT action_first_step CHECK ((step = 1) = (plan_id = id)),
  -- Nothing is decided of a later step by itself.
  ADD CONSTRAINT action_later_step CHECK (step = 1 OR state NOT IN ('proposed', 'denied')),
  ADD CONSTRAINT action_queued CHECK (step > 1 OR state NOT IN ('queued', 'skipped'));
CREATE UNIQUE INDEX action_plan_step ON action (plan_id, step);

CREATE FUNCTION action_alone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.plan_id := coalesce(NEW.plan_id, NEW.id);
  RETURN NEW;
END $$;
CREATE TRIGGER action_alone BEFORE INSERT ON action FOR EACH ROW EXECUTE FUNCTION action_alone();

-- Whatever ends a step otherwise than by success ends what follows it, in the same transaction: no path can forget it.
CREATE FUNCTION action_skip_rest() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE action SET state = 'skipped', finished_at = clock_timestamp(),
         outcome = format('Not run: step %s, %s, %s.', NEW.step, NEW.tool,
                          CASE NEW.state WHEN 'denied' THEN 'was denied' WHEN 'expired' THEN 'expired'
                                         WHEN 'failed' THEN 'failed' ELSE 'was called off' END)
   WHERE plan_id = NEW.plan_id AND step > NEW.step AND state = 'queued';
  RETURN NULL;
END $$;
CREATE TRIGGER action_skip_rest AFTER UPDATE OF state ON action FOR EACH ROW
  WHEN (NEW.state IN ('denied', 'expired', 'void', 'failed', 'skipped') AND OLD.state IS DISTINCT FROM NEW.state)
  EXECUTE FUNCTION action_skip_rest();
