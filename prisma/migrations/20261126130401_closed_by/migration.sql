-- Who closed an incident, for lists, which read no events. What is closed already is looked up by its index, an incident each.
ALTER TABLE incident ADD COLUMN closed_by text;
UPDATE incident i SET closed_by = (
  SELECT e.body->>'by' FROM event e WHERE e.incident_id = i.id AND e.type = 'incident.closed' ORDER BY e.seq DESC LIMIT 1)
 WHERE i.state = 'resolved' AND i.resolved_by = 'person';
