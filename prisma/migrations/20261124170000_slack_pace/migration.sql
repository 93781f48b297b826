-- Slack counts an app's calls, not a process's: the buckets of tokens that all processes take from, each with the moment at
-- which it is full again.
CREATE TABLE slack_pace (
  key     text PRIMARY KEY,
  full_at timestamptz NOT NULL
);
