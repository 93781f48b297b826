-- What every hot path asks for has an index: none of them reads a table that grows from end to end.
CREATE INDEX incident_unfinished ON incident (opened_at DESC) WHERE state NOT IN ('ignored', 'resolved');
-- What moves by itself; `reported` and `escalated` wait for people, and pile up.
CREATE INDEX incident_at_work ON incident (id)
 WHERE state IN ('open', 'triaging', 'diagnosing', 'planning', 'awaiting_approval', 'remediating', 'verifying');
-- A row's time changes with every step of its incident: an index by ranges of pages costs that nothing.
CREATE INDEX incident_updated ON incident USING brin (updated_at) WITH (pages_per_range = 4);

-- A drawing that was begun and has not come to its end.
CREATE INDEX slack_lease_undrawn ON slack_lease (incident_id) WHERE drawn_mark = '' AND incident_id LIKE 'INC-%';
CREATE INDEX slack_inbox_processed ON slack_inbox (processed_at) WHERE processed_at IS NOT NULL;

CREATE INDEX action_started ON action (started_at) WHERE started_at IS NOT NULL;
CREATE INDEX denial_incident ON denial (incident_id);
CREATE INDEX dream_job_decided ON dream_job (decided_at) WHERE decided_at IS NOT NULL;
CREATE INDEX dream_job_incident ON dream_job (incident_id) WHERE incident_id IS NOT NULL;
CREATE INDEX dream_job_proposed ON dream_job (proposed_at);
CREATE INDEX memory_outbox_next ON memory_outbox (next_at);
CREATE INDEX question_incident ON question (incident_id);
CREATE INDEX rate_claim_at ON rate_claim (claimed_at);
-- How a runbook did of late.
CREATE INDEX action_runbook ON action (runbook_id, proposed_at DESC) WHERE runbook_id IS NOT NULL;
