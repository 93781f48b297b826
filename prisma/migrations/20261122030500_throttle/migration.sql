-- The throttle (src/security/throttle.ts): calls in sliding windows, over all processes. A window is kept as 60 buckets; a
-- bucket counts until all of it is outside, so that no window of that length ever holds more than the limit.
CREATE TABLE throttle (
  -- `role:detective`, `tool:read_file`, `target:shop-db`, `incident:INC-7`
  key     text PRIMARY KEY,
  -- Where each bucket begins (epoch seconds), oldest first, and how many calls it has.
  starts  float8[] NOT NULL DEFAULT '{}',
  counts  integer[] NOT NULL DEFAULT '{}',
  -- From then on it limits nothing and may be removed.
  idle_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX throttle_idle ON throttle (idle_at);

-- Takes one call from each key, or from none: then says which is full for longest, and how long.
CREATE FUNCTION throttle_take(keys text[], limits integer[], seconds integer[], OUT full_key text, OUT retry_ms float8)
LANGUAGE plpgsql AS $$
DECLARE
  v_now float8; v_width float8; v_total integer; v_ms float8; v_starts float8[]; v_counts integer[];
BEGIN
  -- A crash of the server may forget the last moments; no call waits for the disk.
  PERFORM set_config('synchronous_commit', 'off', true);
  IF random() < 0.002 THEN
    DELETE FROM throttle WHERE key IN (
      SELECT t.key FROM throttle t WHERE t.idle_at < clock_timestamp() LIMIT 1000 FOR UPDATE SKIP LOCKED);
  END IF;
  INSERT INTO throttle (key) SELECT k FROM unnest(keys) AS k ORDER BY k ON CONFLICT DO NOTHING;
  -- In one order: two calls must not wait for each other.
  PERFORM 1 FROM throttle t WHERE t.key = ANY (keys) ORDER BY t.key FOR UPDATE;
  v_now := extract(epoch FROM clock_timestamp());

  FOR i IN 1 .. cardinality(keys) LOOP
    v_width := seconds[i] / 60.0;
    SELECT coalesce(array_agg(b.s ORDER BY b.s), '{}'), coalesce(array_agg(b.n ORDER BY b.s), '{}'), coalesce(sum(b.n), 0)
      INTO v_starts, v_counts, v_total
      FROM throttle t, unnest(t.starts, t.counts) AS b (s, n)
     WHERE t.key = keys[i] AND b.s + v_width > v_now - seconds[i];
    FOR j IN 1 .. cardinality(v_starts) LOOP
      EXIT WHEN v_total < limits[i];
      v_total := v_total - v_counts[j];
      v_ms := (v_starts[j] + v_width + seconds[i] - v_now) * 1000;
      IF v_total < limits[i] AND (retry_ms IS NULL OR v_ms > retry_ms) THEN
        full_key := keys[i];
        retry_ms := v_ms;
      END IF;
    END LOOP;
  END LOOP;
  IF full_key IS NOT NULL THEN
    RETURN;
  END IF;

  FOR i IN 1 .. cardinality(keys) LOOP
    v_width := seconds[i] / 60.0;
    SELECT coalesce(array_agg(b.s ORDER BY b.s), '{}'), coalesce(array_agg(b.n ORDER BY b.s), '{}')
      INTO v_starts, v_counts
      FROM throttle t, unnest(t.starts, t.counts) AS b (s, n)
     WHERE t.key = keys[i] AND b.s + v_width > v_now - seconds[i];
    IF cardinality(v_starts) > 0 AND v_starts[cardinality(v_starts)] + v_width > v_now THEN
      v_counts[cardinality(v_counts)] := v_counts[cardinality(v_counts)] + 1;
    ELSE
      v_starts := v_starts || v_now;
      v_counts := v_counts || 1;
    END IF;
    UPDATE throttle SET starts = v_starts, counts = v_counts,
           idle_at = to_timestamp(v_now + v_width + seconds[i]) WHERE key = keys[i];
  END LOOP;
END $$;
