-- How far each watched log was read. The position moves in the transaction that stores the alerts of what stands before it, and
-- only by its owner, from the revision that the owner knows: so no line is told twice, and none is left out.
CREATE TABLE "watch_state" (
  "target" TEXT NOT NULL,
  "log" TEXT NOT NULL,
  -- The process that reads it ("process"."executor_id"); when that is dead, another may.
  "owner" TEXT,
  "revision" BIGINT NOT NULL DEFAULT 0,
  "position" JSONB,
  "lines" BIGINT NOT NULL DEFAULT 0,
  "matched" BIGINT NOT NULL DEFAULT 0,
  "cut" BIGINT NOT NULL DEFAULT 0,
  -- A second, when it was read last.
  "line_rate" DOUBLE PRECISION NOT NULL DEFAULT 0,
  "match_rate" DOUBLE PRECISION NOT NULL DEFAULT 0,
  "problem" TEXT,
  -- What was lost or passed over last.
  "note" TEXT,
  "noted_at" TIMESTAMPTZ,
  "stopped_by" TEXT,
  "stopped_at" TIMESTAMPTZ,
  "at" TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT "watch_state_pkey" PRIMARY KEY ("target", "log")
);
