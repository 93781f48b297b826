-- Who has App Home open: whoever opened it lately sees it drawn again when something changes, by one process at a time.
CREATE TABLE slack_home (
  user_id text PRIMARY KEY,
  opened_at timestamptz NOT NULL,
  looked_at timestamptz NOT NULL
);

-- Incidents whose lines in the approvals channel are not drawn to their end: something there still waits or runs.
CREATE INDEX slack_lease_approvals ON slack_lease (incident_id) WHERE drawn_mark = '' AND incident_id LIKE 'approvals:%';
