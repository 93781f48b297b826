import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asActionId, type IncidentId } from '../../../src/core/ids.ts';
import type { Sql } from '../../../src/core/sql.ts';
import type { Row } from '../../support/typed.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type ApiScene, apiScene, ON_CALL, PRIVATE, tokens, UNKNOWN } from './api-scene.ts';

type Server = Awaited<ReturnType<ApiScene['serve']>>;

let scene: ApiScene;
let server: Server;
beforeAll(async () => {
  scene = await apiScene();
  server = await scene.serve();
});
afterAll(() => scene.close());

const open = (
  body: Readonly<Record<string, unknown>>,
  key: string | null = null,
  { at = server, token = tokens.opener }: { readonly at?: Server; readonly token?: string } = {},
) => at.ask('/api/v1/incidents', { token, body, headers: key === null ? {} : { 'idempotency-key': key } });

/** All pages, one after the other. */
async function listed(query: string, token: string = tokens.reader): Promise<readonly string[]> {
  const found: string[] = [];
  for (let next: unknown = ''; next !== null; ) {
    const cursor = next === '' ? '' : `&cursor=${String(next)}`;
    const page = await server.ask(`/api/v1/incidents?${query}${cursor}`, { token });
    expect(page.status, page.text).toBe(200);
    found.push(...(page.body['incidents'] as { id: string }[]).map(({ id }) => id));
    next = page.body['next'];
  }
  return found;
}

describe('an incident opened by a program', () => {
  test('is of its target and severity, asked for by its token, audited, and worked on', async () => {
    const answer = await open({
      title: 'The box smells',
      description: 'of <!channel> smoke',
      target: 'box',
      severity: 'error',
    });
    expect(answer).toMatchObject({ status: 201, body: { target: 'box', opened: true } });
    const id = answer.body['id'] as IncidentId;
    expect(answer.headers.get('location')).toBe(`/api/v1/incidents/${id}`);
    expect(await scene.core.records.incident(id)).toMatchObject({
      title: 'The box smells',
      target: 'box',
      severity: 'error',
      requesters: ['api:opener'],
    });
    const [entry] = await scene.sql<Row>`
      SELECT body FROM audit_entry WHERE body LIKE '%"api.called"%' AND body LIKE ${`%"${id}"%`}`;
    expect(JSON.parse(String(entry?.['body']))).toMatchObject({
      actor: 'api:opener',
      details: { status: 201 },
    });
    await waitFor(
      'a proposal',
      async () => (await scene.core.records.incident(id))?.state === 'awaiting_approval',
    );
  });

  test('shows its actions and who approved them; a token approves nothing, neither here nor as a person', async () => {
    scene.machine.broken = true;
    const { body } = await open({ title: 'The lid is off', target: 'box' });
    const at = `/api/v1/incidents/${String(body['id'])}`;
    const actions = async () => (await server.ask(at)).body['actions'] as Row[];
    await waitFor('a proposal', async () => (await actions())[0]?.['state'] === 'proposed');
    const [action] = await actions();
    expect(action).toMatchObject({
      tool: 'box_mend',
      target: 'box',
      approvedBy: [],
      command: expect.stringMatching(/^mend/),
    });
    const actionId = asActionId(String(action?.['id']));
    const planHash = (await scene.core.records.action(actionId))?.planHash ?? '';
    const approve = (by: string) =>
      scene.core.approvals.decide({
        actionId,
        planHash,
        by,
        decision: 'approve',
        reason: '',
        anotherWay: false,
      });
    for (const by of ['api:opener', 'opener', 'api:everything'])
      expect(await approve(by)).toMatchObject({ ok: false });
    for (const path of [`${at}/approve`, `${at}/actions/${actionId}/approve`])
      expect((await server.ask(path, { token: tokens.other, body: { decision: 'approve' } })).status).toBe(
        404,
      );
    expect((await actions())[0]).toMatchObject({ state: 'proposed' });
    expect(await approve(ON_CALL)).toMatchObject({ ok: true });
    await waitFor('the fix', async () => (await actions())[0]?.['state'] === 'succeeded');
    expect((await actions())[0]).toMatchObject({ approvedBy: [ON_CALL], decidedBy: ON_CALL });
    const why = await server.ask(`${at}/why`);
    expect(why.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(why.text).toMatch(/opened by api:opener/);
    expect(why.text).toMatch(/approved by olivia/);
    expect(why.text).not.toMatch(/<@|\[tc_/);
  });

  test('with the same key is one, asked for at once by two processes, and after a restart', async () => {
    const second = await scene.serve();
    const body = { title: 'Orders hang', target: 'vault' };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => open(body, 'deploy-7', { at: n % 2 === 0 ? server : second })),
    );
    const third = await scene.serve();
    answers.push(await open(body, 'deploy-7', { at: third }));
    expect(new Set(answers.map((one) => one.body['id'])).size).toBe(1);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    const id = answers[0]?.body['id'] as IncidentId;
    expect(await scene.core.records.incident(id)).toMatchObject({
      occurrences: 1,
      requesters: ['api:opener'],
    });
    expect((await open(body, 'deploy-7', { token: tokens.other })).body).toMatchObject({ opened: true });
  });

  test.each([
    { title: 'Orders are lost', target: 'vault' },
    { title: 'Orders hang', description: 'more', target: 'vault' },
    { title: 'Orders hang', target: 'box' },
  ])('with the key of another request is 422, and opens nothing: %j', async (other) => {
    await open({ title: 'Orders hang', target: 'vault' }, 'deploy-8');
    const count = () => scene.sql`SELECT FROM incident`.then(({ length }) => length);
    const before = await count();
    expect(await open(other, 'deploy-8')).toMatchObject({ status: 422, body: { field: 'idempotency-key' } });
    expect(await count()).toBe(before);
  });

  test('whose answer was lost before its requester was on record is whole when it is sent again', async () => {
    let dies = true;
    const around = (sql: Sql): Sql =>
      new Proxy(sql, {
        apply(target, self, given: unknown[]) {
          const [strings] = given as [TemplateStringsArray];
          if (dies && strings.join('?').includes('array_append(requesters')) throw new Error('killed');
          return Reflect.apply(target, self, given) as unknown;
        },
      });
    const dying = await scene.serve({ around });
    const body = { title: 'Killed half-way', target: 'vault' };
    const first = await open(body, 'killed', { at: dying });
    expect(first).toMatchObject({ status: 503, body: { error: expect.stringContaining('send it again') } });
    dies = false;
    const again = await open(body, 'killed', { at: dying });
    expect(again).toMatchObject({ status: 200, body: { opened: false } });
    expect(await scene.core.records.incident(again.body['id'] as IncidentId)).toMatchObject({
      requesters: ['api:opener'],
      occurrences: 1,
    });
  });

  test('of no known target says which was meant; what hides something is refused', async () => {
    expect(await open({ title: 'Orders hang', target: 'vualt' })).toMatchObject({
      status: 400,
      body: { field: 'target', error: expect.stringContaining('did you mean vault?') },
    });
    expect(await open({ title: 'a\nb c' })).toMatchObject({ status: 400, body: { field: 'title' } });
    expect(await open({ title: 'Orders hang', description: 'x\u202ey' })).toMatchObject({
      status: 400,
      body: { field: 'description' },
    });
    expect((await open({ title: 'ok?' }, 'a key with spaces')).body['field']).toBe('idempotency-key');
  });

  test('sixty an hour and token; what was opened before is still answered, others still open', async () => {
    const body = { title: 'In a loop', target: 'vault' };
    const statuses: number[] = [];
    const token = tokens.other;
    for (let n = 0; n <= 60; n += 1) statuses.push((await open(body, `loop-${n}`, { token })).status);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
    expect(statuses.slice(0, 50)).toEqual(Array(50).fill(201));
    expect((await open(body, 'loop-0', { token })).status).toBe(200);
    expect((await open(body, 'loop-0')).status).toBe(201);
  });
});

describe('reading', () => {
  test('pages through incidents of one moment, each once, by state, severity, target and time', async () => {
    const ids = await Promise.all(
      Array.from({ length: 7 }, (_, n) =>
        scene.incident('CALERTS', { severity: n < 3 ? 'info' : 'unknown' }),
      ),
    );
    const at = '2025-01-02T03:04:05.678Z';
    await scene.sql`UPDATE incident SET opened_at = ${at}, target = 'box' WHERE id = ANY (${scene.sql.array(ids)}::text[])`;
    const all = await listed('limit=2&target=box&severity=unknown');
    expect(all.toSorted()).toEqual(ids.slice(3).toSorted());
    expect((await listed('limit=2&severity=info&open=true')).toSorted()).toEqual(ids.slice(0, 3).toSorted());
    expect(await listed('limit=100&severity=info&since=2025-01-02T03:04:05.679Z')).toEqual([]);
    expect(await listed('limit=100&severity=info&state=resolved')).toEqual([]);
    expect(await server.ask('/api/v1/incidents?cursor=INC-99999999')).toMatchObject({
      status: 400,
      body: { field: 'cursor' },
    });
  });

  test('looks at so many for a page and no more, and goes on from there', async () => {
    await scene.sql`
      INSERT INTO incident (title, severity, domain, source, fingerprint, labels, annotations, state, channel, opened_at)
      SELECT 'old', 'warning', 'docker', 'test', 'old' || n, '{}', '{}', 'ignored', 'CALERTS', '2020-01-01'::timestamptz - n * interval '1 s'
        FROM generate_series(1, 4500) AS n`;
    await scene.sql`UPDATE incident SET target = 'the-last' WHERE fingerprint = 'old4500'`;
    const first = await server.ask('/api/v1/incidents?target=the-last');
    expect(first.body).toMatchObject({ incidents: [], next: expect.stringMatching(/^INC-/) });
    expect(await listed('target=the-last')).toHaveLength(1);
  });

  test('of private channels is for tokens with that scope; nobody else learns that there are any', async () => {
    const [hidden, unsure, shown] = [
      await scene.incident(PRIVATE, { title: 'A secret affair' }),
      await scene.incident(UNKNOWN),
      await scene.incident(),
    ];
    for (const id of [hidden, unsure])
      for (const path of ['', '/why']) {
        const answer = await server.ask(`/api/v1/incidents/${id}${path}`);
        expect([answer.status, answer.body['error']]).toEqual([404, `there is no ${id} that you may read`]);
        expect((await server.ask(`/api/v1/incidents/INC-77777${path}`)).text).toBe(
          answer.text.replace(id, 'INC-77777'),
        );
        for (const token of [tokens.everything, tokens.admin])
          expect((await server.ask(`/api/v1/incidents/${id}${path}`, { token })).status).toBe(200);
      }
    const found = await listed('limit=100&severity=critical');
    expect(found).toContain(shown);
    expect(found).not.toContain(hidden);
    expect(found).not.toContain(unsure);
    expect((await server.ask('/api/v1/incidents?severity=critical')).body['complete']).toBe(false);
    // Nor by where a page ends.
    await scene.sql`UPDATE incident SET target = 'payroll' WHERE id = ${hidden}`;
    const { body } = await server.ask('/api/v1/incidents?target=payroll&limit=1');
    expect(body).toMatchObject({ incidents: [] });
    expect(body['next']).not.toBe(hidden);
    expect(await listed('limit=100&severity=critical', tokens.everything)).toEqual(
      expect.arrayContaining([hidden, unsure, shown]),
    );
  });

  test('tells what happened a page at a time, people by name, and where its thread is', async () => {
    const id = await scene.incident();
    for (const n of [1, 2, 3])
      await scene.sql.begin((tx) =>
        scene.core.records.append(tx, id, { type: 'hint.given', by: ON_CALL, text: `number ${n}` }),
      );
    const texts: string[] = [];
    for (let after: unknown = 0; after !== null; ) {
      const { body } = await server.ask(`/api/v1/incidents/${id}?limit=2&after=${String(after)}`);
      const timeline = body['timeline'] as { entries: { text: string }[]; next: number | null };
      texts.push(...timeline.entries.map(({ text }) => text));
      after = timeline.next;
      expect(body['links']).toMatchObject({
        thread: 'https://team.slack.com/archives/CALERTS/p1700000000000100',
      });
    }
    expect(texts).toEqual(
      ['look at the lid', 'number 1', 'number 2', 'number 3'].map((text) => `olivia hinted: ${text}`),
    );
  });

  test('of memory finds documents for everybody, past incidents for who may read of all', async () => {
    await scene.document('The zebra job deadlocks the ledger.');
    await scene.index();
    const kinds = async (token: string) => {
      const { body } = await server.ask('/api/v1/memory/search?q=zebra+job+ledger', { token });
      return (body['found'] as { kind: string; content: string }[]).map(({ kind, content }) => [
        kind,
        content,
      ]);
    };
    expect(await kinds(tokens.reader)).toContainEqual(['document', expect.stringContaining('zebra')]);
    expect(await server.ask('/api/v1/memory/search?q=zebra&domain=cooking')).toMatchObject({
      status: 400,
      body: { field: 'domain' },
    });
  });

  test('says how it is: stops by name, counts, parts; and what is watched', async () => {
    const status = await server.ask('/api/v1/status');
    expect(status.body).toMatchObject({
      mode: 'ACTIVE',
      changes: { stopped: false, lines: ['olivia stopped shop-db.'] },
      targets: ['box', 'vault'],
      parts: [{ name: 'record', state: 'ok' }, { name: 'engine' }, { name: 'slack' }, { name: 'outbox' }],
    });
    expect((await server.ask('/api/v1/mutes')).body).toEqual([]);
    await scene.core.mutes.mute('alertname="DiskFull" 2h moving disks', 'UONCALL');
    expect((await server.ask('/api/v1/mutes')).body).toEqual([
      {
        id: expect.stringMatching(/^M\d+$/),
        matcher: 'alertname="DiskFull"',
        by: 'UONCALL',
        reason: 'moving disks',
        begunAt: expect.any(String),
        until: expect.any(String),
        alerts: 0,
        incidents: 0,
        firing: 0,
      },
    ]);
    expect((await server.ask('/api/v1/watchers')).body).toMatchObject({
      logs: [{ target: 'shop-host', log: '/var/log/shop.log', state: 'waiting' }],
      targets: [{ target: 'box', kind: 'postgres', problem: null, toldAt: null }],
    });
  });
});

describe('who calls', () => {
  test('is counted by token, not by address', async () => {
    const limited = await scene.serve({ rate: 3 });
    const statuses = async (token: string) =>
      Promise.all([1, 2, 3, 4].map(async () => (await limited.ask('/api/v1/watchers', { token })).status));
    for (const token of [tokens.reader, tokens.everything])
      expect((await statuses(token)).filter((status) => status === 200)).toHaveLength(3);
  });

  test('is nobody where no token is configured: 403 says what to set, for every path', async () => {
    const off = await scene.serve({ env: { SENTRY_API_TOKENS: '', SENTRY_ADMIN_TOKEN: '' } });
    for (const path of ['/api/v1/status', '/api/nothing', '/memory'])
      expect(await off.ask(path)).toMatchObject({
        status: 403,
        body: { error: expect.stringMatching(/SENTRY_API_TOKENS or SENTRY_ADMIN_TOKEN/) },
      });
    expect((await off.ask('/health', { token: null })).status).toBe(200);
  });

  test('of a page in a browser is 403, whatever its token', async () => {
    const headers = { origin: 'https://evil.example' };
    expect((await server.ask('/api/v1/status', { headers })).status).toBe(403);
    expect((await server.ask('/api/v1/status', { headers, token: null })).status).toBe(401);
  });
});
