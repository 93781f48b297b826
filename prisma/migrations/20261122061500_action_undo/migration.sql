-- An undo is an action of its own: which one it takes back, and who asked for it.
ALTER TABLE action ADD COLUMN undoes text;
-- Slack user id; null: it was proposed by Sentry.
ALTER TABLE action ADD COLUMN requested_by text;

-- Nothing is taken back twice, whoever asks.
CREATE UNIQUE INDEX action_one_undo ON action (undoes)
 WHERE undoes IS NOT NULL AND state NOT IN ('denied', 'expired', 'void', 'failed');
