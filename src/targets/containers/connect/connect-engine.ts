import type { Readable } from 'node:stream';
import type Docker from 'dockerode';
import { anySignal } from '../../../core/any-signal.ts';
import { messageOf, OpsError } from '../../../core/errors.ts';
import { jsonOf } from '../../../core/json-of.ts';
import { readUpTo } from '../../../core/read-up-to.ts';
import type { SessionOptions } from '../../../tools/ports.ts';
import { oneLine } from '../../format.ts';
import type { Container, Engine, EngineEvent, Labels, LogLine, LogOptions, Usage } from '../engine.ts';
import { askEngine, type EngineAddress, type EngineQuestion, EngineRefusal } from './ask-engine.ts';
import { toContainer } from './container.ts';
import { LogReader } from './log-reader.ts';

/** What engines of the same API differ in. */
export interface EngineWays {
  /** See `Engine.identity`. */
  identify(engine: Pick<Engine, 'get'>, options: SessionOptions): Promise<string>;
  /** Whether it can be asked for the newest lines of a log; else all are read, and the newest kept. */
  readonly tailsWell: boolean;
  /** See `Engine.tellsOom`. */
  readonly tellsOom: boolean;
}

interface EngineOptions extends EngineWays {
  /** The labels of the containers under care; the others are as if out of reach. Empty: all of them are. */
  readonly only: Labels;
}

/** What one answer may weigh: whoever runs a container writes its labels, its environment and its events. */
const MOST_BYTES = 16 * 1024 * 1024;
/** Of each container's where all are held at once. */
const MOST_LISTED = 512 * 1024;
/** Of an event, which holds all labels of its container: one with more is left out. */
const EVENT_CHARS = 1024 * 1024;
/** What is kept of what an event holds, and of each value: whoever runs a container writes its labels. */
const KEPT = ['name', 'image', 'exitCode', 'containerExitCode', 'signal', 'com.docker.compose.service'];
const KEPT_CHARS = 1_000;
/** What Docker writes the labels of the container over; the event that it belongs to, and all names of it. */
const OVERWRITTEN = [
  { label: 'exitCode', saidBy: 'die', names: ['exitCode', 'containerExitCode'] },
  { label: 'signal', saidBy: 'kill', names: ['signal'] },
];
/** The newest are kept; an engine itself keeps some hundreds. */
const MOST_EVENTS = 10_000;
/** For how long an engine's clock is reckoned on from what it said: it may be set. */
const TOLD_MS = 60_000;
const DOUBT_MS = 10_000;
/** Looked at in one go, so that hundreds of containers are not hundreds of requests at once. */
const AT_ONCE = 8;
const MOST_CONTAINERS = 500;

/** A connection to an engine; nothing is sent before the first question. */
export function connectEngine(
  address: EngineAddress,
  { identify, tailsWell, tellsOom, only }: EngineOptions,
): Engine {
  const where = address.socket ?? `${address.host}:${address.port}`;
  const api: Api = (question, signal) => askEngine(address, question, signal);
  const ask: Ask = (what, question, options) => within(where, what, question, options);
  const read = async <T>(
    path: string,
    query: object,
    what: string,
    options: SessionOptions,
    most = MOST_BYTES,
  ): Promise<T> =>
    ask(
      what,
      async (signal) =>
        parsed<T>(await wholeOf(await api({ method: 'GET', path, query }, signal), what, most), where),
      options,
    );
  const get: Engine['get'] = (path, what, options) => read(path, {}, what, options);
  /** What it answers to a change may be nothing. */
  const change = async <T>(question: EngineQuestion, what: string, options: SessionOptions): Promise<T> =>
    ask(
      what,
      async (signal) => {
        const text = await wholeOf(await api(question, signal), what);
        return (text.trim() === '' ? null : parsed(text, where)) as never;
      },
      options,
    );
  const clock = createClock(get);

  const care = Object.entries(only);
  const isUnderCare = (labels: Labels) => care.every(([label, value]) => labels[label] === value);
  // Those of a container carry its labels.
  const isOurs = ({ type, attributes }: EngineEvent) => type !== 'container' || isUnderCare(attributes);
  const careLabels = care.map((label) => label.join('='));
  const kept = [...KEPT, ...Object.keys(only)];
  const idsWith = async (labels: readonly string[], options: SessionOptions): Promise<readonly string[]> => {
    const query = { all: true, filters: { label: labels } };
    const listed = await read<readonly { readonly Id: string }[]>(
      '/containers/json',
      query,
      'its containers',
      options,
    );
    return understood(() => listed.map(({ Id }) => String(Id)), where);
  };

  async function inspect(name: string, options: SessionOptions, most = MOST_BYTES): Promise<Container> {
    const path = `/containers/${encodeURIComponent(name)}/json`;
    const raw = await read<Docker.ContainerInspectInfo>(path, {}, `container ${name}`, options, most);
    const now = await clock(options);
    const container = understood(() => toContainer(raw, now), where);
    if (isUnderCare(container.labels)) return container;
    throw new OpsError('ENGINE_NOT_IN_CARE', `${name} is not one of the containers under care.`, {
      hint: `sentry.yaml says which are: only those with ${careLabels.join(', ')}.`,
    });
  }

  return {
    tellsOom,
    get,
    post: (path, what, options, given = { query: {} }) =>
      change({ method: 'POST', path, ...given }, what, options),
    remove: (path, what, options) => change({ method: 'DELETE', path }, what, options),
    version: async (options) => {
      const version = await get<Docker.DockerVersion>('/version', 'its version', options);
      const [engine] = version.Components ?? [];
      return `${engine?.Name.replace(/ Engine$/, '') === 'Podman' ? 'Podman' : 'Docker'} ${version.Version}`;
    },
    identity: (options) => identify({ get }, options),
    container: (name, options) => inspect(name, options),
    async containers(options) {
      const ids = await idsWith(careLabels, options);
      const found: Container[] = [];
      const unread: string[] = [];
      let fault: unknown;
      const lookAt = async (id: string): Promise<void> => {
        try {
          found.push(await inspect(id, options, MOST_LISTED));
        } catch (error) {
          // It ended, and was removed, between the list and the look.
          if (error instanceof OpsError && /^ENGINE_NOT_(?:FOUND|IN_CARE)$/.test(error.code)) return;
          if (!isItsOwnFault(error)) throw error;
          unread.push(id.slice(0, 12));
          fault = error;
        }
      };
      for (let at = 0; at < Math.min(ids.length, MOST_CONTAINERS); at += AT_ONCE)
        await Promise.all(ids.slice(at, Math.min(at + AT_ONCE, MOST_CONTAINERS)).map(lookAt));
      // Where none can be read, it is the engine that is ill.
      if (found.length === 0 && fault !== undefined) throw fault;
      return {
        found: found.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
        unread: unread.toSorted(),
        beyond: Math.max(0, ids.length - MOST_CONTAINERS),
      };
    },
    logs: (container, wanted, options) => logsOf(api, ask, container, wanted, tailsWell, options),
    async usage(container, options) {
      // Docker's own rate takes two seconds; two readings of ours are one rate, on either engine.
      const query = { stream: false, 'one-shot': true };
      const path = `/containers/${container.id}/stats`;
      const stats = await read<Docker.ContainerStats>(path, query, `what ${container.name} uses`, options);
      return understood(() => toUsage(stats, container), where);
    },
    async processes({ id, name }, options) {
      const { Titles: titles, Processes: rows } = await read<{
        readonly Titles: readonly string[] | null;
        readonly Processes: readonly (readonly string[])[] | null;
      }>(`/containers/${id}/top`, { stream: false }, `the processes of ${name}`, options);
      return { titles: titles ?? [], rows: rows ?? [] };
    },
    async events(seconds, options) {
      const all = await eventsOf(api, ask, clock, seconds, kept, options);
      const believed = await createDoubt(idsWith, options);
      return all.map(believed).filter(isOurs);
    },
    now: clock,
    async *follow(since, signal) {
      try {
        const query = { since: (since / 1_000).toFixed(3) };
        const answer = await api({ method: 'GET', path: '/events', query }, signal);
        const believed = await createDoubt(idsWith, { signal, timeoutMs: DOUBT_MS });
        for await (const line of linesOf(answer)) {
          const event = eventIn(line, kept);
          const said = event && believed(event);
          if (said && isOurs(said)) yield said;
        }
      } catch (error) {
        if (!signal.aborted) throw asOpsError(error, where, 'its events', signal);
      }
    },
  };
}

type Ask = <T>(
  what: string,
  question: (signal: AbortSignal) => Promise<T>,
  options: SessionOptions,
) => Promise<T>;

type Api = (question: EngineQuestion, signal: AbortSignal) => Promise<Readable>;

/** Whether only this one container cannot be read: whoever made it wrote what is wrong with it, and it hides no other. */
const isItsOwnFault = (error: unknown): boolean =>
  error instanceof OpsError && /^ENGINE_(?:TOO_LARGE|NO_API|5\d\d)$/.test(error.code);

/** An answer that is not as the API says. */
function understood<T>(read: () => T, where: string): T {
  try {
    return read();
  } catch (error) {
    throw noApi(where, error);
  }
}

/** Gives a question the caller's time, and its errors their codes. */
async function within<T>(
  where: string,
  what: string,
  question: (signal: AbortSignal) => Promise<T>,
  { signal, timeoutMs }: SessionOptions,
): Promise<T> {
  const limit = anySignal([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    limit.throwIfAborted();
    // The client tells of the abort by an error of its own, or only when the engine has answered.
    return await Promise.race([question(limit), aborted(limit)]);
  } catch (error) {
    throw asOpsError(error, where, what, limit);
  }
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

function asOpsError(error: unknown, where: string, what: string, signal: AbortSignal): OpsError {
  if (error instanceof OpsError) return error;
  const status = error instanceof EngineRefusal ? error.status : undefined;
  const { code } = error as { readonly code?: string };
  // Its words may quote the command or the label of whoever made a container.
  const said = oneLine(messageOf(error), 400);
  if (status === 404)
    return new OpsError('ENGINE_NOT_FOUND', `${what}: ${said}`, {
      hint: 'List what is there.',
      cause: error,
    });
  if (code === 'EACCES' || code === 'EPERM' || status === 401 || status === 403)
    return new OpsError('ENGINE_DENIED', `${where} may not be asked: ${said}`, {
      hint: 'Give the account that Sentry runs under the right to this socket, as a member of its group.',
      cause: error,
    });
  if (status !== undefined)
    return new OpsError(`ENGINE_${status}`, `The engine refused ${what}: ${said}`, {
      hint: 'Its own log says more.',
      retryable: status >= 500,
      cause: error,
    });
  return new OpsError(
    'ENGINE_AWAY',
    signal.aborted
      ? `The engine at ${where} did not answer about ${what} in time.`
      : `The engine at ${where} does not answer: ${said}`,
    { hint: 'Look whether it runs, and whether its socket is there.', retryable: true, cause: error },
  );
}

/** The engine's clock, in ms, from an answer that told it lately: ages are its own, wherever Sentry runs. */
function createClock(get: Engine['get']): (options: SessionOptions) => Promise<number> {
  let told: { readonly now: number; readonly at: number } | undefined;
  return async (options) => {
    if (told === undefined || performance.now() - told.at > TOLD_MS) {
      // A proxy before the engine may refuse this question and answer the others.
      const info = await get<{ readonly SystemTime?: string }>('/info', 'its clock', options).catch(
        () => null,
      );
      if (info === null) return Date.now();
      told = { now: info.SystemTime ? Date.parse(info.SystemTime) : Date.now(), at: performance.now() };
    }
    return told.now + performance.now() - told.at;
  };
}

async function logsOf(
  api: Api,
  ask: Ask,
  { id, name, raw }: Container,
  { tail, sinceSeconds, untilSeconds }: LogOptions,
  tailsWell: boolean,
  options: SessionOptions,
): Promise<readonly LogLine[]> {
  const at = (seconds: number) => Math.floor(Date.now() / 1_000 - seconds);
  const query = {
    stdout: true,
    stderr: true,
    timestamps: true,
    // Podman 4 counts the pieces of a long line as lines, and puts them together with others.
    ...(tailsWell ? { tail } : {}),
    ...(sinceSeconds === undefined ? {} : { since: at(sinceSeconds) }),
    ...(untilSeconds === undefined ? {} : { until: at(untilSeconds) }),
  };
  const reader = new LogReader(raw.Config.Tty, tail);
  return ask(
    `the log of ${name}`,
    async (signal) => {
      for await (const chunk of await api({ method: 'GET', path: `/containers/${id}/logs`, query }, signal))
        reader.push(chunk);
      return reader.lines();
    },
    options,
  );
}

function parsed<T>(text: string, where: string): T {
  const value = jsonOf(text);
  if (value !== undefined) return value as T;
  throw noApi(where, undefined);
}

const noApi = (where: string, cause: unknown): OpsError =>
  new OpsError('ENGINE_NO_API', `What answers at ${where} is not the API of an engine.`, {
    hint: 'Check the address of the target in sentry.yaml.',
    cause,
  });

async function wholeOf(answer: Readable, what: string, most = MOST_BYTES): Promise<string> {
  const read = await readUpTo(answer, most);
  if (read !== null) return read.toString('utf8');
  const says = `${what}: the answer has more than ${most / 1024 / 1024} MiB.`;
  throw new OpsError('ENGINE_TOO_LARGE', says, { hint: 'Look at it on the machine itself.' });
}

/** As they come, without those of more than `EVENT_CHARS`; throws when the connection breaks. */
async function* linesOf(answer: Readable): AsyncIterable<string> {
  let rest = '';
  let isCut = false;
  for await (const chunk of answer.setEncoding('utf8') as AsyncIterable<string>) {
    for (const part of chunk.split(/(?<=\n)/)) {
      isCut ||= rest.length + part.length > EVENT_CHARS;
      rest = isCut ? '' : rest + part;
      if (!part.endsWith('\n')) continue;
      if (rest.trim() !== '') yield rest;
      rest = '';
      isCut = false;
    }
  }
}

async function eventsOf(
  api: Api,
  ask: Ask,
  clock: (options: SessionOptions) => Promise<number>,
  seconds: number,
  kept: readonly string[],
  options: SessionOptions,
): Promise<readonly EngineEvent[]> {
  return ask(
    'its events',
    async (signal) => {
      const now = Math.floor((await clock(options)) / 1_000);
      // Without an end Docker goes on telling; Podman leaves out the second of the end, and with it all before.
      const query = { since: now - seconds, until: now + 1, stream: false };
      const events: EngineEvent[] = [];
      for await (const line of linesOf(await api({ method: 'GET', path: '/events', query }, signal))) {
        const event = eventIn(line, kept);
        if (event) events.push(event);
        if (events.length > MOST_EVENTS) events.shift();
      }
      return events.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
    },
    options,
  );
}

/** https://docs.docker.com/reference/api/engine/version/v1.41/#tag/System/operation/SystemEvents */
interface RawEvent {
  readonly Type: string;
  readonly Action: string;
  readonly Actor: { readonly ID: string; readonly Attributes?: Readonly<Record<string, string>> };
  readonly time: number;
  readonly timeNano?: number;
  /** Podman's, where Docker writes it into the action. */
  readonly HealthStatus?: string;
}

/** Null for what is none: it must not hide those around it, nor hold up whoever follows them. */
function eventIn(line: string, kept: readonly string[]): EngineEvent | null {
  try {
    return toEvent(JSON.parse(line), kept);
  } catch {
    return null;
  }
}

function toEvent(raw: RawEvent, kept: readonly string[]): EngineEvent {
  const { Type: type, Actor: actor, time, timeNano, HealthStatus: health } = raw;
  const id = String(actor.ID);
  const at = new Date(timeNano ? timeNano / 1e6 : time * 1_000).toISOString();
  const action = health === undefined ? String(raw.Action) : `${raw.Action}: ${health}`;
  const given = actor.Attributes ?? {};
  const attributes = Object.fromEntries(
    kept.flatMap((key) =>
      Object.hasOwn(given, key) ? [[key, String(given[key]).slice(0, KEPT_CHARS)]] : [],
    ),
  );
  return {
    at,
    type: String(type),
    action,
    name: attributes['name'] ?? id,
    attributes: { ...attributes, id },
  };
}

/**
 * Leaves out of events what may be a label instead of the engine's word: a container with a label `exitCode` would hide that it
 * failed. Which have such labels the engine says, and of later ones their own beginning, which tells neither code nor signal.
 */
async function createDoubt(
  idsWith: (labels: readonly string[], options: SessionOptions) => Promise<readonly string[]>,
  options: SessionOptions,
): Promise<(event: EngineEvent) => EngineEvent> {
  const doubts = await Promise.all(
    OVERWRITTEN.map(async (one) => ({ ...one, ids: new Set(await idsWith([one.label], options)) })),
  );
  return (event) => {
    if (event.type !== 'container') return event;
    const { action, attributes } = event;
    const id = attributes['id'] ?? '';
    const untold = doubts.flatMap(({ label, saidBy, names, ids }) => {
      if (/^(?:create|start)$/.test(action) && attributes[label] !== undefined) ids.add(id);
      if (/^(?:destroy|remove)$/.test(action)) ids.delete(id);
      return action !== saidBy || ids.has(id) ? names : [];
    });
    const left = Object.entries(attributes).filter(([key]) => !untold.includes(key));
    return { ...event, attributes: Object.fromEntries(left) };
  };
}

/** cgroup v1 counts the page cache as used, and tells how much it is; the engine's own command line leaves it out as well. */
function toUsage(stats: Docker.ContainerStats, container: Container): Usage {
  const { cpu_stats: cpu, memory_stats: memory, pids_stats: pids } = stats;
  const cache = memory.stats?.total_inactive_file ?? memory.stats?.inactive_file ?? 0;
  const networks = Object.values(stats.networks ?? {});
  const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0);
  const blocks = stats.blkio_stats?.io_service_bytes_recursive ?? [];
  const moved = (op: string) =>
    sum(blocks.filter((each) => each.op.toLowerCase() === op).map(({ value }) => value));
  return {
    at: stats.read,
    cpuSeconds: cpu.cpu_usage.total_usage / 1e9,
    memoryBytes: Math.max(0, (memory.usage ?? 0) - cache),
    memoryLimit: container.memoryLimit,
    processes: pids?.current ?? null,
    receivedBytes: sum(networks.map(({ rx_bytes: count }) => count)),
    sentBytes: sum(networks.map(({ tx_bytes: count }) => count)),
    readBytes: moved('read'),
    writtenBytes: moved('write'),
  };
}
