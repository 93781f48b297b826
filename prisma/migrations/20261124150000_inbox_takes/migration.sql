-- `attempts` counts handlings that failed. One that was cut off by the end of its process is only taken up again.
ALTER TABLE slack_inbox ADD COLUMN takes integer NOT NULL DEFAULT 0, ADD COLUMN taken_at timestamptz;
