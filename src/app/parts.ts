import type { Settings } from '../actions/policy/workspace-settings.ts';
import type { Config } from '../config/config.ts';
import type { Log } from '../core/log.ts';
import type { ListeningSocket } from '../http/server.ts';
import type { SlackConnection } from '../slack/ports.ts';
import type { TargetConfig, TargetKind } from '../targets/kind.ts';
import type { Store } from './store.ts';

/** What the parts are made from: the configuration with the embedded parts' addresses filled in. */
export interface Parts {
  readonly config: Config;
  readonly store: Store;
  readonly chromaHost: string;
  readonly slack: SlackConnection;
  /** Where the playground's page and controls listen; empty: there is no playground. */
  readonly playgroundPorts: readonly number[];
  /** The kinds of system it knows. */
  readonly kinds: readonly TargetKind[];
  readonly targets: readonly TargetConfig[];
  /** What the environment says of who decides and where, or the playground. */
  readonly fixed: Settings;
  /** To take requests from; absent or null: a new one, at the configured address. */
  readonly socket?: ListeningSocket | null;
  /** Told once it listens. */
  readonly keepSocket?: (socket: ListeningSocket) => void;
  readonly log: Log;
}
