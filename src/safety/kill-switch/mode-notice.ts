import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Sql } from '../../core/sql.ts';
import type { AuditLog } from '../audit/audit-chain.ts';
import { auditConfigChange } from '../audit/audit-config-change.ts';
import type { KillSwitch } from './kill-switch.ts';

/** Whatever the file SENTRY_MODE changes is obeyed wherever the mode is read; here it gets on record, and people hear of it. */
export interface ModeNotice {
  /** One look: audits a change once over all processes, and says it once; what could not be said is said at the next look. */
  look(tell: (text: string) => Promise<void>): Promise<void>;
  /** Looks every second. */
  start(tell: (text: string) => Promise<void>): void;
  stop(): Promise<void>;
}

const LOOK_MS = 1_000;
const SETTING = 'mode';

export function createModeNotice(deps: {
  readonly sql: Sql;
  readonly audit: AuditLog;
  readonly killSwitch: Pick<KillSwitch, 'mode'>;
  readonly log: Log;
}): ModeNotice {
  const { sql, killSwitch, log } = deps;
  const stopping = new AbortController();
  let looking: Promise<void> = Promise.resolve();
  let seen: string | undefined;
  let unsaid: string | undefined;

  async function look(tell: (text: string) => Promise<void>): Promise<void> {
    const { mode, byFile } = killSwitch.mode();
    const text = byFile ?? `As configured: ${mode}`;
    // Only what this process sees change: two data folders that differ must not answer each other.
    if (text !== seen) {
      const [known] = await sql`SELECT 1 FROM seen_setting WHERE name = ${SETTING}`;
      const details = { mode, byFile };
      const isNew = await auditConfigChange(deps, { name: SETTING, text, kind: 'mode.changed', details });
      if (isNew && (known || byFile !== null))
        unsaid =
          byFile === null
            ? `Mode ${mode} again, as configured${mode === 'ACTIVE' ? ': approved fixes run' : ''}.`
            : `Mode AUDIT. ${byFile}: Sentry says what it would do, and changes nothing until the file is gone.`;
      seen = text;
    }
    if (unsaid === undefined) return;
    await tell(unsaid);
    unsaid = undefined;
  }

  return {
    look,
    start(tell) {
      looking = (async () => {
        while (!stopping.signal.aborted) {
          await look(tell).catch((error: unknown) =>
            log.warn({ error: messageOf(error) }, 'could not tell of a change of mode; trying again'),
          );
          await sleep(LOOK_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
        }
      })();
    },
    async stop() {
      stopping.abort();
      await looking;
    },
  };
}
