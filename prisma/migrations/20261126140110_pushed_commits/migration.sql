-- Commits that senders told were pushed, each after the one before it on its branch: what a deployment brought is walked along them.
-- By the bytes of the hash, so that one that is told by its first digits is found.
CREATE TABLE pushed_commit (
  sha        text COLLATE "C" NOT NULL,
  repository text NOT NULL,
  branch     text NOT NULL,
  previous   text COLLATE "C",
  told       jsonb NOT NULL,
  at         timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (sha, repository, branch)
);
CREATE INDEX pushed_commit_at ON pushed_commit (at);
