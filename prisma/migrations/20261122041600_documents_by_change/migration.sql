-- What has changed lately is looked for before every search of documents.
CREATE INDEX memory_document_updated ON memory_document (updated_at);
