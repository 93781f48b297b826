-- Reported because a limit kept the fix from being done: when Sentry comes back by itself and asks again. Any move clears it.
ALTER TABLE incident ADD COLUMN asks_again_at timestamptz;
