-- An incident goes on while it lives: what is told of one that waits asks once more whether it is still so. `news_at`: when the first was told
-- that no look has taken yet; `looked_at`: when the last look took what there was; `is_looking`: it has not said yet what it saw.
ALTER TABLE incident
  ADD COLUMN news_at timestamptz,
  ADD COLUMN looked_at timestamptz,
  ADD COLUMN is_looking boolean NOT NULL DEFAULT false;

-- However much is told, one turn is asked for: the rows are locked first, so that what is told while a look takes the news is the next one's;
-- not against events, whose writers may wait for these very rows.
-- Nothing is asked of what ends, rests or is watched anyway; what is at work, or is stopped, keeps it for when it waits (incidents/move.ts).
CREATE FUNCTION sentry_tell_news(incidents text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_waiting text[];
BEGIN
  PERFORM FROM incident WHERE id = ANY (incidents) ORDER BY id COLLATE "C" FOR NO KEY UPDATE;
  WITH told AS (
    UPDATE incident SET news_at = clock_timestamp()
     WHERE id = ANY (incidents) AND news_at IS NULL AND source_resolved_at IS NULL AND merged_into IS NULL AND muted_by IS NULL
       AND (flapping_until > statement_timestamp()) IS NOT TRUE
       AND state IN ('diagnosing', 'planning', 'awaiting_approval', 'reported', 'escalated', 'stopped')
       AND (state = 'reported' AND effort IN ('none', 'on_demand', 'triage')) IS NOT TRUE
    RETURNING id, state)
  SELECT array_agg(id) INTO v_waiting FROM told WHERE state IN ('awaiting_approval', 'reported', 'escalated');
  IF v_waiting IS NOT NULL THEN
    PERFORM sentry_enqueue_turns(v_waiting, 'still so?');
  END IF;
END $$;

-- An alert that joins, and one of several that ends, are news; one that only repeats is not.
CREATE FUNCTION sentry_alert_is_news() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM incident i WHERE i.id = NEW.incident_id
                AND i.state IN ('diagnosing', 'planning', 'awaiting_approval', 'reported', 'escalated', 'stopped'))
     AND (SELECT a.status = NEW.status AND a.labels = NEW.labels AND a.title = NEW.title FROM alert a
           WHERE a.incident_id = NEW.incident_id AND a.source = NEW.source AND a.fingerprint = NEW.fingerprint AND a.id < NEW.id
           ORDER BY a.id DESC LIMIT 1) IS NOT TRUE THEN
    PERFORM sentry_tell_news(ARRAY[NEW.incident_id]);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER alert_is_news AFTER INSERT ON alert FOR EACH ROW EXECUTE FUNCTION sentry_alert_is_news();
