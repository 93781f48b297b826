-- Memory documents: stores, documents by path, immutable versions with their sources, what was shown to a model, and
-- what waits for an admin.

CREATE TABLE memory_store (
  slug       text PRIMARY KEY,
  scope      text NOT NULL CHECK (scope IN ('workspace', 'user', 'conversation')),
  -- The Slack user a user store belongs to.
  owner      text,
  title      text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CHECK ((scope = 'user') = (owner IS NOT NULL)),
  UNIQUE (slug, scope)
);
CREATE UNIQUE INDEX memory_store_owner ON memory_store (owner) WHERE owner IS NOT NULL;

CREATE TABLE memory_document (
  id           text PRIMARY KEY DEFAULT 'doc_' || replace(gen_random_uuid()::text, '-', ''),
  store        text NOT NULL,
  scope        text NOT NULL,
  -- The incident whose thread a conversation's document belongs to. No foreign key: memory is forgotten by
  -- memory_forget_documents() alone.
  incident_id  text,
  path         text NOT NULL,
  -- Of the newest version, as that says it.
  version      integer NOT NULL,
  sha256       text NOT NULL,
  title        text NOT NULL,
  content      text NOT NULL,
  doc_type     text NOT NULL,
  trust        text NOT NULL CHECK (trust IN ('admin_approved', 'system_seeded', 'user_authored', 'agent_draft')),
  domain       text,
  entities     jsonb NOT NULL DEFAULT '{}',
  author       text NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Found by nobody any more; its history stays.
  retired_at   timestamptz,
  -- Where in Chroma it was put, as `<id>#0` to `<id>#<chunks - 1>`.
  chunk_collection text,
  chunks       integer NOT NULL DEFAULT 0,
  FOREIGN KEY (store, scope) REFERENCES memory_store (slug, scope),
  CHECK ((scope = 'conversation') = (incident_id IS NOT NULL))
);
CREATE UNIQUE INDEX memory_document_path ON memory_document (store, coalesce(incident_id, ''), path);
CREATE INDEX memory_document_incident ON memory_document (incident_id) WHERE incident_id IS NOT NULL;

CREATE TABLE memory_version (
  document_id text NOT NULL REFERENCES memory_document (id),
  number      integer NOT NULL CHECK (number > 0),
  sha256      text NOT NULL,
  title       text NOT NULL,
  content     text NOT NULL,
  doc_type    text NOT NULL,
  trust       text NOT NULL,
  domain      text,
  entities    jsonb NOT NULL,
  -- agent, user, admin, promotion, import or system; and who that was: a role, a Slack user, `system`.
  writer      text NOT NULL,
  author      text NOT NULL,
  at          timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (document_id, number),
  CHECK (sha256 = encode(sha256(convert_to(content, 'UTF8')), 'hex'))
);

CREATE TABLE memory_source_ref (
  document_id text NOT NULL,
  version     integer NOT NULL,
  kind        text NOT NULL CHECK (kind IN ('tool_call', 'run', 'incident', 'document')),
  ref         text NOT NULL,
  PRIMARY KEY (document_id, version, kind, ref),
  FOREIGN KEY (document_id, version) REFERENCES memory_version (document_id, number)
);

-- Which documents a model was shown, by run. Ids only, so that nothing has to be forgotten here.
CREATE TABLE memory_usage (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  incident_id text NOT NULL,
  run         text NOT NULL,
  document_id text NOT NULL,
  version     integer NOT NULL,
  trust       text NOT NULL,
  tokens      integer NOT NULL,
  at          timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- A step that runs again records it once.
  UNIQUE (incident_id, run, document_id)
);

CREATE TABLE dream_job (
  id          text PRIMARY KEY DEFAULT 'dream_' || replace(gen_random_uuid()::text, '-', ''),
  kind        text NOT NULL CHECK (kind IN ('promotion', 'rules')),
  state       text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'approved', 'rejected')),
  incident_id text,
  domain      text NOT NULL,
  rationale   text NOT NULL,
  proposed_by text NOT NULL,
  proposed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  decided_by  text,
  decided_at  timestamptz,
  reason      text,
  CHECK ((state = 'pending') = (decided_by IS NULL AND decided_at IS NULL))
);
CREATE INDEX dream_job_pending ON dream_job (proposed_at) WHERE state = 'pending';

-- One document of a job: exactly the version that was proposed, and what it would replace.
CREATE TABLE dream_review_item (
  job_id          text NOT NULL REFERENCES dream_job (id) ON DELETE CASCADE,
  document_id     text NOT NULL,
  version         integer NOT NULL,
  target_store    text NOT NULL REFERENCES memory_store (slug),
  target_path     text NOT NULL,
  -- Of the workspace document as it stood when this was proposed; null: there was none.
  current_sha256  text,
  result_id       text,
  result_version  integer,
  PRIMARY KEY (job_id, document_id),
  FOREIGN KEY (document_id, version) REFERENCES memory_version (document_id, number)
);
CREATE INDEX dream_review_item_document ON dream_review_item (document_id);

-- Versions and sources are never changed. They are removed by forgetting alone, which says so for its transaction.
CREATE FUNCTION memory_version_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF current_setting('sentry.memory_forget', true) = OLD.document_id THEN
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION 'versions of memory documents are immutable' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER memory_version_immutable BEFORE UPDATE OR DELETE ON memory_version
  FOR EACH ROW EXECUTE FUNCTION memory_version_refuse();
CREATE TRIGGER memory_version_no_truncate BEFORE TRUNCATE ON memory_version
  FOR EACH STATEMENT EXECUTE FUNCTION memory_version_refuse();
CREATE TRIGGER memory_source_ref_immutable BEFORE UPDATE OR DELETE ON memory_source_ref
  FOR EACH ROW EXECUTE FUNCTION memory_version_refuse();

-- Versions follow each other without a gap, and the document says what its newest version says.
CREATE FUNCTION memory_version_next() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.number <> 1 + (SELECT coalesce(max(v.number), 0) FROM memory_version v WHERE v.document_id = NEW.document_id) THEN
    RAISE EXCEPTION 'version % of % does not follow the one before it', NEW.number, NEW.document_id
      USING ERRCODE = 'serialization_failure';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER memory_version_next BEFORE INSERT ON memory_version
  FOR EACH ROW EXECUTE FUNCTION memory_version_next();

CREATE FUNCTION memory_document_says() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- The document as it now stands, which may have been written again, or forgotten, since.
  IF EXISTS (SELECT FROM memory_document d WHERE d.id = NEW.id AND NOT EXISTS (
      SELECT FROM memory_version v WHERE v.document_id = d.id AND v.number = d.version AND v.content = d.content
        AND v.sha256 = d.sha256 AND v.trust = d.trust AND v.doc_type = d.doc_type AND v.title = d.title)) THEN
    RAISE EXCEPTION 'document % does not say what its version says', NEW.id USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;
-- At the end of the transaction: the document stands before its first version does.
CREATE CONSTRAINT TRIGGER memory_document_says AFTER INSERT OR UPDATE ON memory_document
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION memory_document_says();

-- What must leave Chroma waits there like what must reach it.
ALTER TABLE memory_outbox ADD COLUMN removal boolean NOT NULL DEFAULT false;

-- Queues the removal of a vector; whatever was on its way there does not arrive.
CREATE FUNCTION memory_outbox_remove(of_collection text, of_id text) RETURNS void LANGUAGE sql AS $$
  INSERT INTO memory_outbox (collection, id, document, metadata, removal) VALUES (of_collection, of_id, '', '{}', true)
  ON CONFLICT (collection, id) DO UPDATE SET document = '', metadata = '{}', removal = true, attempts = 0,
    next_at = clock_timestamp(), last_error = NULL
$$;

-- Removes documents with every version, and the proposals that show them. Returns how many versions are gone.
CREATE FUNCTION memory_forget_documents(ids text[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  n bigint := 0; gone bigint; one text;
BEGIN
  FOREACH one IN ARRAY ids LOOP
    PERFORM set_config('sentry.memory_forget', one, true);
    PERFORM memory_outbox_remove(d.chunk_collection, d.id || '#' || k)
      FROM memory_document d, generate_series(0, d.chunks - 1) AS k WHERE d.id = one;
    DELETE FROM dream_job j USING dream_review_item i WHERE i.job_id = j.id AND i.document_id = one;
    DELETE FROM memory_source_ref WHERE document_id = one;
    DELETE FROM memory_version WHERE document_id = one;
    GET DIAGNOSTICS gone = ROW_COUNT;
    n := n + gone;
    DELETE FROM memory_document WHERE id = one;
  END LOOP;
  PERFORM set_config('sentry.memory_forget', '', true);
  RETURN n;
END $$;
