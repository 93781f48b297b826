-- Accepting an alert as one statement: SELECT * FROM sentry_accept_alert(…). It stores the notification, adds an
-- occurrence to its incident or opens one, appends the event and asks for a turn. All of it is committed, or nothing.

-- The identifying label values of the alert that opened it, lower-case words: what another source's alert of the same
-- name is compared with.
ALTER TABLE incident ADD COLUMN identity text[] NOT NULL DEFAULT '{}';
-- When the alert last fired again after `resolved`: after `ended_at` until the incident has gone on and ended again.
ALTER TABLE incident ADD COLUMN fired_again_at timestamptz;

-- Every alert pays for every index: those below replace what accepting does not use.
DROP INDEX incident_alert_name_unfinished;
DROP INDEX incident_fingerprint_opened;
DROP INDEX incident_thread;
CREATE INDEX incident_thread ON incident (channel, thread_ts) WHERE thread_ts IS NOT NULL;
-- What another source's alert may join: by name, unfinished first, then by when it ended.
CREATE INDEX incident_correlate ON incident
  (alert_name, source, (CASE WHEN state IN ('ignored', 'resolved') THEN ended_at ELSE 'infinity' END));
CREATE INDEX alert_fingerprint ON alert (fingerprint, id);

CREATE FUNCTION sentry_worse_severity(a text, b text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN array_position(ranks, a) <= array_position(ranks, b) THEN a ELSE b END
  FROM (VALUES (ARRAY['critical', 'error', 'warning', 'info', 'unknown'])) AS r (ranks)
$$;

-- a: source, status, name, title, severity, labels, annotations, fingerprint, delivery_key, starts_at, ends_at, url,
--    target, domain            as in src/domain/alert.ts, with the configured target's name and the incident's domain
--    identity                  words, see the column; separated by spaces
--    vague                     the source's alerts may carry fewer labels than the problem has (a chat message)
--    related_sources           whose incidents an alert of this source may join without sharing their fingerprint;
--                              separated by spaces
--    sent_at                   when the source said so; null: now
--    reopen_ms                 how long after its end an incident goes on when its alert fires again
CREATE FUNCTION sentry_accept_alert(a jsonb, OUT accepted_incident text, OUT accepted_kind text)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_source      CONSTANT text        := a->>'source';
  v_firing      CONSTANT boolean     := a->>'status' = 'firing';
  v_name        CONSTANT text        := a->>'name';
  v_fingerprint CONSTANT text        := a->>'fingerprint';
  v_key         CONSTANT text        := a->>'delivery_key';
  v_vague       CONSTANT boolean     := (a->>'vague')::boolean;
  v_identity    CONSTANT text[]      := string_to_array(a->>'identity', ' ');
  v_related     CONSTANT text[]      := string_to_array(a->>'related_sources', ' ');
  v_sent_at     CONSTANT timestamptz := coalesce((a->>'sent_at')::timestamptz, clock_timestamp());
  v_reopen_from CONSTANT timestamptz := clock_timestamp() - make_interval(secs => (a->>'reopen_ms')::float8 / 1000);
  v             incident%ROWTYPE;
  v_last        text;
  v_counts      boolean;
  v_turn        text;
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
  IF v_name IS NOT NULL THEN
    IF v_vague THEN
      PERFORM pg_advisory_xact_lock(hashtextextended('alert name ' || v_name, 0));
    ELSE
      PERFORM pg_advisory_xact_lock_shared(hashtextextended('alert name ' || v_name, 0));
    END IF;
  END IF;

  FOR attempt IN 1..10 LOOP
    -- The incident that took in the last alert of this fingerprint, unless it ended too long ago.
    SELECT x.incident_id INTO v_last FROM alert x WHERE x.fingerprint = v_fingerprint ORDER BY x.id DESC LIMIT 1;
    IF FOUND THEN
      SELECT * INTO v FROM incident i
       WHERE i.id = v_last AND (i.state NOT IN ('ignored', 'resolved') OR i.ended_at > v_reopen_from
                                OR i.fired_again_at > i.ended_at) FOR UPDATE;
    END IF;
    -- Or one of the same alert name whose identity is contained in this one's, or the other way round.
    IF v.id IS NULL AND v_name IS NOT NULL THEN
      SELECT * INTO v FROM incident i
       WHERE i.alert_name = v_name AND i.source = ANY (v_related)
         AND (CASE WHEN i.state IN ('ignored', 'resolved') THEN i.ended_at ELSE 'infinity' END) > v_reopen_from
         AND (i.identity <@ v_identity OR i.identity @> v_identity)
         AND (v_vague OR NOT EXISTS (SELECT FROM alert o WHERE o.incident_id = i.id AND o.source = v_source
                                        AND o.fingerprint <> v_fingerprint))
       ORDER BY i.state IN ('ignored', 'resolved'), i.opened_at DESC LIMIT 1 FOR UPDATE;
    END IF;
    EXIT WHEN v.id IS NOT NULL OR NOT v_firing;

    INSERT INTO incident (title, alert_name, severity, domain, target, source, fingerprint, identity, labels, annotations)
    VALUES (a->>'title', v_name, a->>'severity', a->>'domain', a->>'target', v_source, v_fingerprint, v_identity,
            a->'labels', a->'annotations')
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
           severity = sentry_worse_severity(i.severity, a->>'severity'), updated_at = clock_timestamp()
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
    IF v.source_resolved_at IS NULL THEN
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

-- The turns of a batch. The job engine may replace it by something that inserts them together.
CREATE FUNCTION sentry_enqueue_turns(incidents text[], reason text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM sentry_enqueue_turn(i, reason, 0) FROM unnest(incidents) AS i;
END $$;

-- A batch: what arrives while a statement runs goes into the next one, and shares its commit. New problems, which is
-- what a storm is made of, are taken together; everything else goes one by one, in its order, through the above.
CREATE FUNCTION sentry_accept_alerts(alerts jsonb)
RETURNS TABLE (n bigint, accepted_incident text, accepted_kind text)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  v_taken     bigint[] := '{}';
  v_incidents text[]   := '{}';
BEGIN
  IF jsonb_array_length(alerts) > 1 AND NOT alerts @@ '$[*].vague == true' THEN
    -- The locks of the single function, in one order, so that two batches cannot wait for each other.
    PERFORM pg_advisory_xact_lock(l.key) FROM (
      SELECT DISTINCT hashtextextended('delivery ' || x.delivery_key, 0) AS key
      FROM jsonb_to_recordset(alerts) AS x (delivery_key text) ORDER BY 1) AS l;
    PERFORM pg_advisory_xact_lock_shared(l.key) FROM (
      SELECT DISTINCT hashtextextended('alert name ' || x.name, 0) AS key
      FROM jsonb_to_recordset(alerts) AS x (name text) WHERE x.name IS NOT NULL ORDER BY 1) AS l;

    WITH told AS MATERIALIZED (
      SELECT x.*, count(*) OVER (PARTITION BY x.fingerprint) AS same, count(*) OVER (PARTITION BY x.delivery_key) AS twice
      FROM ROWS FROM (jsonb_to_recordset(alerts) AS (
        source text, status text, name text, title text, severity text, labels jsonb, annotations jsonb,
        fingerprint text, delivery_key text, starts_at timestamptz, ends_at timestamptz, url text, target text,
        domain text, identity text, related_sources text, reopen_ms float8)) WITH ORDINALITY
        AS x (source, status, name, title, severity, labels, annotations, fingerprint, delivery_key, starts_at, ends_at,
              url, target, domain, identity, related_sources, reopen_ms, n)
    ), fresh AS MATERIALIZED (
      -- Subqueries with LIMIT stay lookups by index, whatever the planner thinks of the size of the batch.
      SELECT t.* FROM told t
      WHERE t.status = 'firing' AND t.same = 1 AND t.twice = 1
        AND (SELECT d.id FROM alert d WHERE d.delivery_key = t.delivery_key LIMIT 1) IS NULL
        AND (SELECT d.id FROM alert d WHERE d.fingerprint = t.fingerprint LIMIT 1) IS NULL
        AND (SELECT i.id FROM incident i
             WHERE i.alert_name = t.name AND i.source = ANY (string_to_array(t.related_sources, ' '))
               AND (CASE WHEN i.state IN ('ignored', 'resolved') THEN i.ended_at ELSE 'infinity' END)
                   > clock_timestamp() - make_interval(secs => t.reopen_ms / 1000)
             LIMIT 1) IS NULL
    ), opened AS (
      INSERT INTO incident (title, alert_name, severity, domain, target, source, fingerprint, identity, labels, annotations)
      SELECT f.title, f.name, f.severity, f.domain, f.target, f.source, f.fingerprint, string_to_array(f.identity, ' '),
             f.labels, f.annotations
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
