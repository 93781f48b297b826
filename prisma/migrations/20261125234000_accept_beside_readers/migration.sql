-- A row that names an incident (an event, a call) holds a key lock on it until its transaction ends. An alert changes no key, so it need not wait for that:
-- with FOR UPDATE it did, and all alerts of its batch with it, for seconds in a storm. Others that change the incident still go one after the other.
DO $$
DECLARE
  v record;
BEGIN
  FOR v IN SELECT p.oid FROM pg_proc p
            WHERE p.proname LIKE 'sentry\_accept\_%' AND p.pronamespace = current_schema()::regnamespace AND p.prosrc LIKE '% FOR UPDATE;%' LOOP
    EXECUTE replace(pg_get_functiondef(v.oid), ' FOR UPDATE;', ' FOR NO KEY UPDATE;');
  END LOOP;
END $$;
