-- What was skipped takes nothing back, so it may be taken back again.
DROP INDEX action_one_undo;
CREATE UNIQUE INDEX action_one_undo ON action (undoes)
 WHERE undoes IS NOT NULL AND state NOT IN ('denied', 'expired', 'void', 'failed', 'skipped');

-- What the first claim reserved of its limits for a step that never runs is given back.
CREATE OR REPLACE FUNCTION action_skip_rest() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.state = 'skipped' THEN
    DELETE FROM rate_claim WHERE action_id = NEW.id;
  END IF;
  UPDATE action SET state = 'skipped', finished_at = clock_timestamp(),
         outcome = format('Not run: step %s, %s, %s.', NEW.step, NEW.tool,
                          CASE NEW.state WHEN 'denied' THEN 'was denied' WHEN 'expired' THEN 'expired'
                                         WHEN 'failed' THEN 'failed' ELSE 'was called off' END)
   WHERE plan_id = NEW.plan_id AND step > NEW.step AND state = 'queued';
  RETURN NULL;
END $$;

-- A plan that is under way keeps other actions off its system between two of its steps: looked for at each claim.
CREATE INDEX action_queued ON action (plan_id) WHERE state = 'queued';
