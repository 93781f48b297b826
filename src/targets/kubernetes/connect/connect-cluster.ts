import { request as httpRequest } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import { anySignal } from '../../../core/any-signal.ts';
import { OpsError } from '../../../core/errors.ts';
import type { SessionOptions } from '../../../tools/ports.ts';
import {
  type ChangeOptions,
  type Cluster,
  type Listed,
  type ObjectRef,
  type Page,
  type PodLogOptions,
  type ResourceKind,
  type Right,
  resources,
} from '../cluster.ts';
import type { KubernetesObject } from '../objects.ts';
import { type Asked, asAway, faultOf } from './fault.ts';
import { type KubeconfigFile, loadKubeconfig } from './kubeconfig.ts';

/** What one answer may weigh; a log is asked for less. */
const MOST_BYTES = 16 * 1024 * 1024;
const LOG_BYTES = 2 * 1024 * 1024;
const MOST_OBJECTS = 2_000;
/** Of all pages of a list together: they are held at once, and whoever may make objects may make them large. */
const LIST_BYTES = 64 * 1024 * 1024;
const PAGE = 250;
/** A list that expires under way is begun anew so often. */
const RESTARTS = 2;
/** How often a read waits for a server that is too busy. */
const WAITS = 3;

const METHODS = { get: 'GET', list: 'GET', create: 'POST', patch: 'PATCH', delete: 'DELETE' } as const;

interface Question extends Asked {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: { readonly type: string; readonly value: unknown };
  readonly mostBytes?: number;
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: Buffer;
}

/**
 * A connection to an API server; nothing is loaded or sent before the first question. The client library gives address and
 * credentials; requests are our own, because its generated calls read an answer of any size.
 */
export function connectCluster(kubeconfig: KubeconfigFile | null): Cluster {
  let loaded: Promise<KubeConfig> | undefined;
  const access = () => (loaded ??= loadKubeconfig(kubeconfig));
  const ask = async (question: Question, options: SessionOptions) =>
    askServer(await access(), question, options);
  const askJson = async <T>(question: Question, options: SessionOptions): Promise<T> =>
    jsonOf<T>((await ask(question, options)).body, question, await access());

  const weighedPage = async <T extends KubernetesObject>(
    kind: ResourceKind,
    { namespace, labelSelector, fieldSelector, limit, after }: Parameters<Cluster['page']>[1],
    options: SessionOptions,
  ): Promise<WeighedPage<T>> => {
    const query = {
      limit: String(limit),
      ...(labelSelector ? { labelSelector } : {}),
      ...(fieldSelector ? { fieldSelector } : {}),
      ...(after ? { continue: after } : {}),
    };
    const question = { ...asked('list', kind, namespace), path: pathOf(kind, namespace), query };
    const { body } = await ask(question, options);
    const { items, metadata } = jsonOf<RawList<T>>(body, question, await access());
    return { items: items ?? [], next: metadata?.continue || null, bytes: body.length };
  };

  const get: Cluster['get'] = (ref, options) =>
    askJson({ ...asked('get', ref.kind, ref.namespace, ref.name), path: pathOfObject(ref) }, options);

  const effect = async <T>(question: Omit<Question, 'query'>, { dryRun, ...options }: ChangeOptions) =>
    askJson<T>(
      { ...question, query: { ...(dryRun ? { dryRun: 'All' } : {}), fieldManager: 'sentry' } },
      options,
    );

  return {
    async page(kind, wanted, options) {
      const { items, next } = await weighedPage(kind, wanted, options);
      return { items: items as never, next };
    },
    get,
    async list<T extends KubernetesObject>(
      kind: ResourceKind,
      wanted: Parameters<Cluster['list']>[1],
      options: SessionOptions,
    ): Promise<Listed<T>> {
      for (let restarts = 0; ; restarts += 1) {
        try {
          return await allPages<T>((after, limit) =>
            weighedPage<T>(kind, { ...wanted, limit, after }, options),
          );
        } catch (error) {
          if (!(error instanceof OpsError && error.code === 'KUBERNETES_GONE') || restarts >= RESTARTS)
            throw error;
        }
      }
    },
    async version(options) {
      const { gitVersion } = await askJson<{ gitVersion: string }>(
        { verb: 'get', what: 'its version', path: '/version' },
        options,
      );
      return `Kubernetes ${gitVersion}`;
    },
    async identity(options) {
      // What tools and people take for the id of a cluster, as none has one of its own.
      const { metadata } = await get<KubernetesObject>({ kind: 'namespace', name: 'kube-system' }, options);
      return metadata.uid;
    },
    async log(namespace, pod, wanted, options) {
      for (let { tail } = wanted; ; tail = Math.ceil(tail / 4)) {
        const body = await logOf(ask, namespace, pod, { ...wanted, tail }, options);
        const isComplete = body.length < LOG_BYTES;
        // The server cuts off the newest lines of those it was asked for: fewer are asked for, until they all fit.
        if (!isComplete && tail > 1) continue;
        const lines = body.toString('utf8').split('\n');
        if (lines.at(-1) === '') lines.pop();
        return { lines, isComplete: isComplete && tail === wanted.tail };
      }
    },
    async may({ verb, group, resource: named, namespace }, options) {
      const [resource, subresource = ''] = named.split('/');
      const attributes = { verb, group, resource, subresource, ...(namespace === null ? {} : { namespace }) };
      const { status } = await askJson<{ readonly status?: { readonly allowed?: boolean } }>(
        {
          verb: 'create',
          what: 'what Sentry may do',
          path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
          body: { type: 'application/json', value: { spec: { resourceAttributes: attributes } } },
        },
        options,
      );
      return status?.allowed === true;
    },
    change: (ref, resourceVersion, values, options) =>
      effect(
        {
          ...asked('patch', ref.kind, ref.namespace, ref.name),
          path: pathOfObject(ref),
          body: {
            type: 'application/json-patch+json',
            value: [
              // Whoever sends a version with a change is answered with a conflict when it is another by then.
              { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
              ...Object.entries(values).map(([path, value]) => ({ op: 'add', path, value })),
            ],
          },
        },
        options,
      ),
    async remove(ref, { uid, resourceVersion }, { dryRun = false, ...options }) {
      // Of a deletion with a body, the server reads no option from the address: a dry run that is only said there deletes.
      const dry = dryRun ? { dryRun: ['All'] } : {};
      await askJson(
        {
          ...asked('delete', ref.kind, ref.namespace, ref.name),
          path: pathOfObject(ref),
          body: {
            type: 'application/json',
            value: {
              preconditions: { uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
              ...dry,
            },
          },
        },
        options,
      );
    },
  };
}

async function logOf(
  ask: (question: Question, options: SessionOptions) => Promise<Answer>,
  namespace: string,
  pod: string,
  { container, previous, tail, sinceSeconds }: PodLogOptions,
  options: SessionOptions,
): Promise<Buffer> {
  const query = {
    timestamps: 'true',
    tailLines: String(tail),
    limitBytes: String(LOG_BYTES),
    ...(container === undefined ? {} : { container }),
    ...(previous ? { previous: 'true' } : {}),
    ...(sinceSeconds === undefined ? {} : { sinceSeconds: String(sinceSeconds) }),
  };
  const path = `${pathOfObject({ kind: 'pod', namespace, name: pod })}/log`;
  const question = { ...asked('get', 'pod', namespace, pod, 'log'), path, query, mostBytes: 2 * LOG_BYTES };
  return (await ask(question, options)).body;
}

interface RawList<T> {
  readonly items?: readonly T[] | null;
  readonly metadata?: { readonly continue?: string };
}

type WeighedPage<T> = Page<T> & { readonly bytes: number };

/** Whoever may make objects may make them large: a page that weighs too much is asked for with fewer. */
async function allPages<T>(
  read: (after: string | undefined, limit: number) => Promise<WeighedPage<T>>,
): Promise<Listed<T>> {
  const items: T[] = [];
  let after: string | undefined;
  let limit = PAGE;
  let bytes = 0;
  do {
    const page = await read(after, limit).catch((error: unknown) => {
      if (!(error instanceof OpsError && error.code === 'KUBERNETES_TOO_LARGE') || limit === 1) throw error;
      limit = Math.ceil(limit / 5);
      return null;
    });
    if (page === null) continue;
    items.push(...page.items);
    bytes += page.bytes;
    after = page.next ?? undefined;
    if (after === undefined) break;
  } while (items.length < MOST_OBJECTS && bytes < LIST_BYTES);
  return {
    items: items.slice(0, MOST_OBJECTS),
    isComplete: after === undefined && items.length <= MOST_OBJECTS,
  };
}

function asked(
  verb: Right['verb'],
  kind: ResourceKind,
  namespace: string | undefined,
  name?: string,
  subresource?: string,
): Asked {
  const { group, plural } = resources[kind];
  const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
  const where = namespace === undefined ? '' : ` of ${namespace}`;
  return {
    verb,
    what: name === undefined ? `${resource}${where}` : `${subresource ?? kind} ${name}${where}`,
    right: { verb, group, resource, namespace: namespace ?? null },
  };
}

function pathOf(kind: ResourceKind, namespace: string | undefined): string {
  const { group, version, plural } = resources[kind];
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return `${root}${namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`}/${plural}`;
}

const pathOfObject = ({ kind, namespace, name }: ObjectRef): string =>
  `${pathOf(kind, namespace)}/${encodeURIComponent(name)}`;

/** Asks once; a read is asked again when the server says after which time. */
async function askServer(access: KubeConfig, question: Question, options: SessionOptions): Promise<Answer> {
  const limit = anySignal([options.signal, AbortSignal.timeout(options.timeoutMs)]);
  for (let waits = 0; ; waits += 1) {
    const answer = await send(access, question, limit).catch((error: unknown) => {
      throw error instanceof OpsError ? error : asAway(error, question, serverOf(access), limit);
    });
    if (answer.status < 300) return answer;
    const isRead = question.verb === 'get' || question.verb === 'list';
    const waitMs = Number(answer.retryAfter ?? Number.NaN) * 1_000;
    if (answer.status !== 429 || !isRead || waits >= WAITS || !(waitMs <= options.timeoutMs))
      throw faultOf(answer.status, answer.body.toString('utf8'), question);
    await sleep(waitMs, undefined, { signal: limit }).catch(() => {
      throw faultOf(answer.status, answer.body.toString('utf8'), question);
    });
  }
}

async function send(access: KubeConfig, question: Question, signal: AbortSignal): Promise<Answer> {
  const { verb, path, query = {}, body, mostBytes = MOST_BYTES } = question;
  signal.throwIfAborted();
  const url = new URL(`${serverOf(access).replace(/\/+$/, '')}${path}`);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const sent = body === undefined ? undefined : JSON.stringify(body.value);
  const options: RequestOptions = {
    method: METHODS[verb],
    headers: {
      accept: 'application/json, */*',
      'user-agent': 'sentry',
      ...(sent === undefined
        ? {}
        : { 'content-type': body?.type, 'content-length': Buffer.byteLength(sent) }),
    },
    signal,
  };
  await access.applyToHTTPSOptions(options);
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, options, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > mostBytes) request.destroy(tooLarge(question.what, mostBytes));
        else chunks.push(chunk);
      });
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          retryAfter: response.headers['retry-after'],
          body: Buffer.concat(chunks),
        }),
      );
    });
    request.on('error', reject);
    request.end(sent);
  });
}

const tooLarge = (what: string, most: number): OpsError =>
  new OpsError('KUBERNETES_TOO_LARGE', `The answer about ${what} is larger than ${most} bytes.`, {
    hint: 'Ask for less: one namespace, one object.',
  });

const serverOf = (access: KubeConfig): string => access.getCurrentCluster()?.server ?? '';

function jsonOf<T>(body: Buffer, question: Question, access: KubeConfig): T {
  try {
    return JSON.parse(body.toString('utf8')) as T;
  } catch (error) {
    throw asAway(error, question, serverOf(access), undefined);
  }
}
