-- What people ask about an incident. The model's answer is a durable workflow of its own, asked for with the row.
CREATE TABLE question (
  -- The message that asks: channel and ts.
  id          text PRIMARY KEY,
  incident_id text NOT NULL REFERENCES incident (id) ON DELETE CASCADE,
  -- Slack user id.
  asked_by    text NOT NULL,
  -- Redacted.
  text        text NOT NULL,
  channel     text NOT NULL,
  ts          text NOT NULL,
  thread_ts   text NOT NULL,
  -- In a direct message with the bot, not in the incident's thread.
  direct      boolean NOT NULL,
  -- recorded: the record's answer was all that was wanted, or there is no model.
  state       text NOT NULL DEFAULT 'asked' CHECK (state IN ('asked', 'answered', 'refused', 'stopped', 'recorded')),
  answer      text,
  asked_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at    timestamptz
);
CREATE INDEX question_thread ON question (channel, thread_ts, asked_at);
