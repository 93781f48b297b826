-- An incident that several sources tell of is over by source when all of them that send ends have ended: one of them that
-- still fires keeps it open.

-- a: source, status, name, title, severity, labels, annotations, fingerprint, delivery_key, starts_at, ends_at, url,
--    target, domain            as in src/domain/alert.ts, with the configured target's name and the incident's domain
--    told                      see the column
--    lock_words                of which alerts that may be one problem share at least one, in one order
--    corrects                  the delivery of which this is an edit, or null
--    vague                     the source's alerts may carry fewer labels than the problem has (a chat message)
--    related_sources           whose incidents an alert of this source may join without sharing their fingerprint;
--                              separated by spaces
--    sends_ends                which sources send the end of their alerts as well; separated by spaces
--    sent_at                   when the source said so; null: now
--    reopen_ms                 how long after its end an incident goes on when its alert fires again
CREATE OR REPLACE FUNCTION sentry_accept_alert(a jsonb, OUT accepted_incident text, OUT accepted_kind text)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_source      CONSTANT text        := a->>'source';
  v_firing      CONSTANT boolean     := a->>'status' = 'firing';
  v_name        CONSTANT text        := a->>'name';
  v_fingerprint CONSTANT text        := a->>'fingerprint';
  v_key         CONSTANT text        := a->>'delivery_key';
  v_vague       CONSTANT boolean     := (a->>'vague')::boolean;
  v_told        CONSTANT jsonb       := a->'told';
  v_related     CONSTANT text[]      := string_to_array(a->>'related_sources', ' ');
  v_sent_at     CONSTANT timestamptz := coalesce((a->>'sent_at')::timestamptz, clock_timestamp());
  v_reopen_from CONSTANT timestamptz := clock_timestamp() - make_interval(secs => (a->>'reopen_ms')::float8 / 1000);
  v             incident%ROWTYPE;
  v_last        text;
  v_counts      boolean;
  v_turn        text;
  v_fires       boolean;
BEGIN
  -- The same delivery twice at one moment: the second waits here and then finds the first one's row.
  PERFORM pg_advisory_xact_lock(hashtextextended('delivery ' || v_key, 0));
  SELECT d.incident_id INTO accepted_incident FROM alert d WHERE d.delivery_key = v_key;
  IF FOUND THEN
    accepted_kind := 'duplicate';
    RETURN;
  END IF;

  -- A chat message and a webhook about one new alert at one moment must see each other. Only the vague side excludes:
  -- webhooks among themselves are kept apart by the unique fingerprint, and share their commits.
  PERFORM CASE WHEN v_vague THEN pg_advisory_xact_lock(l.key) ELSE pg_advisory_xact_lock_shared(l.key) END
     FROM (SELECT DISTINCT hashtextextended('alert word ' || w, 0) AS key
             FROM jsonb_array_elements_text(a->'lock_words') AS w ORDER BY 1) AS l;

  FOR attempt IN 1..10 LOOP
    -- The incident of the message of which this is an edit; else the one that took in the last alert of this fingerprint;
    -- unless it ended too long ago.
    SELECT * INTO v FROM incident i
     WHERE i.id IN (SELECT d.incident_id FROM alert d WHERE d.delivery_key = a->>'corrects')
       AND (i.state NOT IN ('ignored', 'resolved') OR i.ended_at > v_reopen_from OR i.fired_again_at > i.ended_at) FOR UPDATE;
    IF v.id IS NULL THEN
      SELECT x.incident_id INTO v_last FROM alert x WHERE x.fingerprint = v_fingerprint ORDER BY x.id DESC LIMIT 1;
      IF FOUND THEN
        SELECT * INTO v FROM incident i
         WHERE i.id = v_last AND (i.state NOT IN ('ignored', 'resolved') OR i.ended_at > v_reopen_from
                                  OR i.fired_again_at > i.ended_at) FOR UPDATE;
      END IF;
    END IF;
    -- Or one of another source that tells of the same problem: the surest, unfinished first. A headline that only shares
    -- what it shows with an alert is a group's, so it needs several that it fits.
    IF v.id IS NULL THEN
      WITH alike AS MATERIALIZED (
        SELECT i.id, i.opened_at, i.state IN ('ignored', 'resolved') AS ended, sentry_same_problem(v_told, i.told) AS sure
          FROM incident i
         WHERE i.source = ANY (v_related)
           AND (CASE WHEN i.state IN ('ignored', 'resolved') THEN i.ended_at ELSE 'infinity' END) > v_reopen_from
           AND sentry_may_be_same(v_told, i.told)
           AND (v_vague OR NOT EXISTS (SELECT FROM alert o WHERE o.incident_id = i.id AND o.source = v_source
                                          AND o.fingerprint <> v_fingerprint))
      )
      SELECT l.id INTO v_last FROM alike l
       WHERE l.sure > 0 OR (l.sure < 0 AND v_vague AND (SELECT count(*) FROM alike WHERE sure <> 0) > 1)
       ORDER BY l.sure = 2 DESC, l.ended, l.opened_at DESC LIMIT 1;
      IF FOUND THEN
        SELECT * INTO v FROM incident i
         WHERE i.id = v_last AND (i.state NOT IN ('ignored', 'resolved') OR i.ended_at > v_reopen_from) FOR UPDATE;
      END IF;
    END IF;
    EXIT WHEN v.id IS NOT NULL OR NOT v_firing;

    INSERT INTO incident (title, alert_name, severity, domain, target, source, fingerprint, identity, told, labels, annotations)
    VALUES (a->>'title', v_name, a->>'severity', a->>'domain', a->>'target', v_source, v_fingerprint,
            ARRAY(SELECT jsonb_array_elements_text(v_told->'identity')), v_told, a->'labels', a->'annotations')
    ON CONFLICT (fingerprint) WHERE state NOT IN ('ignored', 'resolved') DO NOTHING
    RETURNING id INTO accepted_incident;
    IF accepted_incident IS NOT NULL THEN
      accepted_kind := 'opened';
      EXIT;
    END IF;
    -- Somebody else has just opened it, and its alert is there now: look again.
  END LOOP;

  IF accepted_kind = 'opened' THEN
    INSERT INTO event (incident_id, type, body)
    VALUES (accepted_incident, 'incident.opened', jsonb_build_object('source', v_source, 'title', a->>'title'));
    v_turn := 'opened';

  ELSIF v.id IS NULL THEN
    IF v_firing THEN
      RAISE EXCEPTION 'incident of fingerprint % opened and ended ten times while accepting', v_fingerprint
        USING ERRCODE = 'serialization_failure';
    END IF;
    accepted_kind := 'orphan_resolved';
    RETURN;

  ELSIF v_firing THEN
    accepted_incident := v.id;
    accepted_kind := 'repeated';
    -- Two sources tell of the same occurrence: the one that opened the incident counts.
    v_counts := v.source = v_source;
    IF v.state = 'resolved' THEN
      -- What was said before the end (a chat message read late) does not reopen it.
      IF v_sent_at > v.ended_at AND (v.fired_again_at > v.ended_at) IS NOT TRUE THEN
        accepted_kind := 'reopened';
        v_counts := true;
        v_turn := 'fired_again';
        UPDATE incident SET fired_again_at = clock_timestamp(), source_resolved_at = NULL WHERE id = v.id;
      END IF;
    ELSIF v.state <> 'ignored' AND v_sent_at > v.source_resolved_at THEN
      v_turn := 'fired_again';
      UPDATE incident SET source_resolved_at = NULL WHERE id = v.id;
    END IF;
    UPDATE incident i SET occurrences = i.occurrences + v_counts::int,
           severity = sentry_worse_severity(i.severity, a->>'severity'),
           -- What a message had to guess, or could not tell, its webhook knows.
           alert_name = CASE WHEN v_vague THEN i.alert_name ELSE coalesce(v_name, i.alert_name) END,
           target = coalesce(i.target, a->>'target'),
           domain = CASE WHEN i.target IS NULL AND a->>'target' IS NOT NULL THEN a->>'domain' ELSE i.domain END,
           updated_at = clock_timestamp()
     WHERE i.id = v.id RETURNING i.occurrences INTO v.occurrences;
    INSERT INTO event (incident_id, type, body)
    VALUES (v.id, 'alert.repeated', jsonb_build_object('source', v_source, 'occurrences', v.occurrences));

  ELSE
    -- Said of an occurrence before the one we know of: it does not end this one.
    IF EXISTS (SELECT FROM alert f WHERE f.incident_id = v.id AND f.source = v_source AND f.status = 'firing'
                  AND f.starts_at > coalesce((a->>'ends_at')::timestamptz, v_sent_at)) THEN
      accepted_kind := 'orphan_resolved';
      RETURN;
    END IF;
    accepted_incident := v.id;
    accepted_kind := 'resolved';
    -- Over when all who would say so have: a source still fires when its last word of an alert of this incident is that.
    v_fires := EXISTS (
      SELECT FROM (SELECT DISTINCT ON (o.source, o.fingerprint) o.source, o.status FROM alert o
                    WHERE o.incident_id = v.id AND (o.source, o.fingerprint) <> (v_source, v_fingerprint)
                      AND o.source = ANY (string_to_array(a->>'sends_ends', ' '))
                    ORDER BY o.source, o.fingerprint, o.id DESC) AS last
       WHERE last.status = 'firing');
    IF v.source_resolved_at IS NULL AND v_fires THEN
      INSERT INTO event (incident_id, type, body)
      VALUES (v.id, 'alert.resolved', jsonb_build_object('source', v_source));
    ELSIF v.source_resolved_at IS NULL THEN
      UPDATE incident SET source_resolved_at = clock_timestamp(), fired_again_at = NULL, updated_at = clock_timestamp()
       WHERE id = v.id;
      INSERT INTO event (incident_id, type, body)
      VALUES (v.id, 'alert.resolved', jsonb_build_object('source', v_source));
      IF v.state NOT IN ('ignored', 'resolved') THEN
        v_turn := 'source_resolved';
      END IF;
    END IF;
  END IF;

  INSERT INTO alert (incident_id, delivery_key, source, fingerprint, status, title, labels, annotations, starts_at, ends_at, url)
  VALUES (accepted_incident, v_key, v_source, v_fingerprint, a->>'status', a->>'title', a->'labels', a->'annotations',
          (a->>'starts_at')::timestamptz, (a->>'ends_at')::timestamptz, a->>'url');

  IF v_turn IS NOT NULL THEN
    PERFORM sentry_enqueue_turns(ARRAY[accepted_incident], v_turn);
  END IF;
END $$;
