-- What the target ran (facts by name, as in target_system) when a version was learnt there; null where that is not known,
-- or where what it says belongs to no system.
ALTER TABLE memory_version ADD COLUMN system jsonb;
ALTER TABLE memory_document ADD COLUMN system jsonb;

-- As before, and of the same system.
CREATE OR REPLACE FUNCTION memory_document_says() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- The document as it now stands, which may have been written again, or forgotten, since.
  IF EXISTS (SELECT FROM memory_document d WHERE d.id = NEW.id AND NOT EXISTS (
      SELECT FROM memory_version v WHERE v.document_id = d.id AND v.number = d.version AND v.content = d.content
        AND v.sha256 = d.sha256 AND v.trust = d.trust AND v.doc_type = d.doc_type AND v.title = d.title
        AND v.system IS NOT DISTINCT FROM d.system)) THEN
    RAISE EXCEPTION 'document % does not say what its version says', NEW.id USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;
