-- The limits of the bot that runs, so that what only looks (the command line) tells of those and not of its own environment's.
ALTER TABLE cost_breaker
  ADD COLUMN limit_usd double precision,
  ADD COLUMN window_ms bigint,
  ADD COLUMN per_incident_usd double precision,
  ADD COLUMN per_day_usd double precision;
