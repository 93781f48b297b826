-- What was set up in Slack, of one workspace each: where alerts come from, who approves, who is on call, who are the admins. What
-- the environment says comes first. The version is held against the window it was changed in, so that nobody overwrites another.
CREATE TABLE workspace_settings (
  team_id  text PRIMARY KEY,
  version  integer NOT NULL CHECK (version > 0),
  settings jsonb NOT NULL,
  set_by   text NOT NULL,
  -- By the key that is not in the database: whoever can only write here names no approver.
  signature text NOT NULL,
  set_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX workspace_settings_newest ON workspace_settings (set_at);

CREATE FUNCTION sentry_settings_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('sentry_bus', 'settings.changed ' || NEW.team_id);
  RETURN NULL;
END $$;
CREATE TRIGGER settings_changed AFTER INSERT OR UPDATE ON workspace_settings FOR EACH ROW
  EXECUTE FUNCTION sentry_settings_changed();

-- Test incidents that have not closed by themselves yet. The row is written before the incident is opened.
CREATE TABLE test_incident (
  delivery_key text PRIMARY KEY,
  raised_by    text NOT NULL,
  raised_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- What a person wants of the bot; nobody without a row wants anything.
CREATE TABLE person_preference (
  user_id      text PRIMARY KEY,
  dm_approvals boolean NOT NULL,
  set_at       timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX person_preference_told ON person_preference (user_id) WHERE dm_approvals;

-- Whom is told alone of an approval that waits. A row is written before they are told; `ended`: they have been told how it ended.
CREATE TABLE approval_notice (
  action_id text NOT NULL,
  user_id   text NOT NULL,
  ended     boolean NOT NULL DEFAULT false,
  PRIMARY KEY (action_id, user_id)
);
CREATE INDEX approval_notice_open ON approval_notice (action_id) WHERE NOT ended;
-- Conversations with the bot of the last hour: whose session waits for an approval.
CREATE INDEX question_direct ON question (asked_at) WHERE direct;
