import { z } from 'zod';
import {
  boundedChange,
  type Change,
  type Commit,
  changeKinds,
  changeStates,
  commitOf,
  MOST_AT_ONCE,
} from '../../core/change.ts';
import { line, oneOf, time, wholeNumber } from './fields.ts';
import { defineOperation, ok } from './operation.ts';

const ROOT = '/api/v1/changes';
const DAY_MS = 24 * 3_600_000;

const tooFewOrMany = `expected 1 to ${MOST_AT_ONCE} changes; send the others in the next request`;
const name = line(300);
const address = line(3_000).regex(/^https?:\/\//, 'expected an address like https://…');

const ToldCommit = z.union(
  [
    name,
    z.strictObject({
      sha: name,
      title: name.optional(),
      by: name.optional(),
      files: z.array(name).max(20, 'at most 20 files').default([]),
    }),
  ],
  { error: 'expected a text, or an object with sha, title, by and files' },
);

const ToldChange = z.strictObject(
  {
    id: name.describe('Your own id of it; what you tell of this id later is of the same change.'),
    title: name.describe('What people read.'),
    where: z
      .array(name, { error: 'expected a list of names' })
      .max(100, 'at most 100 names')
      .default([])
      .describe('Names of what it touched: systems, their aliases, services.'),
    kind: oneOf(changeKinds).default('other'),
    status: oneOf(changeStates).default('succeeded'),
    at: time.optional().describe('When it took effect; now when left out, and never later than now.'),
    startedAt: time.optional(),
    environment: name.optional(),
    by: name.optional(),
    from: name.optional().describe('A version or commit.'),
    to: name.optional().describe('A version or commit.'),
    commits: z
      .array(ToldCommit, { error: 'expected a list of commits' })
      .max(50, 'at most 50 commits')
      .default([])
      .describe('The newest last. A text is its revision, a title behind it, or both.'),
    url: address.optional(),
  },
  { error: 'expected a change' },
);

const KnownChange = z.object({
  source: z.string().describe('Who told of it: a source of webhooks, or `api:` and the name of a token.'),
  id: z.string(),
  title: z.string(),
  where: z.array(z.string()),
  kind: z.enum(changeKinds),
  status: z.enum(changeStates),
  at: time,
  startedAt: time.nullable(),
  environment: z.string().nullable(),
  by: z.string().nullable(),
  from: z.string().nullable(),
  to: z.string().nullable(),
  commits: z
    .array(
      z.object({
        sha: z.string().nullable().describe('Its revision; null: only told in words.'),
        title: z.string().nullable(),
        by: z.string().nullable(),
        files: z.array(z.string()).describe('Paths it touched, at most 20 of them.'),
      }),
    )
    .describe('The newest last.'),
  url: z.string().nullable(),
});

const listChanges = defineOperation({
  id: 'listChanges',
  method: 'GET',
  path: ROOT,
  scope: 'read',
  summary: 'What was changed, newest first.',
  query: z.strictObject({
    where: line(300).optional().describe('Only what touched this system or service, by its whole name.'),
    since: time.optional().describe('Took effect at this time or later; a day ago when left out.'),
    until: time.optional().describe('Had begun at this time; now when left out.'),
    limit: wholeNumber(1, 100).default(50),
  }),
  response: z.object({
    changes: z.array(KnownChange),
    complete: z.boolean().describe('False: there are more; ask for a shorter time.'),
  }),
  async handle(api, { query: { where, since, until, limit } }) {
    const to = until === undefined ? new Date() : new Date(until);
    const from = since === undefined ? new Date(to.getTime() - DAY_MS) : new Date(since);
    const found = await api.changes.around({
      where: where === undefined ? null : [where],
      from: from.toISOString(),
      to: to.toISOString(),
      limit: limit + 1,
    });
    return ok({
      changes: found.slice(0, limit).map(({ state: status, ...change }) => ({ ...change, status })),
      complete: found.length <= limit,
    });
  },
});

const tellChanges = defineOperation({
  id: 'tellChanges',
  method: 'POST',
  path: ROOT,
  scope: 'changes',
  summary: 'Tells of changes: deployments, flags, migrations. They open nothing and page nobody.',
  description:
    'Kept under the name of the token, whatever the request says. The same again adds nothing, so a request whose answer was lost can be sent again. Secrets are screened out.',
  body: z.strictObject({
    changes: z
      .array(ToldChange, { error: tooFewOrMany })
      .min(1, tooFewOrMany)
      .max(MOST_AT_ONCE, tooFewOrMany)
      .describe(`1 to ${MOST_AT_ONCE}, each with the fields of docs/changes.md.`),
  }),
  response: z.object({
    changes: z.array(
      z.object({
        id: z.string(),
        result: z.enum(['recorded', 'updated', 'repeated']).describe('`repeated`: nothing in it was new.'),
      }),
    ),
  }),
  bodyLimit: 256 * 1024,
  audited: 'api.called',
  async handle(api, { caller, body }) {
    const now = new Date();
    const changes: { id: string; result: 'recorded' | 'updated' | 'repeated' }[] = [];
    // One after the other: two may be of one change.
    for (const told of body.changes) {
      const change = boundedChange(changeOf(told, caller.principal, now), now);
      changes.push({ id: told.id, result: await api.changes.record(change) });
    }
    return ok({ changes });
  },
});

function changeOf(told: z.output<typeof ToldChange>, source: string, now: Date): Change {
  const { status: state, at, startedAt = null, environment = null, by = null, url = null, ...rest } = told;
  return {
    ...rest,
    commits: rest.commits.map(toCommit),
    source,
    state,
    environment,
    by,
    url,
    from: told.from ?? null,
    to: told.to ?? null,
    at: (at === undefined ? now : new Date(at)).toISOString(),
    startedAt: startedAt === null ? null : new Date(startedAt).toISOString(),
  };
}

function toCommit(told: z.output<typeof ToldCommit>): Commit {
  if (typeof told === 'string') return commitOf(told);
  const { sha, title = null, by = null, files } = told;
  return { sha, title, by, files };
}

export const changeOperations = [listChanges, tellChanges];
