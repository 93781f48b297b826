-- Which ended incident goes on when its alert fires again: besides one that ended just now, one whose repair a person has taken back
-- since, however long ago it ended, unless the alert has a newer one. It comes when the problem does, which may be before the undo is
-- on record as done.
CREATE OR REPLACE FUNCTION sentry_may_go_on(i incident, v_reopen_from timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT i.state NOT IN ('ignored', 'resolved') OR i.ended_at > v_reopen_from OR i.fired_again_at > i.ended_at
      OR i.resolved_by = 'confirmed' AND EXISTS (
           SELECT FROM action u JOIN action o ON o.id = u.undoes
            WHERE u.incident_id = i.id AND o.purpose = 'repair' AND u.state IN ('approved', 'started', 'unknown', 'succeeded')
              AND coalesce(u.finished_at, 'infinity') > i.ended_at)
        AND NOT EXISTS (SELECT FROM incident n WHERE n.fingerprint = i.fingerprint AND n.state NOT IN ('ignored', 'resolved'))
$$;

-- A new alert of a group that ended just now has its incident go on, as an alert that it knows does.
CREATE INDEX incident_ended_group ON incident (group_key, ended_at) WHERE group_key IS NOT NULL AND state = 'resolved';
-- One that fires again, and has not gone on yet (under a mute, for hours), takes in what is like it, however long ago it ended.
CREATE INDEX incident_fired_again ON incident (source) WHERE state = 'resolved' AND fired_again_at > ended_at;
CREATE INDEX incident_fired_again_group ON incident (group_key, ended_at) WHERE state = 'resolved' AND fired_again_at > ended_at;
CREATE OR REPLACE FUNCTION sentry_incident_of_group(v_group text, v_reopen_from timestamptz) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN coalesce(
    (SELECT i.id FROM incident i
      WHERE i.group_key = v_group AND i.state NOT IN ('ignored', 'resolved') ORDER BY i.opened_at LIMIT 1),
    (SELECT i.id FROM incident i
      WHERE i.group_key = v_group AND i.state = 'resolved' AND i.fired_again_at > i.ended_at ORDER BY i.ended_at DESC LIMIT 1),
    (SELECT i.id FROM incident i
      WHERE i.group_key = v_group AND i.state = 'resolved' AND i.ended_at > v_reopen_from ORDER BY i.ended_at DESC LIMIT 1));
END $$;

-- Whether silence about an incident means that it is over: of its senders one tells again of what still fires (v_repeat), none that
-- tells of it once (v_once) has yet to tell of an end, and nothing was begun of which the outcome is open.
CREATE FUNCTION sentry_silence_ends(v_incident text, v_repeat text[], v_once text[]) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM alert_state s WHERE s.incident_id = v_incident AND s.source = ANY (v_repeat))
     AND NOT EXISTS (SELECT FROM alert_state s WHERE s.incident_id = v_incident AND s.firing AND s.source = ANY (v_once))
     AND NOT EXISTS (SELECT FROM action o WHERE o.incident_id = v_incident
                        AND o.state IN ('proposed', 'approved', 'started', 'unknown', 'queued'));
END $$;
