-- What an action does, as people say it: {"does": "Restart", "did": "Restarted", "button": "Restart the service"}. It came
-- from one list in the code; a tool brings its own now, and an action keeps the words it was proposed with.
ALTER TABLE action ADD COLUMN verbs jsonb;
UPDATE action SET verbs = jsonb_build_object('does', known.does, 'did', known.did, 'button', known.button)
  FROM (VALUES
    ('apply_patch', 'Change', 'Changed', 'Change the file'),
    ('undo_patch', 'Put back', 'Put back', 'Put the file back'),
    ('restart_service', 'Restart', 'Restarted', 'Restart the service'),
    ('postgres_autovacuum_on', 'Switch autovacuum on for', 'Switched autovacuum on for', 'Switch autovacuum on'),
    ('postgres_cancel_query', 'Cancel the query of', 'Cancelled the query of', 'Cancel the query'),
    ('postgres_set_setting', 'Change', 'Changed', 'Change the setting'),
    ('postgres_terminate_backend', 'End', 'Ended', 'End the session'),
    ('postgres_vacuum_table', 'Vacuum', 'Vacuumed', 'Vacuum the table')
  ) AS known (tool, does, did, button)
 WHERE action.tool = known.tool;
