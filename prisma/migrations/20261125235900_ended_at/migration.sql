-- How many of those that ended lately ended without a page (src/escalation/count-paged.ts): the ended ones of a week, and not of a year.
CREATE INDEX incident_ended_at ON incident (ended_at) WHERE state IN ('ignored', 'resolved');
