-- Incidents of one problem on several systems: one leads and is looked into, the others rest under it until it is over or they are split off.
ALTER TABLE incident ADD COLUMN merged_into text;
CREATE INDEX incident_merged ON incident (merged_into) WHERE merged_into IS NOT NULL;
