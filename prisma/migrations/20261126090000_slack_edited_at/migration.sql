-- When an edit of a message was last begun, by whichever process: an incident edits once in three seconds.
ALTER TABLE slack_post ADD COLUMN edited_at timestamptz;
