-- What systems the targets run, so that a memory of another version counts for less.
CREATE TABLE target_system (
  target      text PRIMARY KEY,
  -- Facts by name (`os`, `postgresql`, `service orders`), each a version or a name.
  facts       jsonb NOT NULL,
  seen_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- When the facts were last other than now.
  changed_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The target and the facts of its system when the command ran.
ALTER TABLE episode ADD COLUMN target text;
ALTER TABLE episode ADD COLUMN system jsonb;
-- Set once an episode is too old to say anything about today's systems: counted, exported, no longer looked up.
ALTER TABLE episode ADD COLUMN archived_at timestamptz;
CREATE INDEX episode_in_use ON episode (at DESC) WHERE archived_at IS NULL;

-- Each time the past incidents of a domain were summarised into rules of thumb. The incidents stay as they are.
CREATE TABLE rule_compaction (
  id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  domain    text NOT NULL,
  at        timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- The ids of those that were looked back on: each once.
  incidents jsonb NOT NULL,
  -- The drafts that came of it, as `{incident, path}`.
  rules     jsonb NOT NULL
);
CREATE INDEX rule_compaction_domain ON rule_compaction (domain, at DESC);
