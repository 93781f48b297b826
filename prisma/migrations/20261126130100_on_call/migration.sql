-- Who was on call by a schedule when it was last asked, since when, and since when those before them, so that whoever comes on is handed
-- the shift, once. `owed`: those who came on and could not be told yet.
CREATE TABLE on_call (
  schedule   text PRIMARY KEY,
  looked_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  people     text[] NOT NULL DEFAULT '{}',
  changed_at timestamptz,
  before_at  timestamptz,
  owed       text[] NOT NULL DEFAULT '{}'
);
-- The Nos that stand, newest first.
CREATE INDEX denial_standing ON denial (said_at) WHERE taken_back_at IS NULL;
