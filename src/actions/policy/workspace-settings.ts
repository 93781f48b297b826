import { z } from 'zod';
import { canonicalJson } from '../../core/canonical-json.ts';
import { type Refusal, refuse } from '../../core/errors.ts';
import type { EventBus } from '../../core/event-bus.ts';
import { isSlackUser } from '../../core/is-slack-user.ts';
import type { Principal } from '../../core/principal.ts';
import type { Sql } from '../../core/sql.ts';
import type { Json } from '../../core/tool-call.ts';
import type { AuditLog } from '../../safety/audit/audit-chain.ts';
import type { VaultKey } from '../../safety/vault/vault-key.ts';

const principal = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('user'), id: z.string().refine(isSlackUser) }),
  z.object({ kind: z.literal('group'), name: z.string().min(1) }),
  z.object({ kind: z.literal('channel'), id: z.string().min(1) }),
]);

/** What can be set up in Slack. Absent or empty: nobody has said. */
const Settings = z.object({
  /** Ids or names; the first gets the incidents of webhooks. */
  alertChannels: z.array(z.string().min(1)).optional(),
  approvers: z.array(principal).optional(),
  admins: z.array(principal).optional(),
  /** Handle or id. */
  oncallGroup: z.string().min(1).nullable().optional(),
  /** Id or name. */
  adminChannel: z.string().min(1).nullable().optional(),
});
export type Settings = z.infer<typeof Settings>;
export type SettingName = keyof Settings;
export const settingNames = ['alertChannels', 'approvers', 'admins', 'oncallGroup', 'adminChannel'] as const;

/** As they are in force: the environment first, then what was set up in Slack. */
export interface WorkspaceSettings {
  readonly alertChannels: readonly string[];
  readonly approvers: readonly Principal[];
  readonly admins: readonly Principal[];
  readonly oncallGroup: string | null;
  readonly adminChannel: string;
  /** Set in the environment: whatever is on record of it counts for nothing. */
  isFixed(name: SettingName): boolean;
  /** Of what is on record; 0: nothing was set up. */
  readonly version: number;
  readonly setBy: string | null;
  /** Another workspace was set up on this record, and this one was not. */
  readonly isOfAnother: boolean;
  /** What is on record was not written by this deployment, and counts for nothing. */
  readonly isForged: boolean;
  /** Looks at the record. What decides by these settings asks for it first. */
  refresh(): Promise<void>;
  /**
   * Puts them on record, audited, if nobody has changed them since `version`. What is fixed is left out. Who may is for the caller to ask,
   * of the same version.
   */
  save(change: {
    readonly by: string;
    /** What they may do it as, for the audit log. */
    readonly as: 'admin' | 'workspace admin';
    readonly version: number;
    readonly settings: Settings;
  }): Promise<{ readonly ok: true } | Refusal>;
  start(bus: EventBus): void;
  stop(): Promise<void>;
}

interface Row {
  readonly team_id: string;
  readonly version: number;
  readonly settings: unknown;
  readonly set_by: string;
  readonly signature: string;
}

const DEFAULT_ALERT_CHANNELS = ['alerts'];
const DEFAULT_ADMIN_CHANNEL = 'sentry-admin';

export function createWorkspaceSettings(deps: {
  readonly sql: Sql;
  readonly audit: AuditLog;
  /** That all processes share and the database has not. */
  readonly key: Pick<VaultKey, 'vouch' | 'vouches'>;
  /** What the environment says, or the playground. */
  readonly fixed: Settings;
  /** The workspace of the bot; null: Slack has not been reached yet. */
  readonly team: () => string | null;
}): WorkspaceSettings {
  const { sql, audit, key, fixed, team } = deps;
  let row: (Omit<Row, 'settings'> & { readonly settings: Settings }) | null = null;
  let isForged = false;
  let end = async (): Promise<void> => undefined;

  const isFixed = (name: SettingName): boolean => isSaid(fixed[name]);
  /** Until Slack has said whose token it is, what was set up last: nobody can press anything before. */
  const onRecord = (): Settings =>
    row && !isForged && [null, row.team_id].includes(team()) ? row.settings : {};
  const inForce = <N extends SettingName>(name: N): Settings[N] =>
    isFixed(name) ? fixed[name] : onRecord()[name];
  const isOurs = (): boolean => row !== null && row.team_id === team();

  async function read(): Promise<void> {
    const ours = team();
    const [own] =
      ours === null
        ? []
        : await sql<Row>`
            SELECT team_id, version, settings, set_by, signature FROM workspace_settings WHERE team_id = ${ours}`;
    const found = own ?? (await newest(sql));
    isForged = found !== undefined && !key.vouches(textOf(found), found.signature);
    row = found ? { ...found, settings: isForged ? {} : Settings.parse(found.settings) } : null;
  }

  let reading: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;
  /** One after another, since a slow answer must not replace a newer one; whoever asks meanwhile shares the next. */
  const refresh = (): Promise<void> => {
    next ??= reading
      .catch(() => undefined)
      .then(() => {
        next = null;
        reading = read();
        return reading;
      });
    return next;
  };

  return {
    get alertChannels() {
      return said(inForce('alertChannels')) ?? DEFAULT_ALERT_CHANNELS;
    },
    get approvers() {
      return inForce('approvers') ?? [];
    },
    get admins() {
      return inForce('admins') ?? [];
    },
    get oncallGroup() {
      return inForce('oncallGroup') ?? null;
    },
    get adminChannel() {
      return inForce('adminChannel') ?? DEFAULT_ADMIN_CHANNEL;
    },
    isFixed,
    get version() {
      return isOurs() ? (row?.version ?? 0) : 0;
    },
    get setBy() {
      return isOurs() ? (row?.set_by ?? null) : null;
    },
    get isOfAnother() {
      return row !== null && team() !== null && !isOurs();
    },
    get isForged() {
      return isForged && isOurs();
    },
    refresh,
    async save({ by, as, version, settings }) {
      const ours = team();
      if (ours === null) return refuse('NOT_CONNECTED', 'Slack has not been reached yet. Nothing is saved.');
      const kept = Object.fromEntries(
        Object.entries(settings).filter(([name, value]) => isSaid(value) && !isFixed(name as SettingName)),
      ) as { readonly [key: string]: Json };
      const signature = key.vouch(
        textOf({ team_id: ours, version: version + 1, settings: kept, set_by: by }),
      );
      const isNew = await sql.begin(async (tx) => {
        const [before] = await tx<{ readonly settings: Json }>`
          SELECT settings FROM workspace_settings WHERE team_id = ${ours} AND version = ${version} FOR UPDATE`;
        const rows = await (version === 0
          ? tx`
              INSERT INTO workspace_settings (team_id, version, settings, set_by, signature)
              VALUES (${ours}, 1, ${tx.json(kept)}, ${by}, ${signature}) ON CONFLICT (team_id) DO NOTHING RETURNING 1`
          : tx`
              UPDATE workspace_settings
                 SET version = version + 1, settings = ${tx.json(kept)}, set_by = ${by}, signature = ${signature},
                     set_at = clock_timestamp()
               WHERE team_id = ${ours} AND version = ${version} RETURNING 1`);
        if (rows.length === 0) return false;
        await audit.appendIn(tx, {
          kind: 'settings.set',
          actor: by,
          details: { as, team: ours, version: version + 1, before: before?.settings ?? null, after: kept },
        });
        return true;
      });
      await refresh();
      // The same window, sent again by Slack or after a crash.
      const isSame =
        row?.version === version + 1 &&
        row.set_by === by &&
        canonicalJson(row.settings as Json) === canonicalJson(kept);
      return isNew || (isOurs() && isSame)
        ? { ok: true }
        : refuse('CHANGED_MEANWHILE', 'Somebody has changed the settings since you opened this window.');
    },
    start(bus) {
      end = bus.subscribe({ on: { 'settings.changed': 'sweep' }, sweep: refresh });
    },
    stop: () => end(),
  };
}

/** Of another workspace, or of one that is not known yet. */
async function newest(sql: Sql): Promise<Row | undefined> {
  const [found] = await sql<Row>`
    SELECT team_id, version, settings, set_by, signature FROM workspace_settings ORDER BY set_at DESC LIMIT 1`;
  return found;
}

/** The first words keep it apart from all else that the key vouches for. */
const textOf = ({ team_id, version, settings, set_by }: Omit<Row, 'signature'>): string =>
  `sentry settings\n${canonicalJson({ team: team_id, version, settings: settings as Json, by: set_by })}`;

const isSaid = (value: Settings[SettingName]): boolean =>
  value !== null && value !== undefined && value.length > 0;

const said = <T extends { readonly length: number }>(value: T | null | undefined): T | undefined =>
  value !== null && value !== undefined && value.length > 0 ? value : undefined;
