-- An alert that comes and goes: when it fired again after an end, the newest of the last hour (at most 100), and until when it counts as
-- flapping, so long as it does not do so again.
ALTER TABLE incident
  ADD COLUMN flips timestamptz[] NOT NULL DEFAULT '{}',
  ADD COLUMN flapping_until timestamptz;

-- The alert of an incident fires again after its end: four times within an hour is flapping, until it has been quiet for as long as an
-- ended incident goes on.
CREATE OR REPLACE FUNCTION sentry_fires_again(v incident, a jsonb) RETURNS void LANGUAGE sql AS $$
  UPDATE incident i SET source_resolved_at = NULL,
         fired_again_at = CASE WHEN v.state = 'resolved' THEN clock_timestamp() ELSE i.fired_again_at END,
         flips = f.flips,
         flapping_until = CASE WHEN cardinality(f.flips) >= 4 AND (a->>'reopen_ms')::float8 > 0
                               THEN clock_timestamp() + make_interval(secs => (a->>'reopen_ms')::float8 / 1000) END
    FROM (SELECT ARRAY(SELECT t FROM unnest(v.flips || clock_timestamp()) AS t
                        WHERE t > clock_timestamp() - interval '1 hour' ORDER BY t DESC LIMIT 100) AS flips) AS f
   WHERE i.id = v.id
$$;
