import { OpsError } from '../../../core/errors.ts';
import type { SessionOptions } from '../../../tools/ports.ts';
import type { Connection, TargetIdentity } from '../../kind.ts';
import type { PostgresConfig } from '../config.ts';
import type { PostgresSession, PostgresSystem } from '../system.ts';
import { isConnectionLoss } from './postgres-fault.ts';
import {
  createSerialConnection,
  type SerialConnection,
  type SerialConnectionOptions,
} from './serial-connection.ts';

interface Connections {
  readonly config: PostgresConfig;
  readonly read: SerialConnection;
  readonly extra: readonly SerialConnection[];
  /** One at a time: a server in need has few slots left. */
  readonly alone: SerialConnection;
  readonly act: SerialConnection | null;
}

/** Beside the reserved connection, when the server has slots: parallel tools need not wait for each other. */
const extraConnections = 2;

/**
 * Opens (in the background) one reserved reading and one reserved acting connection and keeps them, so that tools answer
 * when every slot of the server is taken. An unreachable server is tried again for as long as it lives.
 */
export function connectPostgres(config: PostgresConfig): Connection<PostgresSystem> {
  const connections = openConnections(config);
  const { read, extra, alone, act } = connections;
  return {
    system: {
      read: (use, options) => readWithFallback(connections, use, options),
      readAlone: (use, options) => alone.use(use, options),
      act: async (use, options) => actConnection(connections).use(use, options),
    },
    // Another timeline means that a failover happened.
    identity: () =>
      (act ?? read).use(readIdentity, { timeoutMs: 5_000, signal: new AbortController().signal }),
    async close() {
      await Promise.all(
        [read, ...extra, alone, ...(act ? [act] : [])].map((connection) => connection.close()),
      );
    },
  };
}

function openConnections(config: PostgresConfig): Connections {
  const reading = readingOf(config);
  const actPlace = { target: config.name, credential: 'act' } as const;
  const ownRoles = ownRolesOf(config);
  return {
    config,
    read: openReserved(createSerialConnection({ ...reading, reserved: true })),
    extra: Array.from({ length: extraConnections }, () =>
      createSerialConnection({ ...reading, reserved: false }),
    ),
    alone: createSerialConnection({ ...reading, reserved: false, singleUse: true }),
    act:
      config.actUrl === null
        ? null
        : openReserved(
            createSerialConnection({
              url: config.actUrl,
              place: actPlace,
              readOnly: false,
              reserved: true,
              ownRoles,
            }),
          ),
  };
}

function readingOf(config: PostgresConfig): Omit<SerialConnectionOptions, 'reserved'> {
  const place = { target: config.name, credential: 'read' } as const;
  return { url: config.readUrl, place, readOnly: true, ownRoles: ownRolesOf(config) };
}

function ownRolesOf({ readUrl, actUrl }: PostgresConfig): readonly string[] {
  const urls = actUrl === null ? [readUrl] : [readUrl, actUrl];
  return [...new Set(urls.map((url) => decodeURIComponent(new URL(url).username)))].filter(Boolean);
}

function openReserved(connection: SerialConnection): SerialConnection {
  connection.open();
  return connection;
}

function actConnection({ act, config }: Connections): SerialConnection {
  if (act !== null) return act;
  throw new OpsError('POSTGRES_NO_ACTING_ROLE', `target "${config.name}" has no acting credential`, {
    hint: 'Set act_url_env or act_url_file for it in sentry.yaml to let Sentry propose changes there.',
  });
}

/** The reserved connection when it is free; else another, when the server lets us have one; else the reserved in turn. */
async function readWithFallback<T>(
  { read, extra }: Connections,
  use: (session: PostgresSession) => Promise<T>,
  options: SessionOptions,
): Promise<T> {
  const free = read.busy() ? extra.find((connection) => !connection.busy()) : undefined;
  if (free === undefined) return read.use(use, options);
  let opened = false;
  try {
    return await free.use(use, options, () => {
      opened = true;
    });
  } catch (error) {
    if (opened || !(error instanceof OpsError) || !noSlot(error.code)) throw error;
    return read.use(use, options);
  }
}

/** 53300: the server's slots; 42501-like limits of the role arrive as 53300 too. */
function noSlot(code: string): boolean {
  return code === 'POSTGRES_53300' || isConnectionLoss(code);
}

async function readIdentity(session: PostgresSession): Promise<TargetIdentity> {
  // pg_control_checkpoint() learns of a promotion only at the next checkpoint; the WAL file's name knows at once.
  const [row] = await session.query(`
    SELECT (SELECT system_identifier::text FROM pg_control_system()) AS system_identifier,
           CASE WHEN pg_is_in_recovery() THEN (SELECT timeline_id FROM pg_control_checkpoint())
                ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int END AS timeline_id`);
  return { systemIdentifier: String(row?.['system_identifier']), timelineId: Number(row?.['timeline_id']) };
}
