-- What one person was told, as they saw it, so that they can show it to others for a day.
CREATE TABLE slack_answer (
  id text PRIMARY KEY,
  user_id text NOT NULL,
  channel text NOT NULL,
  thread_ts text,
  said jsonb NOT NULL,
  -- What it tells of: not everybody may read of each.
  incidents text[] NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  shared_at timestamptz
);
CREATE INDEX slack_answer_at ON slack_answer (at);
