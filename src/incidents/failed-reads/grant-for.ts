import type { ToolCall } from '../../core/tool-call.ts';
import type { Missing, ReadFailure } from './classify-read-failure.ts';

/** What somebody has to do outside of Sentry before a read can work. */
export interface Grant {
  readonly tool: string;
  readonly target: string;
  /** Why it could not be read. */
  readonly reason: string;
  /** Who may do it. */
  readonly who: string;
  /** What to do, in words. */
  readonly what: string;
  /** Exactly what to run or to write; null where there is no one text for it. */
  readonly exact: string | null;
  /** What to consider before, or to do after; null: nothing. */
  readonly note: string | null;
}

type Advice = Pick<Grant, 'who' | 'what' | 'exact' | 'note'>;

const OPERATOR = 'Whoever runs Sentry.';
const RESTART = 'Restart Sentry afterwards: it reads its configuration at the start.';
const NOT_OURS =
  'The investigation came upon this name; nobody of yours chose it. Allow it only if its content may be read here.';

/** The statement or setting for what is missing, with exact names; those are quoted, whatever they hold. */
export function grantFor(
  call: ToolCall,
  { reason, missing }: Extract<ReadFailure, { readonly way: 'grant' }>,
  readerOf: (target: string) => string | null,
): Grant {
  const target = call.target ?? '';
  return { tool: call.tool, target, reason, ...wordsFor(missing, target, readerOf(target)) };
}

function wordsFor(missing: Missing, target: string, reader: string | null): Advice {
  switch (missing.kind) {
    case 'privilege':
      return {
        who: `A superuser of ${target}, or a role that holds ${missing.privilege} with ADMIN OPTION.`,
        what: 'Run this in the database, as one of them:',
        exact: `GRANT ${missing.privilege} TO ${reader === null ? '<the role that Sentry reads with>' : sqlName(reader)};`,
        note:
          missing.privilege === 'pg_monitor'
            ? 'It lets the role see what sessions do and read statistics; it does not let it read tables or change anything. It counts at once.'
            : 'It lets the role read every table. SELECT on the tables of this statement alone is enough as well. It counts at once.',
      };
    case 'statistics':
      return {
        who: `A superuser of ${target}.`,
        what: 'Set this in postgresql.conf, restart the server, then run the statement in the database that Sentry reads:',
        exact:
          "shared_preload_libraries = 'pg_stat_statements'\n\nCREATE EXTENSION IF NOT EXISTS pg_stat_statements;",
        note: 'Keep what shared_preload_libraries names already, and plan the restart: it ends all sessions.',
      };
    case 'login':
      return {
        who: OPERATOR,
        what: `The login that Sentry reads ${target} with is refused. Correct the URL in the variable that its read_url_env names in sentry.yaml, or the role and pg_hba.conf of the server.`,
        exact: null,
        note: RESTART,
      };
    case 'folder':
      return {
        who: OPERATOR,
        what: `Add the folder to those of ${target} in sentry.yaml:`,
        exact: yamlTarget(target, 'roots', missing.path),
        note: `${NOT_OURS} ${RESTART}`,
      };
    case 'file':
      return {
        who: `An administrator of ${target}.`,
        what: 'Let the account that Sentry runs under read this file:',
        exact: missing.path,
        note: NOT_OURS,
      };
    case 'service':
      return {
        who: OPERATOR,
        what: `Declare the service for ${target} in sentry.yaml, with its unit or its restart command. What is declared may also be proposed to be restarted.`,
        exact: yamlTarget(target, 'services', { name: missing.service, unit: `${missing.service}.service` }),
        note: `${NOT_OURS} ${RESTART}`,
      };
    case 'docs_host':
      return {
        who: OPERATOR,
        what: 'Add the host to the list of those that documentation may be fetched from, behind what stands there:',
        exact: `SENTRY_DOCS_HOSTS=…,${missing.host}`,
        note: `${NOT_OURS} A host that is listed sees which pages are asked for. ${RESTART}`,
      };
  }
}

/** A JSON string is a YAML one, and nothing in it can begin another line. */
function yamlTarget(target: string, list: string, item: string | Readonly<Record<string, string>>): string {
  const entry =
    typeof item === 'string'
      ? JSON.stringify(item)
      : `{ ${Object.entries(item)
          .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
          .join(', ')} }`;
  return `targets:\n  - name: ${JSON.stringify(target)}\n    ${list}:\n      - ${entry}`;
}

/** As SQL takes it: bare where that is the same name, else quoted. */
function sqlName(name: string): string {
  return /^[a-z_][a-z0-9_]{0,62}$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
