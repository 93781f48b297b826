-- What may be done only so often at all (a restart of a service), counted in the transaction that claims the ledger row.
-- Without a foreign key: forgetting an incident must not let a service be restarted sooner.
CREATE TABLE rate_claim (
  action_id text PRIMARY KEY,
  key text NOT NULL,
  claimed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX rate_claim_key ON rate_claim (key, claimed_at);
