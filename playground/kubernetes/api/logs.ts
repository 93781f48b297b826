import type { ServerResponse } from 'node:http';
import type { Pod } from '../objects.ts';
import { badRequest } from '../registry/api-error.ts';

interface LogLine {
  readonly at: number;
  readonly text: string;
}

/** What one start of a container has written; a follower is told of more until it has ended. */
interface Run {
  readonly lines: LogLine[];
  readonly followers: Set<(line: LogLine | null) => void>;
}

/** A kubelet keeps the log of the running container and of the one before it. */
const KEPT_RUNS = 2;

/** The logs of all containers, by pod and start. */
export class LogBook {
  readonly #runs = new Map<string, Run[]>();

  /** The container starts anew; what it wrote before is the previous log from now on. */
  begin(uid: string, container: string): void {
    const runs = this.#of(uid, container);
    runs.push({ lines: [], followers: new Set() });
    runs.splice(0, runs.length - KEPT_RUNS);
  }

  append(uid: string, container: string, text: string, at: number = Date.now()): void {
    if (this.#of(uid, container).length === 0) this.begin(uid, container);
    const run = this.#of(uid, container).at(-1);
    const line = { at, text };
    run?.lines.push(line);
    for (const tell of run?.followers ?? []) tell(line);
  }

  /** The container has ended: nobody needs to wait for more. */
  end(uid: string, container: string): void {
    for (const tell of this.#of(uid, container).at(-1)?.followers ?? []) tell(null);
  }

  /** The pod is gone, and its logs with it. */
  forget(uid: string): void {
    for (const key of this.#runs.keys()) if (key.startsWith(`${uid}/`)) this.#runs.delete(key);
  }

  run(uid: string, container: string, previous: boolean): Run | undefined {
    return this.#of(uid, container).at(previous ? -2 : -1);
  }

  #of(uid: string, container: string): Run[] {
    const key = `${uid}/${container}`;
    const runs = this.#runs.get(key) ?? [];
    this.#runs.set(key, runs);
    return runs;
  }
}

/** Answers `GET …/pods/NAME/log`. */
export function sendLog(book: LogBook, pod: Pod, query: URLSearchParams, response: ServerResponse): void {
  const container = containerOf(pod, query.get('container'));
  const previous = query.get('previous') === 'true';
  const status = statusOf(pod, container);
  if (!previous) checkStarted(pod, container);
  else if (status?.lastState?.terminated === undefined) {
    throw badRequest(`previous terminated container "${container}" in pod "${pod.metadata.name}" not found`);
  }
  const isRunning = status === undefined || status.state?.running !== undefined;
  // Of a container that waits to be started again, the run that ended is both its log and its previous one.
  const run = book.run(pod.metadata.uid, container, previous && isRunning);
  response.writeHead(200, { 'content-type': 'text/plain' });
  const withTimes = query.get('timestamps') === 'true';
  const render = ({ at, text }: LogLine) =>
    withTimes ? `${new Date(at).toISOString().replace('Z', '000000Z')} ${text}\n` : `${text}\n`;
  response.write(
    clip(
      selectLines(run?.lines ?? [], query)
        .map(render)
        .join(''),
      query.get('limitBytes'),
    ),
  );
  if (query.get('follow') !== 'true' || run === undefined || previous || !isRunning) {
    response.end();
    return;
  }
  const tell = (line: LogLine | null) => (line === null ? response.end() : response.write(render(line)));
  run.followers.add(tell);
  response.flushHeaders();
  response.once('close', () => run.followers.delete(tell));
}

function containerOf(pod: Pod, asked: string | null): string {
  const names = [...(pod.spec.initContainers ?? []), ...pod.spec.containers].map(({ name }) => name);
  if (asked !== null && asked !== '') {
    if (names.includes(asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${pod.metadata.name}`);
  }
  const [only, ...others] = pod.spec.containers.map(({ name }) => name);
  if (only !== undefined && others.length === 0 && names.length === 1) return only;
  const choice =
    others.length === 0 && only !== undefined
      ? only
      : pod.metadata.annotations?.['kubectl.kubernetes.io/default-container'];
  if (choice !== undefined) return choice;
  throw badRequest(
    `a container name must be specified for pod ${pod.metadata.name}, choose one of: [${names.join(' ')}]`,
  );
}

const statusOf = ({ status }: Pod, container: string) =>
  [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])].find(
    ({ name }) => name === container,
  );

/** A container that never ran has no log, and the kubelet says why. */
function checkStarted(pod: Pod, container: string): void {
  const { name } = pod.metadata;
  if (pod.spec.nodeName === undefined) throw badRequest(`pod ${name} does not have a host assigned`);
  const status = statusOf(pod, container);
  const waiting = status?.state?.waiting;
  if (waiting === undefined || status?.lastState?.terminated !== undefined) return;
  const why: Readonly<Record<string, string>> = {
    ErrImagePull: "image can't be pulled",
    ImagePullBackOff: 'trying and failing to pull image',
  };
  const reason = waiting.reason ?? 'ContainerCreating';
  throw badRequest(`container "${container}" in pod "${name}" is waiting to start: ${why[reason] ?? reason}`);
}

function selectLines(lines: readonly LogLine[], query: URLSearchParams): readonly LogLine[] {
  const seconds = query.get('sinceSeconds');
  const time = query.get('sinceTime');
  const from = seconds !== null ? Date.now() - Number(seconds) * 1000 : time === null ? 0 : Date.parse(time);
  const recent = lines.filter(({ at }) => at >= from);
  const tail = query.get('tailLines');
  return tail === null ? recent : recent.slice(Math.max(0, recent.length - Number(tail)));
}

/** The first bytes, as the kubelet cuts: even within a character. */
const clip = (text: string, limit: string | null): Buffer =>
  limit === null ? Buffer.from(text) : Buffer.from(text).subarray(0, Number(limit));
