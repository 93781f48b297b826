import { createHash } from 'node:crypto';
import type { RecordChange } from '../../src/changes/record-change.ts';
import type { InventoryItem } from '../../src/core/inventory.ts';
import { changeOperations } from '../../src/http/api/change-operations.ts';
import type { Api } from '../../src/http/api/ports.ts';
import type { Told } from './situation.ts';

/** Who calls the HTTP API. */
const CALLER = { principal: 'api:ci', scopes: ['changes'] } as const;

const MINUTE_MS = 60_000;

/** How a change comes to Sentry: by a webhook, by the HTTP API, or by a look of its own. */
export interface Ways {
  /** Posts to a webhook; throws where any of it is refused. */
  post(source: string, payload: unknown): Promise<void>;
  readonly record: RecordChange;
  /** Sentry's own look at the system at a time (ms since the epoch), of which these things are, and parts that are empty. */
  lookAt(at: number, items: readonly InventoryItem[], empty?: readonly string[]): Promise<void>;
}

/** Tells of the `n`-th change of a situation, as its sender does. `began`: ms since the epoch. */
export async function tell(told: Told, n: number, began: number, ways: Ways): Promise<void> {
  const at = iso(began - told.before * MINUTE_MS);
  const startedAt = told.took === undefined ? null : iso(Date.parse(at) - told.took * MINUTE_MS);
  switch (told.by) {
    case 'generic':
      return ways.post('generic', { change: { ...fieldsOf(told, n), at, startedAt } });
    case 'github':
      for (const payload of deliveries(told, n, at)) await ways.post('github', payload);
      return;
    case 'api': {
      const change = { ...fieldsOf(told, n), at, ...(startedAt === null ? {} : { startedAt }) };
      const operation = changeOperations.find(({ id }) => id === 'tellChanges');
      const body: unknown = operation?.body?.parse({ changes: [change] });
      const api = { changes: { record: ways.record } } as unknown as Api;
      await operation?.handle(api, {
        caller: CALLER,
        body,
        params: undefined,
        query: undefined,
        headers: undefined,
      });
      return;
    }
    case 'own-look':
      return look(told, n, Date.parse(at), ways);
  }
}

/** Two looks: one that saw it as it was, and one that sees it as it is. */
async function look(told: Told, n: number, at: number, { lookAt }: Ways): Promise<void> {
  const { took = 5, title: name, kind, where: objects, who, from, to, went } = told;
  const was = { part: `part ${n}`, key: name, name, kind, objects, mayComeAndGo: went !== undefined };
  const words = went === undefined ? {} : { told: { went } };
  await lookAt(at - (took || 5) * MINUTE_MS, [{ ...was, ...words, value: from ?? 'as it was' }]);
  const isTold = took === 0;
  const is = {
    ...was,
    value: to ?? 'as it is',
    ...(who ? { by: who } : {}),
    ...(isTold ? { since: iso(at) } : {}),
  };
  await lookAt(isTold ? at + MINUTE_MS : at, went === undefined ? [is] : [], [was.part]);
}

/** As docs/changes.md has them. */
function fieldsOf({ title, kind, status, where, environment, who, from, to, commits }: Told, n: number) {
  return {
    id: `${n} ${title}`,
    title,
    kind,
    status,
    where,
    commits,
    ...(environment === undefined ? {} : { environment }),
    ...(who === undefined ? {} : { by: who }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}

/** What GitHub sends of a deployment: the one before it, the push between them, and itself. Written from its documentation. */
function deliveries(
  { where: [service = 'shop'], who, from = 'main', to = 'main', commits }: Told,
  n: number,
  at: string,
): readonly unknown[] {
  const repository = {
    name: service,
    full_name: `acme/${service}`,
    html_url: `https://github.com/acme/${service}`,
  };
  const before = shaOf('before');
  const listed = commits.map((commit) => {
    const [short = '', ...title] = commit.split(' ');
    return {
      id: `${short}${shaOf(short).slice(short.length)}`,
      message: title.join(' '),
      author: { name: who ?? 'olivia', username: who ?? 'olivia' },
      added: [],
      removed: [],
      modified: ['src/main.ts'],
    };
  });
  const after = listed.at(-1)?.id ?? shaOf(to);
  const deployed = (id: number, sha: string, ref: string, when: string) => ({
    action: 'created',
    deployment_status: { id: id + 1, state: 'success', environment: 'production', created_at: when },
    deployment: {
      id,
      sha,
      ref,
      task: 'deploy',
      payload: { service },
      environment: 'production',
      description: null,
      creator: { login: who ?? 'olivia' },
      created_at: when,
    },
    repository,
  });
  const push = {
    ref: 'refs/heads/main',
    before,
    after,
    commits: listed,
    head_commit: listed.at(-1) ?? null,
    pusher: { name: who ?? 'olivia' },
    repository,
  };
  const DAYS_MS = 3 * 24 * 60 * MINUTE_MS;
  return [
    deployed(1_000 + n, before, from, iso(Date.parse(at) - DAYS_MS)),
    ...(listed.length > 0 ? [push] : []),
    deployed(2_000 + n, after, to, at),
  ];
}

const shaOf = (text: string): string => createHash('sha1').update(text).digest('hex');
const iso = (ms: number): string => new Date(ms).toISOString();
