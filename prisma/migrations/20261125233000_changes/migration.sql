-- What senders told of changes: deployments, rollbacks, flags. One row a change, by the sender's own id.
CREATE TABLE change (
  source       text NOT NULL,
  id           text NOT NULL,
  kind         text NOT NULL,
  state        text NOT NULL,
  title        text NOT NULL,
  names        text[] NOT NULL,
  environment  text,
  started_at   timestamptz,
  at           timestamptz NOT NULL,
  author       text,
  from_version text,
  to_version   text,
  commits      text[] NOT NULL,
  url          text,
  PRIMARY KEY (source, id)
);
CREATE INDEX change_at ON change (at);
CREATE INDEX change_names ON change USING gin (names);
