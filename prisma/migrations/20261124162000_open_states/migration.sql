-- How many are open, and how many of them are stopped, is asked for by every status.
CREATE INDEX incident_open_state ON incident (state) WHERE state NOT IN ('ignored', 'resolved');
