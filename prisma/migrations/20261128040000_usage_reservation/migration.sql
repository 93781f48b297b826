-- The reservation that a call was let with: each is booked once, as what it cost or, when nobody ended it, as the most it may have cost.
ALTER TABLE usage ADD COLUMN reservation uuid;
CREATE UNIQUE INDEX usage_reservation ON usage (reservation);
