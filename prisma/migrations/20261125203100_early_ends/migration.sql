-- Senders retry and reorder: an end may come before its beginning. Ends are remembered for a day, the newest of each alert and at most
-- 20,000; a beginning at or before it is recorded as over. Only where the sender tells its own times: elsewhere the order of arrival counts.
CREATE TABLE alert_end (
  source      text NOT NULL,
  fingerprint text NOT NULL,
  ends_at     timestamptz NOT NULL,
  told_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  n           bigint GENERATED ALWAYS AS IDENTITY,
  PRIMARY KEY (source, fingerprint)
);
CREATE INDEX alert_end_n ON alert_end (n);

-- Each end forgets up to three that are too old or too many.
CREATE FUNCTION sentry_note_end(a jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_n bigint;
BEGIN
  IF (a->>'own_times')::boolean IS NOT TRUE OR a->>'ends_at' IS NULL THEN
    RETURN;
  END IF;
  -- An end of tomorrow would silence what begins until then.
  INSERT INTO alert_end AS e (source, fingerprint, ends_at)
  VALUES (a->>'source', a->>'fingerprint', least((a->>'ends_at')::timestamptz, clock_timestamp()))
  ON CONFLICT (source, fingerprint) DO UPDATE
     SET ends_at = greatest(e.ends_at, excluded.ends_at), told_at = excluded.told_at, n = DEFAULT
  RETURNING n INTO v_n;
  DELETE FROM alert_end WHERE n IN (
    SELECT o.n FROM (SELECT n, told_at FROM alert_end ORDER BY n LIMIT 3 FOR UPDATE SKIP LOCKED) AS o
     WHERE o.n <= v_n - 20000 OR o.told_at < clock_timestamp() - interval '1 day');
END $$;

-- a: source, status, name, title, severity, labels, annotations, fingerprint, delivery_key, starts_at, ends_at, url,
--    target, domain            as in src/core/alert.ts, with the configured target's name and the incident's domain
--    told                      see the column
--    lock_words                of which alerts that may be one problem share at least one, in one order
--    corrects                  the delivery of which this is an edit, or null
--    vague                     the source's alerts may carry fewer labels than the problem has (a chat message)
--    related_sources           whose incidents an alert of this source may join without sharing their fingerprint;
--                              separated by spaces
--    sends_ends                which sources send the end of their alerts as well; separated by spaces
--    sent_at                   when the source said so; null: now
--    own_times                 starts_at and ends_at are when the occurrence began and ended, by one clock of the sender
--    group_key                 of alerts that one group of the sender holds, of one rule and one target; or null
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
  v_group       CONSTANT text        := a->>'group_key';
  v_related     CONSTANT text[]      := string_to_array(a->>'related_sources', ' ');
  v_sent_at     CONSTANT timestamptz := coalesce((a->>'sent_at')::timestamptz, clock_timestamp());
  v_reopen_from CONSTANT timestamptz := clock_timestamp() - make_interval(secs => (a->>'reopen_ms')::float8 / 1000);
  -- What has waited for people for longer is not looked through: that grows for as long as nobody ends it.
  v_opened_from CONSTANT timestamptz := clock_timestamp() - interval '7 days';
  v_starts_at   CONSTANT timestamptz := (a->>'starts_at')::timestamptz;
  v             incident%ROWTYPE;
  v_over        boolean := false;
  -- Whether it fires once this is on record: what is over changes nothing of a later occurrence that fires.
  v_on          boolean := v_firing;
  v_again       boolean := false;
  v_last        text;
  v_counts      boolean;
  v_turn        text;
  v_fires       boolean;
  v_joins       boolean := false;
  v_left        int := 0;
BEGIN
  -- The same delivery twice at one moment: the second waits here and then finds the first one's row.
  PERFORM pg_advisory_xact_lock(hashtextextended('delivery ' || v_key, 0));
  SELECT d.incident_id INTO accepted_incident FROM alert d WHERE d.delivery_key = v_key;
  IF FOUND THEN
    accepted_kind := 'duplicate';
    RETURN;
  END IF;

  -- The beginning and the end of an occurrence at one moment, in whichever order, must see each other.
  IF v_firing THEN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('alert ' || v_fingerprint, 0));
    v_over := EXISTS (SELECT FROM alert_end e
                       WHERE e.source = v_source AND e.fingerprint = v_fingerprint AND e.ends_at >= v_starts_at);
  ELSE
    PERFORM pg_advisory_xact_lock(hashtextextended('alert ' || v_fingerprint, 0));
    PERFORM sentry_note_end(a);
  END IF;

  -- A chat message and a webhook about one new alert at one moment must see each other. Only the vague side excludes:
  -- webhooks among themselves are kept apart by the unique fingerprint, and share their commits.
  PERFORM CASE WHEN v_vague THEN pg_advisory_xact_lock(l.key) ELSE pg_advisory_xact_lock_shared(l.key) END
     FROM (SELECT DISTINCT hashtextextended('alert word ' || w, 0) AS key
             FROM jsonb_array_elements_text(a->'lock_words') AS w ORDER BY 1) AS l;

  -- The first of a group opens its incident, and the others must see it.
  IF v_group IS NOT NULL THEN
    PERFORM pg_advisory_xact_lock(hashtextextended('group ' || v_group, 0));
  END IF;

  FOR attempt IN 1..10 LOOP
    -- The incident of the message of which this is an edit; else the one that took in the last alert of this fingerprint;
    -- unless it ended too long ago.
    SELECT * INTO v FROM incident i
     WHERE i.id IN (SELECT d.incident_id FROM alert d WHERE d.delivery_key = a->>'corrects')
       AND sentry_may_go_on(i, v_reopen_from) FOR UPDATE;
    IF v.id IS NULL THEN
      SELECT x.incident_id INTO v_last FROM alert x WHERE x.fingerprint = v_fingerprint ORDER BY x.id DESC LIMIT 1;
      IF FOUND THEN
        SELECT * INTO v FROM incident i
         WHERE i.id = v_last FOR UPDATE;
        -- What is over belongs to the incident that was open then, however long ago that ended.
        IF (sentry_may_go_on(v, v_reopen_from) OR v_over AND v.ended_at >= v_starts_at) IS NOT TRUE THEN
          v := NULL;
        END IF;
      END IF;
    END IF;
    -- Or one of another source that tells of the same problem: the surest, unfinished first. A headline that only shares
    -- what it shows with an alert is a group's, so it needs several that it fits.
    IF v.id IS NULL THEN
      WITH alike AS MATERIALIZED (
        SELECT i.id, i.opened_at, i.state IN ('ignored', 'resolved') AS ended, sentry_same_problem(v_told, i.told) AS sure
          FROM (SELECT id, source, state, told, opened_at FROM incident
                 WHERE told->>'name' = v_told->>'name' AND state NOT IN ('ignored', 'resolved') AND opened_at > v_opened_from
                UNION
                SELECT id, source, state, told, opened_at FROM incident
                 WHERE jsonb_typeof(told->'head') = 'object' AND state NOT IN ('ignored', 'resolved') AND opened_at > v_opened_from
                UNION
                SELECT id, source, state, told, opened_at FROM incident
                 WHERE jsonb_typeof(v_told->'head') = 'object' AND state NOT IN ('ignored', 'resolved') AND opened_at > v_opened_from
                UNION
                SELECT id, source, state, told, opened_at FROM incident
                 WHERE source = ANY (v_related) AND state IN ('ignored', 'resolved') AND ended_at > v_reopen_from
                UNION
                -- It fires again, and the turn that goes on with it has not come (under a mute, for hours).
                SELECT id, source, state, told, opened_at FROM incident
                 WHERE source = ANY (v_related) AND state = 'resolved' AND fired_again_at > ended_at) i
         WHERE i.source = ANY (v_related) AND sentry_may_be_same(v_told, i.told)
           AND (v_vague OR NOT EXISTS (SELECT FROM alert_state o WHERE o.incident_id = i.id AND o.source = v_source
                                          AND o.fingerprint <> v_fingerprint))
      )
      SELECT l.id INTO v_last FROM alike l
       WHERE l.sure > 0 OR (l.sure < 0 AND v_vague AND (SELECT count(*) FROM alike WHERE sure <> 0) > 1)
       ORDER BY l.sure = 2 DESC, l.ended, l.opened_at DESC LIMIT 1;
      IF FOUND THEN
        SELECT * INTO v FROM incident i
         WHERE i.id = v_last AND sentry_may_go_on(i, v_reopen_from) FOR UPDATE;
      END IF;
    END IF;
    -- Or the one that another alert of its group has opened.
    IF v.id IS NULL AND v_group IS NOT NULL AND v_firing THEN
      SELECT * INTO v FROM incident i WHERE i.id = sentry_incident_of_group(v_group, v_reopen_from) FOR UPDATE;
      v_joins := FOUND;
    END IF;
    EXIT WHEN v.id IS NOT NULL OR NOT v_firing;

    INSERT INTO incident (title, alert_name, severity, domain, target, source, fingerprint, identity, told, labels, annotations,
                          group_key)
    VALUES (a->>'title', v_name, a->>'severity', a->>'domain', a->>'target', v_source, v_fingerprint,
            ARRAY(SELECT jsonb_array_elements_text(v_told->'identity')), v_told, a->'labels', a->'annotations', v_group)
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
    -- Its end came before it: it is on record and over, and nobody looks into it.
    IF v_over THEN
      v_on := false;
      UPDATE incident SET source_resolved_at = clock_timestamp(), members_firing = 0 WHERE id = accepted_incident;
      INSERT INTO event (incident_id, type, body)
      VALUES (accepted_incident, 'alert.resolved', jsonb_build_object('source', v_source));
    END IF;

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
    IF v_over THEN
      v_on := coalesce((SELECT s.firing FROM alert_state s
                         WHERE s.incident_id = v.id AND s.source = v_source AND s.fingerprint = v_fingerprint), false);
    END IF;
    IF v_group IS NOT NULL THEN
      PERFORM sentry_count_member(v, a, v_on);
    END IF;
    -- Two sources tell of the same occurrence: the one that opened the incident counts.
    -- Of a group, its first alert.
    v_counts := NOT v_over AND v.source = v_source AND NOT v_joins AND (v.group_key IS NULL OR v.fingerprint = v_fingerprint);
    IF v_over THEN
      -- An occurrence whose end is known (its notification was late, or came again) fires no more.
      NULL;
    ELSIF v.state = 'resolved' THEN
      -- What was said before the end (a chat message read late) does not reopen it.
      IF v_sent_at > v.ended_at AND (v.fired_again_at > v.ended_at) IS NOT TRUE THEN
        accepted_kind := 'reopened';
        v_counts := true;
        v_turn := 'fired_again';
        v_again := true;
        PERFORM sentry_fires_again(v, a);
      END IF;
    ELSIF v_sent_at > v.source_resolved_at THEN
      -- Of an ignored one it is on record, and nothing comes of it until a person says so.
      v_turn := CASE WHEN v.state <> 'ignored' THEN 'fired_again' END;
      v_again := true;
      PERFORM sentry_fires_again(v, a);
    END IF;
    UPDATE incident i SET occurrences = i.occurrences + v_counts::int,
           severity = sentry_worse_severity(i.severity, a->>'severity'),
           -- What a message had to guess, or could not tell, its webhook knows.
           alert_name = CASE WHEN v_vague THEN i.alert_name ELSE coalesce(v_name, i.alert_name) END,
           target = coalesce(i.target, a->>'target'),
           -- A message may come before the group that it tells of.
           group_key = coalesce(i.group_key, v_group),
           domain = CASE WHEN i.target IS NULL AND a->>'target' IS NOT NULL THEN a->>'domain' ELSE i.domain END,
           -- It goes on: what comes from now on has an age of its own.
           details_deleted_at = NULL,
           updated_at = clock_timestamp()
     WHERE i.id = v.id RETURNING i.occurrences INTO v.occurrences;
    INSERT INTO event (incident_id, type, body)
    VALUES (v.id, 'alert.repeated', jsonb_build_object('source', v_source, 'occurrences', v.occurrences)
            || CASE WHEN v_joins THEN jsonb_build_object('members', v.members + 1) ELSE '{}' END
            || CASE WHEN v_over THEN '{"over": true}' WHEN v_again THEN '{"again": true}' ELSE '{}' END::jsonb);

  ELSE
    -- Said of an occurrence before the one we know of: it does not end this one.
    IF sentry_began_at(v, a) > coalesce((a->>'ends_at')::timestamptz, v_sent_at) THEN
      accepted_kind := 'orphan_resolved';
      RETURN;
    END IF;
    accepted_incident := v.id;
    accepted_kind := 'resolved';
    -- Over when all who would say so have: a source still fires when its last word of an alert of this incident is that.
    IF v_group IS NOT NULL AND v.group_key IS NOT NULL THEN
      v_left := sentry_count_member(v, a, false);
    END IF;
    v_fires := v_left > 0 OR sentry_ends_others(v.id, a) OR EXISTS (
      SELECT FROM alert_state s
       WHERE s.incident_id = v.id AND s.firing AND (s.source, s.fingerprint) <> (v_source, v_fingerprint)
         AND s.source = ANY (string_to_array(a->>'sends_ends', ' ')));
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

  PERFORM sentry_note_alert(accepted_incident, a, v_on);
  INSERT INTO alert (incident_id, delivery_key, source, fingerprint, status, title, labels, annotations, starts_at, ends_at, url)
  VALUES (accepted_incident, v_key, v_source, v_fingerprint, a->>'status', a->>'title', a->'labels', a->'annotations',
          (a->>'starts_at')::timestamptz, (a->>'ends_at')::timestamptz, a->>'url');

  IF v_turn IS NOT NULL THEN
    PERFORM sentry_enqueue_turns(ARRAY[accepted_incident], v_turn);
  END IF;
END $$;

-- A batch: what arrives while a statement runs goes into the next one, and shares its commit. New problems, which is
-- what a storm is made of, are taken together; everything else goes one by one, in its order, through the above.
CREATE OR REPLACE FUNCTION sentry_accept_alerts(alerts jsonb)
RETURNS TABLE (n bigint, accepted_incident text, accepted_kind text)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  v_taken     bigint[] := '{}';
  v_incidents text[]   := '{}';
BEGIN
  IF jsonb_array_length(alerts) > 1 THEN
    -- The locks of the single function, in one order, so that two batches cannot wait for each other.
    PERFORM pg_advisory_xact_lock(l.key) FROM (
      SELECT DISTINCT hashtextextended('delivery ' || x.delivery_key, 0) AS key
      FROM jsonb_to_recordset(alerts) AS x (delivery_key text) ORDER BY 1) AS l;
    PERFORM CASE WHEN l.excludes THEN pg_advisory_xact_lock(l.key) ELSE pg_advisory_xact_lock_shared(l.key) END FROM (
      SELECT hashtextextended('alert ' || x.fingerprint, 0) AS key, bool_or(x.status <> 'firing') AS excludes
      FROM jsonb_to_recordset(alerts) AS x (fingerprint text, status text) GROUP BY 1 ORDER BY 1) AS l;
    PERFORM CASE WHEN l.excludes THEN pg_advisory_xact_lock(l.key) ELSE pg_advisory_xact_lock_shared(l.key) END FROM (
      SELECT hashtextextended('alert word ' || w, 0) AS key, bool_or(x.vague) AS excludes
      FROM jsonb_to_recordset(alerts) AS x (lock_words jsonb, vague boolean), jsonb_array_elements_text(x.lock_words) AS w
      GROUP BY 1 ORDER BY 1) AS l;
    PERFORM pg_advisory_xact_lock(l.key) FROM (
      SELECT DISTINCT hashtextextended('group ' || x.group_key, 0) AS key
      FROM jsonb_to_recordset(alerts) AS x (group_key text) WHERE x.group_key IS NOT NULL ORDER BY 1) AS l;
  END IF;

  IF jsonb_array_length(alerts) > 1 AND NOT alerts @@ '$[*].vague == true' THEN

    WITH told AS MATERIALIZED (
      SELECT x.*, count(*) OVER (PARTITION BY x.fingerprint) AS same, count(*) OVER (PARTITION BY x.delivery_key) AS twice,
             row_number() OVER (PARTITION BY x.group_key ORDER BY x.n) AS nth
      FROM ROWS FROM (jsonb_to_recordset(alerts) AS (
        source text, status text, name text, title text, severity text, labels jsonb, annotations jsonb,
        fingerprint text, delivery_key text, starts_at timestamptz, ends_at timestamptz, url text, target text,
        domain text, told jsonb, related_sources text, group_key text, reopen_ms float8)) WITH ORDINALITY
        AS x (source, status, name, title, severity, labels, annotations, fingerprint, delivery_key, starts_at, ends_at,
              url, target, domain, told, related_sources, group_key, reopen_ms, n)
    ), fresh AS MATERIALIZED (
      -- Subqueries with LIMIT stay lookups by index, whatever the planner thinks of the size of the batch.
      SELECT t.* FROM told t
      WHERE t.status = 'firing' AND t.same = 1 AND t.twice = 1
        -- Of a group the first opens, the others join it.
        AND (t.group_key IS NULL OR t.nth = 1
             AND sentry_incident_of_group(t.group_key, clock_timestamp() - make_interval(secs => t.reopen_ms / 1000)) IS NULL)
        AND (SELECT d.id FROM alert d WHERE d.delivery_key = t.delivery_key LIMIT 1) IS NULL
        AND (SELECT d.id FROM alert d WHERE d.fingerprint = t.fingerprint LIMIT 1) IS NULL
        AND (SELECT e.source FROM alert_end e
             WHERE e.source = t.source AND e.fingerprint = t.fingerprint AND e.ends_at >= t.starts_at LIMIT 1) IS NULL
        AND (SELECT i.id FROM incident i
             WHERE i.told->>'name' = t.told->>'name' AND i.state NOT IN ('ignored', 'resolved')
               AND i.opened_at > statement_timestamp() - interval '7 days' AND i.source = ANY (string_to_array(t.related_sources, ' '))
               AND CASE WHEN sentry_may_be_same(t.told, i.told) THEN sentry_same_problem(t.told, i.told) > 0 END
             LIMIT 1) IS NULL
        AND (SELECT i.id FROM incident i
             WHERE jsonb_typeof(i.told->'head') = 'object' AND i.state NOT IN ('ignored', 'resolved')
               AND i.opened_at > statement_timestamp() - interval '7 days' AND i.source = ANY (string_to_array(t.related_sources, ' '))
               AND CASE WHEN sentry_may_be_same(t.told, i.told) THEN sentry_same_problem(t.told, i.told) > 0 END
             LIMIT 1) IS NULL
        AND (SELECT i.id FROM incident i
             WHERE jsonb_typeof(t.told->'head') = 'object' AND i.state NOT IN ('ignored', 'resolved')
               AND i.opened_at > statement_timestamp() - interval '7 days' AND i.source = ANY (string_to_array(t.related_sources, ' '))
               AND CASE WHEN sentry_may_be_same(t.told, i.told) THEN sentry_same_problem(t.told, i.told) > 0 END
             LIMIT 1) IS NULL
        AND (SELECT i.id FROM incident i
             WHERE i.source = ANY (string_to_array(t.related_sources, ' ')) AND i.state IN ('ignored', 'resolved')
               AND i.ended_at > statement_timestamp() - make_interval(secs => t.reopen_ms / 1000)
               AND CASE WHEN sentry_may_be_same(t.told, i.told) THEN sentry_same_problem(t.told, i.told) > 0 END
             LIMIT 1) IS NULL
        AND (SELECT i.id FROM incident i
             WHERE i.source = ANY (string_to_array(t.related_sources, ' ')) AND i.state = 'resolved' AND i.fired_again_at > i.ended_at
               AND CASE WHEN sentry_may_be_same(t.told, i.told) THEN sentry_same_problem(t.told, i.told) > 0 END
             LIMIT 1) IS NULL
    ), opened AS (
      INSERT INTO incident (title, alert_name, severity, domain, target, source, fingerprint, identity, told, labels, annotations,
                            group_key)
      SELECT f.title, f.name, f.severity, f.domain, f.target, f.source, f.fingerprint,
             ARRAY(SELECT jsonb_array_elements_text(f.told->'identity')), f.told, f.labels, f.annotations, f.group_key
      -- In one order: two batches with the same new problems must not wait for each other.
      FROM fresh f ORDER BY f.fingerprint
      ON CONFLICT (fingerprint) WHERE state NOT IN ('ignored', 'resolved') DO NOTHING
      RETURNING id, fingerprint, source, title
    ), noted AS (
      INSERT INTO event (incident_id, type, body)
      SELECT o.id, 'incident.opened', jsonb_build_object('source', o.source, 'title', o.title) FROM opened o
    ), stored AS (
      INSERT INTO alert (incident_id, delivery_key, source, fingerprint, status, title, labels, annotations, starts_at, ends_at, url)
      SELECT o.id, f.delivery_key, f.source, f.fingerprint, f.status, f.title, f.labels, f.annotations, f.starts_at,
             f.ends_at, f.url
      FROM opened o JOIN fresh f ON f.fingerprint = o.fingerprint
      RETURNING incident_id, fingerprint
    ), known AS (
      INSERT INTO alert_state (incident_id, source, fingerprint, firing, began_at)
      SELECT o.id, f.source, f.fingerprint, true, f.starts_at FROM opened o JOIN fresh f ON f.fingerprint = o.fingerprint
    )
    SELECT coalesce(array_agg(f.n), '{}'), coalesce(array_agg(s.incident_id), '{}') INTO v_taken, v_incidents
    FROM stored s JOIN fresh f ON f.fingerprint = s.fingerprint;
    PERFORM sentry_enqueue_turns(v_incidents, 'opened');
  END IF;

  RETURN QUERY
    SELECT t.n, t.incident, 'opened' FROM unnest(v_taken, v_incidents) AS t (n, incident)
    UNION ALL
    SELECT e.n, r.accepted_incident, r.accepted_kind
    -- One problem's in their order; problems in one order for all batches, which lock their incidents.
    FROM (SELECT o.alert, o.n FROM jsonb_array_elements(alerts) WITH ORDINALITY AS o (alert, n)
          WHERE o.n <> ALL (v_taken) ORDER BY o.alert->>'fingerprint', o.n) AS e,
         LATERAL sentry_accept_alert(e.alert) AS r;
END $$;
