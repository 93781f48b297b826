import { afterAll, beforeAll, expect, it } from 'vitest';
import { CHANNELS, USERS } from '../../../playground/slack/seed.ts';
import { userStore } from '../../../src/memory/documents/document.ts';
import { syncDocuments } from '../../../src/memory/sync/sync-documents.ts';
import { syncIncidents } from '../../../src/memory/sync/sync-incidents.ts';
import { syncRunbooks } from '../../../src/memory/sync/sync-runbooks.ts';
import { createRetrieval } from '../../../src/search/retrieval.ts';
import { PRIVATE_WORD, setScene } from '../../support/matrix-scene.ts';
import { quiet } from '../../support/quiet.ts';
import { eventually } from '../../support/slack-scene.ts';
import { HERE, type WholeSlack, wholeSlack } from '../../support/whole-slack.ts';

let at: WholeSlack;
beforeAll(async () => {
  at = await wholeSlack({
    yaml: `
escalation:
  schedules:
    primary: { type: rotation, people: [${USERS.onCall}, ${USERS.onCall2}], handover: "09:00", length: 7d, timezone: Etc/UTC, starts: 2020-01-06 }
  levels: [{ after: 0m, mention: [schedule:primary] }]
  quiet_hours: [{ severities: [info], from: "00:00", to: "23:59", timezone: Etc/UTC }]
`,
  });
  await at.client.control('channel-privacy', { channel: CHANNELS.admin, is_private: true });
});
afterAll(() => at?.close());

/** The answer to what somebody types. */
async function answer(text: string, userId: string = USERS.onCall): Promise<string> {
  const before = at.shown(userId).length;
  expect(
    await at.client.act('command.run', { userId, channel: HERE, text: `/sentry ${text}` }),
  ).toMatchObject({
    ok: true,
  });
  return eventually(() => {
    const [said] = at.shown(userId).slice(before);
    expect(said).toBeDefined();
    return said?.text ?? '';
  });
}

it('runbooks are listed by domain, searched, told by name, and guessed at', async () => {
  const retrieval = createRetrieval({ sql: at.services.sql, log: quiet } as never);
  await syncRunbooks(retrieval, 'postgres', at.services.runbooks);
  expect(await answer('runbooks')).toMatch(/^\d+ runbooks\..*\npostgres \(\d+\): .*blocked-sessions/ms);
  expect(await answer('runbooks sessions wait for a lock')).toMatch(
    /^About “sessions wait for a lock”:\n• [\w-]+: [^\n]+ \(postgres\/[\w-]+\.md\)/,
  );
  const told = await answer('runbooks blocked-sessions');
  expect(told).toMatch(
    /^Sessions blocked by a lock \(blocked-sessions, for postgres; postgres\/blocked-sessions\.md\)/,
  );
  expect(told).toMatch(/\n1\. .+/);
  expect(told).toMatch(/It may ask to .*end the session/);
  expect(await answer('runbooks blockd-sesions')).toMatch(/Did you mean blocked-sessions\?/);
});

it('targets say whether they answer now, what may be done there and what could not be read', async () => {
  const { id } = await setScene(at, 'ok', { failedRead: 'TIMEOUT' });
  expect(id).toMatch(/^INC-/);
  const said = await answer('targets');
  expect(said).toMatch(/^shop-db \(postgres, playground\): answers now: /);
  expect(said).toMatch(/Once approved, Sentry may .*vacuum the table/);
  expect(said).toMatch(/Could not read postgres blocking tree in 1 of its newest 20 incidents, last /);
  expect(await answer('targets shop-bd')).toMatch(/There is no target “shop-bd”\. Did you mean shop-db\?/);
});

it('who is on call: by the rotation with its next handover, by the group, and when it is quiet', async () => {
  const said = await answer('oncall');
  expect(said).toMatch(/^primary: (?:olivia|noah) until \d{4}-\d\d-\d\d 09:00 UTC, then (?:olivia|noah)\.$/m);
  expect(said).toMatch(/^@oncall: olivia, noah\.$/m);
  expect(said).toMatch(/^Quiet(?: NOW)? for info: every day from 00:00 to 23:59/m);
});

it('memory is searched by who may read what, and taken back by who wrote it, once it is confirmed', async () => {
  const { services } = at;
  const seen = await setScene(at, 'closed');
  const hidden = await setScene(at, 'elses', { incident: 'resolved', promotion: 'pending' });
  await services.sql`UPDATE incident SET state = 'resolved', resolved_by = 'person' WHERE id = ${hidden.id}`;
  await services.sql`UPDATE incident SET thread_ts = '1700000000.000100' WHERE id = ${seen.id}`;
  await answer('memory remember the report job holds sessions on Fridays', USERS.stranger);
  const retrieval = createRetrieval({ sql: services.sql, log: quiet } as never);
  await syncDocuments(services.sql, retrieval);
  await syncIncidents(services.sql, retrieval, (id) => services.records.load(id));

  const stranger = await answer('memory search sessions are blocked', USERS.stranger);
  expect(stranger).toContain(`${seen.id} `);
  expect(stranger).not.toContain(PRIVATE_WORD);
  expect(await answer('memory search sessions are blocked', USERS.admin)).toContain(PRIVATE_WORD);
  const fridays = 'memory search what holds sessions on Fridays';
  expect(await answer(fridays, USERS.stranger)).toMatch(
    /the report job holds sessions on Fridays.*yours\/notes/s,
  );
  expect(await answer(fridays)).not.toContain('the report job holds');

  const store = userStore(USERS.stranger);
  const [note] = await services.documents.list({ kind: 'operator' }, { store });
  const path = note?.path ?? '';
  expect(await answer(`memory forget ${path}`)).toMatch(/There is no “notes/);
  expect(await answer(`memory forget ${path}`, USERS.stranger)).toMatch(/Forget “the report job.*confirm/s);
  expect(await services.documents.list({ kind: 'operator' }, { store })).toHaveLength(1);
  expect(await answer(`memory forget ${path} confirm`, USERS.stranger)).toMatch(
    /is forgotten.*history stays/,
  );
  expect(await services.documents.list({ kind: 'operator' }, { store })).toEqual([]);
  expect(await services.documents.history({ kind: 'operator' }, { id: note?.id ?? '' })).toHaveLength(1);
  expect(await answer(fridays, USERS.stranger)).not.toContain('the report job holds');

  const shared = await services.documents.list({ kind: 'operator' }, { store: 'workspace_conventions' });
  const { path: ours = '' } = shared[0] ?? {};
  expect(await answer(`memory forget ${ours} confirm`)).toMatch(/Only admins/);
  expect(await answer(`memory forget ${ours} confirm`, USERS.admin)).toMatch(/is forgotten/);
  expect(await answer('memory serch x')).toMatch(/Did you mean “memory search”\?/);
});
