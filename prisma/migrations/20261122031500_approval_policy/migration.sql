-- How many have to approve, who has, and where in the audit log each of them stands; the rule that asked for it. The last
-- one's entry is approval_seq as before.
ALTER TABLE action
  ADD COLUMN approvals_needed integer NOT NULL DEFAULT 1,
  ADD COLUMN approved_by text[] NOT NULL DEFAULT '{}',
  ADD COLUMN approval_seqs bigint[] NOT NULL DEFAULT '{}',
  ADD COLUMN policy_rule text,
  -- By earned autonomy: nobody has to press, it is approved by its rule at this time unless somebody denies it before.
  ADD COLUMN autonomous_at timestamptz;

CREATE INDEX action_target_started ON action (target, started_at) WHERE started_at IS NOT NULL;
CREATE INDEX action_same ON action (tool, target, runbook_id, proposed_at);

-- What was last read from a file or the environment, by its SHA-256: a change is one entry in the audit log, whichever
-- process saw it first.
CREATE TABLE seen_setting (
  name   text PRIMARY KEY,
  sha256 text NOT NULL,
  at     timestamptz NOT NULL DEFAULT clock_timestamp()
);
