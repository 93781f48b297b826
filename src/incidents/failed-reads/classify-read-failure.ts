import { dirname } from 'node:path';
import { isWhole } from '../../actions/checks/may-read-again.ts';
import { isEvidenceToolName, isMemoryToolName, type Json, type ToolCall } from '../../core/tool-call.ts';
import type { UnreadCall } from '../../core/unread.ts';
import { mayBeRoot } from '../../safety/paths/root-folder.ts';
import { isSecretFile } from '../../safety/paths/secret-files.ts';

/** What is missing where a read has to be allowed first. */
export type Missing =
  | { readonly kind: 'privilege'; readonly privilege: 'pg_monitor' | 'pg_read_all_data' }
  | { readonly kind: 'statistics' }
  | { readonly kind: 'login' }
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'service'; readonly service: string }
  | { readonly kind: 'docs_host'; readonly host: string };

export type ReadFailure = Pick<UnreadCall, 'reason'> &
  ({ readonly way: 'run' } | { readonly way: 'grant'; readonly missing: Missing });

const MAX_REASON = 300;

/**
 * Why a call showed nothing or only a part, where a person can do something about that; null where it showed all, and where
 * nothing is to be lifted: what the rules of the house refuse (secret files, other incidents' targets, actions) stays refused.
 */
export function classifyReadFailure(call: ToolCall): ReadFailure | null {
  // Questions of people are answered with triage's rights: what they name must not come to stand on a card of ours.
  if (call.role !== 'detective' || !isWhole(call.input)) return null;
  if (isMemoryToolName(call.tool) || isEvidenceToolName(call.tool)) return null;
  if (call.state === 'ok') return whyPartly(call);
  if (call.state === 'proposed' || call.code === null) return null;
  const reason = line(call.output);
  if (isPassing(call.code)) return { way: 'run', reason };
  const missing = missingFor(call, call.code);
  return missing && { way: 'grant', reason, missing };
}

/** It may work the next time without anybody doing anything. */
const passing: ReadonlySet<string> = new Set([
  'NOT_RUN',
  'TIMEOUT',
  'STOPPED',
  'TOO_MANY_CALLS',
  'CREDENTIAL_EXPIRED',
  'PATH_CHANGED',
  'URL_TIMEOUT',
  'URL_FAILED',
  'URL_UNRESOLVED',
  'POSTGRES_TIMEOUT',
  'POSTGRES_ABORTED',
  'POSTGRES_CLOSED',
  // Statement cancelled, lock not available, no connection slot.
  'POSTGRES_57014',
  'POSTGRES_55P03',
  'POSTGRES_53300',
]);

/** Lost or refused connections by the codes of postgres.js and the socket; class 08, shutdown and start-up (57P), class 40. */
const passingPatterns =
  /^POSTGRES_(?:CONNECTION_\w+|CONNECT_TIMEOUT|E(?:CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN)|08\w{3}|57P0\w|40\w{3})$/;

/** The target was away, or too slow: it may answer a little later. */
export const isUnanswered = (code: string): boolean => code.endsWith('TIMEOUT') || passingPatterns.test(code);

const isPassing = (code: string): boolean => passing.has(code) || passingPatterns.test(code);

function missingFor(call: ToolCall, code: string): Missing | null {
  switch (code) {
    case 'POSTGRES_42501':
      // A plan needs the rights of the statement; everything else reads what pg_monitor may see.
      return {
        kind: 'privilege',
        privilege: call.tool === 'postgres_explain' ? 'pg_read_all_data' : 'pg_monitor',
      };
    case 'POSTGRES_28P01':
    case 'POSTGRES_28000':
    case 'POSTGRES_3D000':
      return { kind: 'login' };
    case 'POSTGRES_NO_STATISTICS':
      return { kind: 'statistics' };
    case 'PATH_OUTSIDE':
      return folderOf(call);
    case 'PATH_UNREADABLE': {
      const path = field(call.input, 'path');
      return path === null || isSecretFile(path) ? null : { kind: 'file', path };
    }
    case 'HOST_NO_SERVICE': {
      const service = field(call.input, 'service');
      return service === null ? null : { kind: 'service', service };
    }
    case 'URL_NOT_ALLOWED': {
      const host = hostIn(field(call.input, 'url'));
      return host === null ? null : { kind: 'docs_host', host };
    }
    default:
      return null;
  }
}

/** It answered, and says itself what it was not shown. */
function whyPartly(call: ToolCall): ReadFailure | null {
  if (!call.tool.startsWith('postgres_')) return null;
  const hidden = number(call.result, 'hidden_count');
  const monitor = { kind: 'privilege', privilege: 'pg_monitor' } as const;
  if (hidden > 0)
    return {
      way: 'grant',
      reason: `${hidden} ${hidden === 1 ? 'session is' : 'sessions are'} hidden from the role that Sentry reads with.`,
      missing: monitor,
    };
  if (has(call.result, 'wal_dir_bytes', null))
    return { way: 'grant', reason: 'The pg_wal folder could not be listed.', missing: monitor };
  if (has(call.result, 'available', false))
    return {
      way: 'grant',
      reason: 'pg_stat_statements is not available there.',
      missing: { kind: 'statistics' },
    };
  return null;
}

/** Only a folder that an operator could name as well, and that does not hold secrets by its name. */
function folderOf(call: ToolCall): Missing | null {
  const path = field(call.input, 'path');
  // A link that leads out of a folder is refused with the same code, and naming the folder again would not help.
  if (path === null || !path.startsWith('/') || !/none of the folders/.test(call.output)) return null;
  const folder = dirname(path);
  return isSecretFile(path) || isSecretFile(folder) || !mayBeRoot(folder)
    ? null
    : { kind: 'folder', path: folder };
}

/** A plain name of at least two labels; never an address, which no list should hold because an investigation asked. */
function hostIn(url: string | null): string | null {
  if (url === null || !URL.canParse(url)) return null;
  const { hostname } = new URL(url);
  return /^(?=.{1,253}$)(?:[a-z0-9-]{1,63}\.)+[a-z]{2,63}$/.test(hostname) ? hostname : null;
}

function field(input: Json, name: string): string | null {
  const value = valueOf(input, name);
  return typeof value === 'string' ? value : null;
}

function number(result: Json, name: string): number {
  const value = valueOf(result, name);
  return typeof value === 'number' ? value : 0;
}

const has = (result: Json, name: string, wanted: Json): boolean =>
  typeof result === 'object' &&
  result !== null &&
  Object.hasOwn(result, name) &&
  valueOf(result, name) === wanted;

function valueOf(json: Json, name: string): Json | undefined {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return undefined;
  return (json as { readonly [key: string]: Json })[name];
}

function line(output: string): string {
  const text = output.replace(/\s+/g, ' ').trim();
  return text.length > MAX_REASON ? `${text.slice(0, MAX_REASON - 1)}…` : text;
}
