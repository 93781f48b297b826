-- In a channel anybody's app may say that something is over, also one that repeats what strangers write (the title of an issue). A
-- message ends only what a message of its own app began; who posted it is in its annotations, and older messages do not tell.
CREATE FUNCTION sentry_ends_others(v_incident text, a jsonb) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT a #> '{annotations,posted_by}' IS NOT NULL AND NOT EXISTS (
    SELECT FROM alert f
     WHERE f.incident_id = v_incident AND f.source = a->>'source' AND f.status = 'firing'
       AND coalesce(f.annotations->>'posted_by' = a #>> '{annotations,posted_by}', true))
$$;

-- The rest of the function stays as it is, whichever of its versions this database has.
DO $$
DECLARE
  v_before CONSTANT text := pg_get_functiondef('sentry_accept_alert(jsonb)'::regprocedure);
  v_after  CONSTANT text := replace(v_before, 'v_fires := v_left > 0 OR EXISTS (',
                                    'v_fires := v_left > 0 OR sentry_ends_others(v.id, a) OR EXISTS (');
BEGIN
  IF v_after = v_before THEN
    RAISE EXCEPTION 'sentry_accept_alert is not as this migration expects it';
  END IF;
  EXECUTE v_after;
END $$;
