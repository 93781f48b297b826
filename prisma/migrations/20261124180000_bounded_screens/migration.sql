-- What a screen counts, it counts up to a limit, by an index that has nothing else in it.
CREATE INDEX episode_outcome ON episode (success);
CREATE INDEX episode_archived ON episode (archived_at) WHERE archived_at IS NOT NULL;
CREATE INDEX memory_document_kept ON memory_document (scope, trust) WHERE retired_at IS NULL;

-- What models cost, a row a day (UTC), model and role: thirty days of it are read whenever somebody asks.
CREATE TABLE usage_day (
  day                   date NOT NULL,
  model                 text NOT NULL,
  role                  text NOT NULL,
  calls                 bigint NOT NULL,
  cost_usd              double precision NOT NULL,
  input_tokens          bigint NOT NULL,
  cache_read_tokens     bigint NOT NULL,
  cache_write_tokens    bigint NOT NULL,
  cache_write_1h_tokens bigint NOT NULL,
  output_tokens         bigint NOT NULL,
  thinking_tokens       bigint NOT NULL,
  PRIMARY KEY (day, model, role)
);

-- Added to by whoever writes usage, of whatever version: what is deleted for its age stays counted.
CREATE FUNCTION sentry_usage_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO usage_day AS d
  SELECT (at AT TIME ZONE 'UTC')::date, model, role, count(*), sum(cost_usd), sum(input_tokens), sum(cache_read_tokens),
         sum(cache_write_tokens), sum(cache_write_1h_tokens), sum(output_tokens), sum(thinking_tokens)
    FROM added GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (day, model, role) DO UPDATE SET
    calls = d.calls + EXCLUDED.calls, cost_usd = d.cost_usd + EXCLUDED.cost_usd, input_tokens = d.input_tokens + EXCLUDED.input_tokens,
    cache_read_tokens = d.cache_read_tokens + EXCLUDED.cache_read_tokens,
    cache_write_tokens = d.cache_write_tokens + EXCLUDED.cache_write_tokens,
    cache_write_1h_tokens = d.cache_write_1h_tokens + EXCLUDED.cache_write_1h_tokens,
    output_tokens = d.output_tokens + EXCLUDED.output_tokens, thinking_tokens = d.thinking_tokens + EXCLUDED.thinking_tokens;
  RETURN NULL;
END $$;

-- Waits for those who write, and they for it: none is counted twice, and none is missing.
LOCK TABLE usage IN SHARE ROW EXCLUSIVE MODE;
INSERT INTO usage_day
SELECT (at AT TIME ZONE 'UTC')::date, model, role, count(*), sum(cost_usd), sum(input_tokens), sum(cache_read_tokens),
       sum(cache_write_tokens), sum(cache_write_1h_tokens), sum(output_tokens), sum(thinking_tokens)
  FROM usage GROUP BY 1, 2, 3;
CREATE TRIGGER usage_added AFTER INSERT ON usage REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION sentry_usage_added();
