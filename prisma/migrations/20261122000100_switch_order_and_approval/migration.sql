-- Setting the switch waits for the claims that have read it, also where the scope has no row yet: the claim holds the row
-- "*" shared until it commits, and whoever sets any scope takes it alone first.
CREATE FUNCTION switch_in_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM switch WHERE scope = '*' FOR UPDATE;
  RETURN NULL;
END $$;
CREATE TRIGGER switch_in_order BEFORE INSERT OR UPDATE OR DELETE ON switch
  FOR EACH STATEMENT EXECUTE FUNCTION switch_in_order();

-- Where in the audit log the approval stands. The gate reads it there: a state set in this table alone is no approval.
ALTER TABLE action ADD COLUMN approval_seq bigint;
