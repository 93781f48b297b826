import type Docker from 'dockerode';
import type { SessionOptions } from '../../tools/ports.ts';

/** `none`: the image and the container declare no check. */
export type Health = 'none' | 'starting' | 'healthy' | 'unhealthy';

export type Labels = Readonly<Record<string, string>>;

/** A container as the engine describes it at one moment. */
export interface Container {
  /** The whole id: 64 hexadecimal digits. */
  readonly id: string;
  readonly name: string;
  readonly image: string;
  /** `sha256:…` of the image it was made from, whatever its tag means by now. */
  readonly imageId: string;
  /** The engine's word: `created`, `running`, `paused`, `restarting`, `removing`, `exited`, `dead`. */
  readonly state: string;
  readonly health: Health;
  /** Of its last end; null before the first, and while it runs. */
  readonly exitCode: number | null;
  readonly oomKilled: boolean;
  /** Why the engine could not start it; empty when it could. */
  readonly error: string;
  /** How often its restart policy has started it again. */
  readonly restarts: number;
  /** `no`, `always`, `unless-stopped`, `on-failure:3`. */
  readonly restartPolicy: string;
  readonly createdAt: string;
  /** ISO 8601; null when it has never been started. */
  readonly startedAt: string | null;
  /** ISO 8601; null when it has never ended. */
  readonly finishedAt: string | null;
  /** Since it started; null unless it runs. By the engine's clock. */
  readonly upSeconds: number | null;
  /** Since it ended; null while it runs, and before its first end. */
  readonly downSeconds: number | null;
  readonly labels: Labels;
  /** Bytes; null without a limit. */
  readonly memoryLimit: number | null;
  /** CPUs; null without a limit. */
  readonly cpuLimit: number | null;
  /** All the engine says of it. */
  readonly raw: Docker.ContainerInspectInfo;
}

/** Whether a line came from standard output or standard error; a terminal mixes them. */
export type LogStream = 'stdout' | 'stderr';

export interface LogLine {
  readonly stream: LogStream;
  /** As the engine wrote it: RFC 3339; Podman tells whole seconds. */
  readonly at: string;
  readonly text: string;
}

export interface LogOptions {
  /** So many of the newest lines. */
  readonly tail: number;
  /** Seconds before now. */
  readonly sinceSeconds?: number;
  readonly untilSeconds?: number;
}

export interface EngineEvent {
  /** ISO 8601. */
  readonly at: string;
  /** `container`, `image`, `network`, `volume`. */
  readonly type: string;
  /** `die`, `oom`, `health_status: unhealthy`. */
  readonly action: string;
  /** The name of what it happened to, or its id. */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** One reading of what a container uses: counters since its start. */
export interface Usage {
  /** ISO 8601, by the engine's clock. */
  readonly at: string;
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
  /** Null without a limit. */
  readonly memoryLimit: number | null;
  readonly processes: number | null;
  readonly receivedBytes: number;
  readonly sentBytes: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
}

/** What a list of containers came to: whoever looks for one, or for nobody, must know what was not looked at. */
export interface ListedContainers {
  readonly found: readonly Container[];
  /** Ids of those whose description is too large, or none. */
  readonly unread: readonly string[];
  /** How many there are beyond those that are looked at. */
  readonly beyond: number;
}

/**
 * A container engine as tools see it. Everything throws OpsError: `ENGINE_NOT_FOUND` for a name that is not there,
 * `ENGINE_NOT_IN_CARE` for a container that its target leaves out, `ENGINE_AWAY`
 * when the engine does not answer, `ENGINE_DENIED` when it may not be asked, `ENGINE_<status>` for what it refuses.
 */
export interface Engine {
  /** Whether it says of a container that ran out of memory that it did. */
  readonly tellsOom: boolean;
  /** `Docker 20.10.24`, `Podman 4.3.1`. */
  version(options: SessionOptions): Promise<string>;
  /** Its clock, ms since 1970. */
  now(options: SessionOptions): Promise<number>;
  /** What stays the engine's own for as long as its containers do. */
  identity(options: SessionOptions): Promise<string>;
  /** The 500 that were created last, running or not, by name. */
  containers(options: SessionOptions): Promise<ListedContainers>;
  /** By name or id. */
  container(name: string, options: SessionOptions): Promise<Container>;
  /** Oldest first. Of a line beyond 2,000 characters its beginning, and how much there was. */
  logs(container: Container, wanted: LogOptions, options: SessionOptions): Promise<readonly LogLine[]>;
  usage(container: Container, options: SessionOptions): Promise<Usage>;
  /** Columns and rows as `ps` has them in that container. */
  processes(
    container: Container,
    options: SessionOptions,
  ): Promise<{ readonly titles: readonly string[]; readonly rows: readonly (readonly string[])[] }>;
  /** Of the last `seconds`, oldest first; an engine keeps some hundreds. */
  events(seconds: number, options: SessionOptions): Promise<readonly EngineEvent[]>;
  /** Its events from a moment on (ms since 1970), and then each as it happens; ends when the connection does. */
  follow(since: number, signal: AbortSignal): AsyncIterable<EngineEvent>;
  /** `GET` of its API; `what`: for people, what is asked about. What stands in `path` has been checked. */
  get<T>(path: string, what: string, options: SessionOptions): Promise<T>;
  /** `POST` of its API, which has an effect; `given`: its query, or its body as JSON. */
  post<T>(
    path: string,
    what: string,
    options: SessionOptions,
    given?: { readonly query: object } | { readonly body: object },
  ): Promise<T>;
  /** `DELETE` of its API. */
  remove<T>(path: string, what: string, options: SessionOptions): Promise<T>;
}
