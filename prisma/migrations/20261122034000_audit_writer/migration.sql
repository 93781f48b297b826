-- The bot works as a role that may not touch the audit log's tables (src/infra/db/writer-role.ts): it appends through this
-- function alone, which acts as its owner.
ALTER FUNCTION audit_append(text[]) SECURITY DEFINER;
ALTER FUNCTION audit_append(text[]) SET search_path FROM CURRENT;
