-- How often the turns of an incident failed, by the phase and the reason: what fails again and again in the same way is not
-- tried for ever. Outages are not counted.
CREATE TABLE turn_failure (
  incident_id  text NOT NULL REFERENCES incident (id) ON DELETE CASCADE,
  state        text NOT NULL,
  round        integer NOT NULL,
  -- Who worked on it: 'claude', 'playbook' or 'nobody' (a phase without an investigator).
  investigator text NOT NULL,
  -- Normalised: numbers, ids and quoted words are left out.
  reason       text NOT NULL,
  failures     integer NOT NULL DEFAULT 1,
  last_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (incident_id, state, round, investigator, reason)
);
