-- The search index over runbooks, incidents and documents (src/memory/retrieval). One writer a space at a time (the row
-- of the space is locked), readers never wait. An entry never changes in place: a new text is a new row with a new
-- number, so a posting of an old number finds nothing and does no harm until it is tidied away.

CREATE TABLE search_space (
  id      integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- `runbook:postgres`, `incident:docker`, `document:<store>`
  name    text NOT NULL UNIQUE,
  next_no integer NOT NULL DEFAULT 0,
  entries integer NOT NULL DEFAULT 0
);

CREATE TABLE search_entry (
  space_id     integer NOT NULL REFERENCES search_space (id) ON DELETE CASCADE,
  no           integer NOT NULL,
  key          text NOT NULL,
  title        text NOT NULL,
  body         text NOT NULL,
  metadata     jsonb NOT NULL,
  content_hash text NOT NULL,
  -- Every term with its weight: forward.ts.
  terms        bytea NOT NULL,
  -- The embedding whose vectors of this text are in the vector database.
  embedded_by  text,
  claimed_until timestamptz,
  updated_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (space_id, no),
  UNIQUE (space_id, key)
);
CREATE INDEX search_entry_not_embedded ON search_entry (space_id, no) WHERE embedded_by IS NULL;

-- Which entries have a term: 5 bytes each (number, weight), a row for every 512 numbers.
CREATE TABLE search_posting (
  space_id integer NOT NULL REFERENCES search_space (id) ON DELETE CASCADE,
  term     integer NOT NULL,
  block    integer NOT NULL,
  list     bytea NOT NULL,
  PRIMARY KEY (space_id, term, block)
) WITH (fillfactor = 80);
-- At most 2,560 bytes: in the row, without trying to compress at every append.
ALTER TABLE search_posting ALTER COLUMN list SET STORAGE PLAIN;

-- Vectors of entries that are gone, until the vector database has forgotten them too.
CREATE TABLE search_gone (
  space_id integer NOT NULL REFERENCES search_space (id) ON DELETE CASCADE,
  key      text NOT NULL,
  at       timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (space_id, key)
);
