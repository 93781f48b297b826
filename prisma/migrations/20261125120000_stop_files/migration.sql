-- A file STOP_SENTRY or SENTRY_MODE in the data folder of one process holds for all: it is a row of the switch, with the
-- process that sees the file. The row outlives that process: its end lifts no stop.
ALTER TABLE switch ADD COLUMN process text;
