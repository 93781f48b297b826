-- How Sentry's own looks at a target went: what two of them differ in is a change. One row a target, for the system that its name stood for.
CREATE TABLE change_look (
  target        text PRIMARY KEY,
  -- Null: nothing of it was read yet.
  system        text,
  -- The first and the last look that read something; `ended_at`: when the last one was over.
  first_at      timestamptz,
  looked_at     timestamptz,
  ended_at      timestamptz,
  tried_at      timestamptz NOT NULL,
  -- Null: the last try read something.
  failing_since timestamptz,
  why           text,
  -- [{part, why}] that the last look could not read.
  unread        jsonb NOT NULL DEFAULT '[]'
);
CREATE INDEX change_look_tried ON change_look (tried_at);

-- What the last look that read a part found in it, without secrets.
CREATE TABLE change_part (
  target  text NOT NULL REFERENCES change_look ON DELETE CASCADE,
  part    text NOT NULL,
  -- Of its items: one that is the same is not read again.
  digest  text NOT NULL,
  items   jsonb NOT NULL,
  read_at timestamptz NOT NULL,
  PRIMARY KEY (target, part)
);
