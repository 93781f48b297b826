import type { Sql } from '../src/core/sql.ts';

export interface GrowthSize {
  readonly incidents: number;
  readonly auditEntries: number;
}

/** Of one incident, as a soak of the product left them on record. */
const EACH = { events: 40, toolCalls: 19, usage: 10, alerts: 2, posts: 8, readings: 5 } as const;
const AUDIT_BATCH = 10_000;

/**
 * Fills an empty record as a year of work would: incidents of every end spread evenly over it, with what belongs to each, and an
 * audit log with whole links. Set by set, with triggers off, so that it takes minutes. Needs a superuser's connection.
 */
export async function fillRecord(sql: Sql, { incidents, auditEntries }: GrowthSize): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`SET LOCAL synchronous_commit = off`;
    // The newest are the last: one in a thousand is at work, a third waits for somebody or nobody, as after a year.
    await tx`
      INSERT INTO incident (state, title, alert_name, severity, domain, target, incident_type, source, fingerprint, labels, annotations,
                            cause, confidence, next_step, cost_usd, channel, thread_ts, opened_at, updated_at, ended_at,
                            identity, told)
      SELECT s.state, 'Sessions blocked on shop-' || n % 50, 'PostgresBlockedSessions', (ARRAY['critical', 'warning', 'info'])[1 + n % 3],
             (ARRAY['postgres', 'docker', 'kubernetes', 'podman'])[1 + n % 4], 'shop-' || n % 50, 'blocked_sessions', t.source,
             md5('fingerprint ' || n), '{"alertname": "PostgresBlockedSessions", "severity": "critical"}', '{"summary": "x"}',
             repeat('One session holds a lock that others wait for. ', 5), 0.93, 'Watch it.', 0.05, 'C0ALERTS', 'ts' || n,
             o.at, o.at + interval '10 min', CASE WHEN s.state IN ('ignored', 'resolved') THEN o.at + interval '10 min' END,
             ARRAY['pod-' || n], t.told
        FROM generate_series(1, ${incidents}::int) AS n,
             LATERAL (SELECT clock_timestamp() - (${incidents}::int - n) * (interval '1 year' / ${incidents}::int) AS at) AS o,
             LATERAL (SELECT CASE WHEN n > ${incidents}::int * 0.999 THEN 'diagnosing'
                                  ELSE (ARRAY['resolved', 'resolved', 'resolved', 'resolved', 'resolved', 'ignored', 'reported',
                                              'reported', 'escalated', 'stopped'])[1 + n % 10] END AS state) AS s,
             -- One in forty-seven was opened by another app's message, of whose values nobody knows the names.
             LATERAL (SELECT CASE WHEN n % 47 = 7 THEN 'slack' ELSE 'alertmanager' END AS source, jsonb_build_object(
               'name', CASE WHEN n % 47 <> 7 THEN 'alert-' || n % 200 END, 'identity', ARRAY['pod-' || n], 'whole', true,
               'labels', jsonb_build_object('alertname', 'alert-' || n % 200, 'pod', 'pod-' || n),
               'words', CASE WHEN n % 47 <> 7 THEN ARRAY['alert-' || n % 200, 'pod-' || n] END,
               'head', CASE WHEN n % 47 = 7 THEN jsonb_build_object('alerts', 1, 'certain', true, 'telling', 'alert-' || n % 200 || ' pod-' || n || ' ',
                 'words', ARRAY['alert-' || n % 200, 'pod-' || n], 'splits', '[]'::jsonb) END) AS told) AS t`;
    await tx`
      INSERT INTO alert (incident_id, delivery_key, source, fingerprint, status, title, labels, annotations, starts_at, received_at)
      SELECT id, 'delivery ' || id || ':' || n, source, fingerprint, 'firing', title, labels, annotations, opened_at, opened_at
        FROM incident, generate_series(1, ${EACH.alerts}) AS n`;
    await tx`
      INSERT INTO alert_state (incident_id, source, fingerprint, firing, began_at)
      SELECT id, source, fingerprint, true, opened_at FROM incident`;
    await tx`
      INSERT INTO event (incident_id, type, body, at)
      SELECT id, CASE WHEN n = 1 THEN 'incident.opened' ELSE 'state.changed' END,
             jsonb_build_object('from', 'open', 'to', state, 'reason', repeat('something that was said ', 6), 'source', source, 'title', title),
             opened_at + n * interval '10 s'
        FROM incident, generate_series(1, ${EACH.events}) AS n`;
    await tx`
      INSERT INTO tool_call (id, incident_id, role, tool, target, input, state, output, result, output_sha256, truncated, started_at, finished_at)
      SELECT 'tc_' || md5(id || ':' || n), id, 'detective', 'postgres_blocking', target, '{}', 'ok', repeat('pid 4711 waits for 4712; ', 24),
             '{"rows": []}', md5(id), false, opened_at + n * interval '20 s', opened_at + n * interval '21 s'
        FROM incident, generate_series(1, ${EACH.toolCalls}) AS n`;
    await tx`
      INSERT INTO action (id, plan_id, incident_id, round, state, tool, target, input, command, plan_hash, why, blast_radius, preflight, undo, risk,
                          runbook_id, verify, audit_only, proposed_at, expires_at, decided_by, decided_at, started_at, finished_at, identity)
      SELECT 'act_' || id, 'act_' || id, id, 1, CASE WHEN state = 'diagnosing' THEN 'denied' ELSE 'succeeded' END, 'postgres_terminate', target, '{}',
             'SELECT pg_terminate_backend(4712)', md5(id), 'It blocks others.', 'one session', '{}', 'none', 'low', 'postgres-blocked-sessions',
             '{"steps": []}', false, opened_at + interval '5 min', opened_at + interval '35 min', 'U0OLIVIA', opened_at + interval '6 min',
             opened_at + interval '6 min', opened_at + interval '6 min', 'postgres:' || target
        FROM incident WHERE state <> 'ignored'`;
    await tx`
      INSERT INTO episode (incident_id, action_id, at, error, diagnosis, command, result, success, target)
      SELECT incident_id, id, proposed_at, 'blocked sessions', 'a lock', command, 'terminated', state = 'succeeded', target FROM action`;
    await tx`
      INSERT INTO criterion_reading (incident_id, action_id, phase, state, holds, lines, readings, at)
      SELECT incident_id, id, 'watch', 'green', true, '{0 sessions wait}', '[]', started_at FROM action, generate_series(1, ${EACH.readings})`;
    await tx`
      INSERT INTO usage (incident_id, role, model, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, cost_usd, at)
      SELECT id, 'detective', 'claude', 900, 9000, 400, 300, 0.005, opened_at + n * interval '30 s'
        FROM incident, generate_series(1, ${EACH.usage}) AS n`;
    await tx`
      INSERT INTO usage_day
      SELECT (at AT TIME ZONE 'UTC')::date, model, role, count(*), sum(cost_usd), sum(input_tokens), sum(cache_read_tokens),
             sum(cache_write_tokens), sum(cache_write_1h_tokens), sum(output_tokens), sum(thinking_tokens)
        FROM usage GROUP BY 1, 2, 3`;
    await tx`
      INSERT INTO slack_post (incident_id, slot, channel, ts, sent_hash, posted_at)
      SELECT id, CASE WHEN n = 1 THEN 'root' ELSE 'step:' || n END, channel, thread_ts || '.' || n, md5(id), opened_at
        FROM incident, generate_series(1, ${EACH.posts}) AS n`;
    await tx`
      INSERT INTO slack_lease (incident_id, holder, until, drawn_mark)
      SELECT i.id, 'bench', '-infinity', i.xmin::text || ':' || ${EACH.events}::text || ':' || coalesce(a.xmin::text, '')
        FROM incident i LEFT JOIN action a ON a.incident_id = i.id`;
    await tx`
      INSERT INTO slack_inbox (event_key, body, received_at, processed_at)
      SELECT 'event:' || id || ':' || n, '{}', opened_at, opened_at FROM incident, generate_series(1, 5) AS n
       WHERE opened_at > clock_timestamp() - interval '1 day'`;
    await tx`
      INSERT INTO grade (incident_id, question, by, answer, runbook_id)
      SELECT id, 'cause_right', 'U0OLIVIA', true, 'postgres-blocked-sessions' FROM incident WHERE fingerprint < '2'`;
    await tx`
      INSERT INTO question (id, incident_id, asked_by, text, channel, ts, thread_ts, direct, state, asked_at)
      SELECT 'q_' || id, id, 'U0OLIVIA', 'why?', channel, thread_ts, thread_ts, false, 'answered', opened_at FROM incident WHERE fingerprint < '2'`;
    await tx`
      INSERT INTO denial (id, incident_id, action_id, scope, keys, kind, label, said_by, said_at, reason)
      SELECT 'den_' || id, incident_id, id, 'object', ARRAY['key ' || id], 'session', 'a session', 'U0OLIVIA', proposed_at, 'no' FROM action WHERE plan_hash < '08'`;
    await tx`
      INSERT INTO credential (id, identity_id, process_id, incident_id, minted_at, expires_at)
      SELECT 'cred_' || id, 'role', 'process', id, opened_at, opened_at + interval '1 hour' FROM incident
       WHERE opened_at > clock_timestamp() - interval '7 days'`;
    await tx`
      INSERT INTO memory_usage (incident_id, run, document_id, version, trust, tokens, at)
      SELECT id, 'run', 'doc_' || n, 1, 'agent_draft', 100, opened_at FROM incident, generate_series(1, 3) AS n`;
    await tx`INSERT INTO memory_store (slug, scope, title) VALUES ('bench', 'conversation', 'of incidents')`;
    await tx`
      INSERT INTO memory_document (id, store, scope, incident_id, path, version, sha256, title, content, doc_type, trust, author, created_at, updated_at)
      SELECT 'doc_' || id, 'bench', 'conversation', id, 'note.md', 1, md5(id), title, cause, 'note', 'agent_draft', 'U0OLIVIA', opened_at, opened_at
        FROM incident WHERE fingerprint < '2'`;
    await tx`
      INSERT INTO memory_version (document_id, number, sha256, title, content, doc_type, trust, entities, writer, author, at)
      SELECT id, 1, encode(sha256(convert_to(content, 'UTF8')), 'hex'), title, content, doc_type, trust, '{}', 'role', author, created_at FROM memory_document`;
    await tx`
      INSERT INTO dream_job (id, kind, state, incident_id, domain, rationale, proposed_by, proposed_at, decided_by, decided_at)
      SELECT 'dream_' || id, 'promotion', 'approved', incident_id, 'postgres', 'it helped', 'U0OLIVIA', created_at, 'U0ADMIN', created_at
        FROM memory_document`;
    await tx`
      INSERT INTO dream_review_item (job_id, document_id, version, target_store, target_path)
      SELECT 'dream_' || id, id, 1, 'bench', 'note.md' FROM memory_document`;
    await tx`
      INSERT INTO rate_claim (action_id, key, claimed_at) SELECT id, target, started_at FROM action WHERE started_at > clock_timestamp() - interval '2 days'`;
    await tx`
      INSERT INTO action (id, plan_id, incident_id, round, state, tool, target, input, command, plan_hash, why, blast_radius, preflight, undo, risk,
                          verify, audit_only, proposed_at, expires_at, undoes, beside, purpose)
      SELECT 'undo_' || id, 'undo_' || id, incident_id, round, 'succeeded', tool, target, input, command, plan_hash, why, blast_radius, preflight, undo,
             risk, verify, false, proposed_at, expires_at, id, true, 'undo' FROM action WHERE plan_hash < '08'`;
    await tx`
      INSERT INTO identity (id, kind, name, public_key, vault, mac)
      SELECT 'id' || n, 'process', 'process ' || n, 'key', 'vault', 'mac' FROM generate_series(1, 20) AS n`;
    await tx`
      INSERT INTO memory_outbox (collection, id, document, metadata, next_at)
      SELECT 'incidents', id, cause, '{}', clock_timestamp() + interval '1 hour' FROM incident WHERE fingerprint < '04'`;
    await tx`
      INSERT INTO memory_dry_run (job_id, sha256, passed, lines) SELECT job_id, md5(job_id), true, '[]' FROM dream_review_item`;
    await tx`
      INSERT INTO memory_source_ref (document_id, version, kind, ref) SELECT id, 1, 'incident', incident_id FROM memory_document`;
    await tx`
      INSERT INTO search_space (name, next_no, entries)
      SELECT 'incident:' || domain, count(*), count(*) FROM incident GROUP BY domain
      UNION ALL SELECT 'document:bench/' || incident_id, 1, 1 FROM memory_document`;
    await tx`
      INSERT INTO search_entry (space_id, no, key, title, body, metadata, content_hash, terms, embedded_by, updated_at)
      SELECT s.id, row_number() OVER (PARTITION BY s.id), i.id, i.title, repeat(i.cause, 4), '{}', md5(i.id), '', 'bench', i.updated_at + interval '1 s'
        FROM incident i JOIN search_space s ON s.name = 'incident:' || i.domain`;
    await tx`
      INSERT INTO search_entry (space_id, no, key, title, body, metadata, content_hash, terms, embedded_by)
      SELECT s.id, 1, d.id, d.title, d.content, '{"version": 1}', d.sha256, '', 'bench'
        FROM memory_document d JOIN search_space s ON s.name = 'document:bench/' || d.incident_id`;
    await tx`
      INSERT INTO search_gone (space_id, key) SELECT id, 'gone' FROM search_space`;
    // Finished turns are kept for a week.
    await tx`
      INSERT INTO dbos.workflow_status (workflow_uuid, status, name, queue_name, queue_partition_key, created_at, updated_at, completed_at, executor_id, application_version)
      SELECT 'w' || id || ':' || n, 'SUCCESS', 'incident_turn', 'incident_turns', id, ms.at, ms.at, ms.at, 'gone', 'sentry'
        FROM incident, generate_series(1, 12) AS n, LATERAL (SELECT extract(epoch FROM opened_at)::bigint * 1000 AS at) AS ms
       WHERE opened_at > clock_timestamp() - interval '7 days'`;
  });
  for (let from = 0; from < auditEntries; from += AUDIT_BATCH)
    await sql`
      SELECT audit_append(ARRAY(SELECT json_build_object('kind', 'tool.call', 'actor', 'detective', 'at', clock_timestamp(),
               'details', json_build_object('incident', 'INC-' || n / 10, 'note', repeat('x', 150)))::text
          FROM generate_series(${from}::int + 1, least(${from}::int + ${AUDIT_BATCH}::int, ${auditEntries}::int)) AS n))`;
  await sql`VACUUM (ANALYZE)`;
}
