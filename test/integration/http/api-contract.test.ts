import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApi } from '../../../src/http/api/open-api.ts';
import { described } from '../../../src/http/api/operations.ts';
import { admin } from '../memory/documents/rig.ts';
import { type Answer, type ApiScene, type Asking, apiScene, tokens } from './api-scene.ts';

/** Everything here is read from the document that programs are given; the code behind it is called over HTTP alone. */
interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
}
interface Described {
  readonly operationId: string;
  readonly summary: string;
  readonly security: ReadonlyArray<{ readonly token?: readonly string[] }>;
  readonly parameters: ReadonlyArray<{
    readonly name: string;
    readonly in: 'path' | 'query' | 'header';
    readonly required: boolean;
    readonly schema: Schema;
  }>;
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }>
  >;
}

const document = JSON.parse(JSON.stringify(openApi(described))) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: object;
};
const all = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    path,
    method: method.toUpperCase(),
    ...operation,
  })),
);
type Operation = (typeof all)[number];
const behindToken = all.filter(({ security }) => security.length > 0);
const withBody = behindToken.filter(({ requestBody }) => requestBody !== undefined);
const named = (operations: readonly Operation[]) =>
  operations.map((one) => [`${one.method} ${one.path}`, one] as const);

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ $id: 'api', components: document.components });
/** Refs within the document, as it is known to the validator. */
const resolved = (schema: Schema): object =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"api#/components')) as object;

let scene: ApiScene;
let ask: (path: string, asking?: Asking) => Promise<Answer>;
/** What stands for each `{name}` of a path. */
let known: Readonly<Record<string, string>>;
beforeAll(async () => {
  scene = await apiScene();
  const server = await scene.serve();
  ask = async (path, asking) => {
    const answer = await server.ask(path, asking);
    // Whatever was asked: no token, no stack, no path of the machine, nothing of the database.
    for (const secret of Object.values(tokens)) expect(answer.text).not.toContain(secret);
    expect(answer.text).not.toMatch(/\n\s+at |node_modules|\/src\/|syntax error|relation "/);
    return answer;
  };
  known = {
    incident: await scene.incident(),
    document: (await scene.document()).id,
    proposal: (await scene.proposal()).jobId,
  };
});
afterAll(() => scene.close());

const scopeOf = ({ security }: Operation): string => security[0]?.token?.[0] ?? '';
const rightToken = (one: Operation): string =>
  ({ read: tokens.reader, trigger: tokens.opener, changes: tokens.teller, admin: tokens.admin })[
    scopeOf(one)
  ] ?? '';
const wrongToken = (one: Operation): string => (scopeOf(one) === 'read' ? tokens.opener : tokens.reader);

/** A request of each that is right; those without an entry need nothing but their path. */
const samples: Readonly<
  Record<string, () => Promise<{ path?: Record<string, string>; query?: string; body?: object }>>
> = {
  listIncidents: async () => ({
    query: 'open=true&state=reported&severity=critical&since=2020-01-01T00:00:00Z&limit=5',
  }),
  readIncident: async () => ({ query: 'after=0&limit=10' }),
  openIncident: async () => ({
    body: { title: 'Checkout is slow', description: 'since noon', target: 'box', severity: 'error' },
  }),
  listChanges: async () => ({
    query: 'where=shop-api&since=2020-01-01T00:00:00Z&until=2030-01-01T00:00:00%2B02:00&limit=5',
  }),
  tellChanges: async () => ({
    body: {
      changes: [
        { id: 'deploy-1', title: 'shop-api 1.4.2 deployed', where: ['shop-api'], at: '2026-03-01T10:00:00Z' },
      ],
    },
  }),
  searchMemory: async () => ({ query: 'q=report+job+transaction&domain=postgres&limit=3' }),
  decidePromotion: async () => ({
    path: { proposal: (await scene.proposal()).jobId },
    body: { as: admin, decision: 'approve', content: 'The report job holds a lock.', over: null },
  }),
  editDocument: async () => {
    const { id, sha256 } = await scene.document();
    return { path: { document: id }, body: { as: admin, content: 'Another text.', base: sha256 } };
  },
  rollBackDocument: async () => ({
    path: { document: (await scene.document()).id },
    body: { as: admin, to: 1 },
  }),
  retireDocument: async () => ({ path: { document: (await scene.document()).id }, body: { as: admin } }),
};

async function requestOf(one: Operation) {
  const { path = {}, query = '', body } = (await samples[one.operationId]?.()) ?? {};
  const filled = one.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => path[name] ?? known[name] ?? '');
  const asking: Asking = {
    token: rightToken(one),
    method: one.method,
    ...(body === undefined ? {} : { body }),
  };
  return { path: filled, query, url: query === '' ? filled : `${filled}?${query}`, body, asking };
}

/** The answer is one that the document tells of, and says nothing that it does not tell of. */
function expectDescribed(
  { operationId, responses }: Operation,
  { status, headers, text, body }: Answer,
): void {
  const type = headers.get('content-type')?.split(';')[0] ?? '';
  const schema = responses[status]?.content[type]?.schema;
  expect(schema, `${operationId}: ${status} ${type} ${text.slice(0, 300)}`).toBeDefined();
  const validate = ajv.compile(resolved(schema ?? {}));
  const isRight = validate(type === 'text/plain' ? text : body);
  expect(isRight ? [] : validate.errors, text.slice(0, 600)).toEqual([]);
}

/** A 400 that says of which field, and what was expected. */
function expectWrong(one: Operation, answer: Answer, field: string): void {
  expect([answer.status, answer.body['field']], answer.text).toEqual([400, field]);
  expect(answer.body['error']).toMatch(/\w+: .{8,}/);
  expect(answer.body['error']).not.toMatch(/Invalid|invalid_|undefined|NaN|received/);
  expectDescribed(one, answer);
}

test('the document is one: ids, parameters and references', () => {
  expect(new Set(all.map(({ operationId }) => operationId)).size).toBe(all.length);
  expect(all.length).toBe(described.length);
  for (const { path, parameters, operationId, summary } of all) {
    expect(summary, operationId).toMatch(/^[A-Z].{10,}\.$/);
    const inPath = parameters.filter((one) => one.in === 'path').map(({ name }) => name);
    expect(
      [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
      operationId,
    ).toEqual(inPath);
  }
  const refs = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref);
  expect(new Set(refs)).toEqual(new Set(['#/components/schemas/Problem']));
});

describe.each(named(behindToken))('%s', (_name, one) => {
  test('without a known token is 401, whatever else is wrong with it', async () => {
    const { url, asking } = await requestOf(one);
    const right = rightToken(one);
    for (const authorization of [
      '',
      'Bearer',
      `Bearer ${right}x`,
      `Bearer ${right.slice(1)}`,
      `Basic ${right}`,
    ])
      for (const method of [one.method, 'PUT', 'DELETE', 'OPTIONS', 'POST']) {
        const answer = await ask(url, { ...asking, token: null, method, headers: { authorization } });
        expect([answer.status, answer.headers.get('www-authenticate')], `${method} ${authorization}`).toEqual(
          [401, 'Bearer'],
        );
        if (method === one.method) expectDescribed(one, answer);
      }
    const nothing = await ask(`${one.path}/nothing`, { token: null });
    expect(nothing.text).toBe((await ask(url, { token: null })).text);
  });

  test('with a token of another scope is 403', async () => {
    const { url, asking } = await requestOf(one);
    const answer = await ask(url, { ...asking, token: wrongToken(one) });
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
      403,
      `Bearer error="insufficient_scope", scope="${scopeOf(one)}"`,
    ]);
    expectDescribed(one, answer);
  });

  test('asked for as it is described answers as it is described', async () => {
    const { url, asking } = await requestOf(one);
    const answer = await ask(url, asking);
    expect(answer.status, answer.text).toBeLessThan(300);
    expectDescribed(one, answer);
  });

  test('a wrong method is 405 with those that there are; HEAD has no body', async () => {
    const { path, url, asking } = await requestOf(one);
    for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const answer = await ask(path, { token: rightToken(one), method });
      expect([method, answer.status]).toEqual([method, 405]);
      expect(answer.headers.get('allow')?.split(', ')).toContain(one.method);
    }
    if (one.method !== 'GET') return;
    const head = await ask(url, { ...asking, method: 'HEAD' });
    expect([head.status, head.text]).toEqual([200, '']);
  });

  test('hostile ids are ids of nothing', async () => {
    const { asking } = await requestOf(one);
    for (const { name } of one.parameters.filter((each) => each.in === 'path'))
      for (const id of hostile) {
        const url = one.path.replace(`{${name}}`, id);
        const answer = await ask(url, asking);
        expect([400, 404], `${id.slice(0, 40)}: ${answer.text.slice(0, 200)}`).toContain(answer.status);
        expect(typeof answer.body['error']).toBe('string');
        if (answer.body['field'] !== undefined) expectDescribed(one, answer);
      }
  });

  test('a query that is not as described is 400, and says what of it', async () => {
    const { path, query, asking } = await requestOf(one);
    const withQuery = (change: Record<string, string>) =>
      ask(
        `${path}?${new URLSearchParams({ ...Object.fromEntries(new URLSearchParams(query)), ...change })}`,
        asking,
      );
    expectWrong(one, await withQuery({ no_such_field: '1' }), 'no_such_field');
    for (const { name, schema } of one.parameters.filter((each) => each.in === 'query')) {
      const bad =
        schema.type === 'string' || schema.type === undefined
          ? ['\u0000', '\u202e']
          : ['x', '', '-1', '1e3', '0x10', ' 5', '9'.repeat(40)];
      for (const value of bad) expectWrong(one, await withQuery({ [name]: value }), name);
      expectWrong(one, await ask(`${path}?${query}&${name}=1&${name}=2`, asking), name);
    }
  });
});

const hostile = [
  'INC-1;drop%20table%20incident',
  'INC-1%27%20OR%201=1--',
  '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
  'INC-1%00',
  '%00',
  'INC-0',
  'INC-99999999999999999999',
  'INC-999999999',
  '%3C!channel%3E',
  '%F0%9F%92%A9',
  '%E0%A4%A',
  'x'.repeat(10_000),
];

describe.each(named(withBody))('the body of %s', (_name, one) => {
  const schema = one.requestBody?.content['application/json'].schema ?? {};

  /** Of several forms the one that the sample has. */
  function formOf(body: Readonly<Record<string, unknown>>): Schema {
    const forms = schema.oneOf ?? schema.anyOf ?? [schema];
    const fits = forms.find(({ properties = {} }) =>
      Object.entries(properties).every(
        ([name, field]) => field.const === undefined || field.const === body[name],
      ),
    );
    return fits ?? {};
  }

  test('each field that is wrong, missing or unknown is told by its name', async () => {
    const { url, asking, body } = await requestOf(one);
    const sample = body as Readonly<Record<string, unknown>>;
    const { required = [], properties = {} } = formOf(sample);
    expect(Object.keys(properties).toSorted()).toEqual(Object.keys(sample).toSorted());
    for (const name of Object.keys(properties)) {
      for (const value of [{}, [], true, '\u0000'])
        expectWrong(one, await ask(url, { ...asking, body: { ...sample, [name]: value } }), name);
      const { [name]: _left, ...rest } = sample;
      if (required.includes(name)) expectWrong(one, await ask(url, { ...asking, body: rest }), name);
    }
    expectWrong(one, await ask(url, { ...asking, body: { ...sample, no_such_field: 1 } }), 'no_such_field');
  });

  test('what is no JSON object is 400, of another type 415, too large 413', async () => {
    const { url, asking } = await requestOf(one);
    for (const body of ['', '{', '[]', '"approve"', 'null', '{"title":']) {
      const answer = await ask(url, { ...asking, body });
      expect([answer.status, answer.body['error']], body).toEqual([400, 'expected a JSON object']);
      expectDescribed(one, answer);
    }
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', '']) {
      const answer = await ask(url, { ...asking, body: '{}', headers: { 'content-type': type } });
      expect(answer.status).toBe(415);
      expectDescribed(one, answer);
    }
    const large = await ask(url, { ...asking, body: `"${'x'.repeat(300_000)}"` });
    expect(large.status).toBe(413);
    expectDescribed(one, large);
  });
});

describe.each(named(all.filter(({ security }) => security.length === 0)))('%s', (_name, one) => {
  test('needs no token and answers as it is described', async () => {
    const answer = await ask(one.path, { token: null });
    expect(answer.status).toBe(200);
    expectDescribed(one, answer);
  });
});

test('nothing is told of paths to whoever has no token; with one they are 404', async () => {
  for (const path of [
    '/api',
    '/api/',
    '/api/v1',
    '/api/v2/incidents',
    '/api/v1/incidents/INC-1/approve',
    '/memory/x',
  ]) {
    expect((await ask(path, { token: null })).status, path).toBe(401);
    expect((await ask(path)).status, path).toBe(404);
  }
});
