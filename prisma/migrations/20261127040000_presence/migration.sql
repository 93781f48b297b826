-- From when to when Sentry ran, in any process. Between two of these it did not, and nobody could tell it anything.
CREATE TABLE presence (
  since timestamptz PRIMARY KEY DEFAULT clock_timestamp(),
  until timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX presence_until ON presence (until);
