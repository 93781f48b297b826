-- How far what a system tells by itself has been taken in. What comes after it is asked for again, and a delivery that was
-- stored already changes nothing.
CREATE TABLE "watch_position" (
  "target" TEXT NOT NULL,
  "position" TEXT NOT NULL,
  "at" TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT "watch_position_pkey" PRIMARY KEY ("target")
);
