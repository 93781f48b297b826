-- What a change brought, commit by commit: an object each. What is on record from before is texts still, and read as such.
ALTER TABLE change ALTER COLUMN commits TYPE jsonb USING to_jsonb(commits);
