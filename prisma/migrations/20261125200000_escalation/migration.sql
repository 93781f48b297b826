-- Who has an incident, who was called for it, and what paging services are told. `seen_at` and `seen` are the incident's updated_at and how
-- it stood at the last look, `next_at` is when to look again; nothing before `since` calls anybody.
CREATE TABLE escalation (
  incident_id text PRIMARY KEY REFERENCES incident (id) ON DELETE CASCADE,
  since timestamptz NOT NULL,
  seen_at timestamptz,
  seen text,
  looked_at timestamptz,
  next_at timestamptz,
  acknowledged_by text,
  acknowledged_at timestamptz,
  holds boolean NOT NULL DEFAULT false,
  released_at timestamptz,
  hurried integer NOT NULL DEFAULT 0,
  hurried_at timestamptz
);
CREATE INDEX escalation_next ON escalation (next_at);

-- One call for each thing that needs a person, and for each level reached.
CREATE TABLE escalation_call (
  incident_id text NOT NULL REFERENCES incident (id) ON DELETE CASCADE,
  key text NOT NULL,
  level integer NOT NULL,
  reason text NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (incident_id, key)
);

-- An outbox: whoever has the lease brings `told` to `want`. `tried_at`: from then on the service may know of it.
CREATE TABLE escalation_page (
  incident_id text NOT NULL REFERENCES incident (id) ON DELETE CASCADE,
  level integer NOT NULL,
  pager text NOT NULL,
  dedup_key text NOT NULL,
  summary text NOT NULL,
  reason text NOT NULL,
  want text NOT NULL,
  told text,
  tried_at timestamptz,
  asked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  attempts integer NOT NULL DEFAULT 0,
  next_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  leased_until timestamptz,
  failure text,
  failing_since timestamptz,
  failed_at timestamptz,
  PRIMARY KEY (incident_id, level, pager)
);
CREATE INDEX escalation_page_dedup_key ON escalation_page (dedup_key);
CREATE INDEX escalation_page_waiting ON escalation_page (next_at) WHERE told IS DISTINCT FROM want;
CREATE INDEX escalation_page_open ON escalation_page (incident_id) WHERE want <> 'resolve';

-- What was there before calls nobody now.
INSERT INTO escalation (incident_id, since)
SELECT id, clock_timestamp() FROM incident WHERE state NOT IN ('ignored', 'resolved');
