import type { Action } from '../../core/action.ts';
import { closestName } from '../../core/closest-name.ts';
import { messageOf, type Refusal, refuse } from '../../core/errors.ts';
import { type IncidentId, namedIncident } from '../../core/ids.ts';
import { formatPrincipals, type Principal } from '../../core/principal.ts';
import { formatScope } from '../../core/switch-scope.ts';
import { formatSwitch, type KillSwitch, switchScopes } from '../../safety/kill-switch/kill-switch.ts';
import { parseKillSwitch } from '../../safety/kill-switch/parse-kill-switch.ts';
import type { Steered, Steering } from '../steering.ts';
import type { KillSwitchService } from './kill-switch-service.ts';
import type { RunningAction } from './running-actions.ts';
import { ENDED_FILES } from './shared-files.ts';

/** `/sentry stop …` and `/sentry resume …` as somebody typed them: of one incident anybody's, of changes the admins'. */
export interface KillSwitchCommands {
  /**
   * @param said.onSet told when it is set and something still runs, since the answer then waits for its end
   * @param said.here the incident in whose thread it was said: words that stop nothing else stop that one, since whoever says
   *   *stop* there must not find it going on
   */
  stop(
    text: string,
    by: string,
    said?: { readonly onSet?: (text: string) => void; readonly here?: IncidentId | null },
  ): Promise<Steered>;
  resume(text: string, by: string): Promise<Steered>;
  /** What is stopped now, a line each; none: nothing. */
  lines(): Promise<readonly string[]>;
}

export function createKillSwitchCommands(deps: {
  readonly board: KillSwitchService;
  readonly steering: Pick<Steering, 'stop' | 'resume'>;
  readonly isAdmin: (user: string) => Promise<boolean>;
  readonly admins: readonly Principal[];
  readonly domains: readonly string[];
  /** As they are configured now. */
  readonly targets: Iterable<string>;
  readonly aliases?: () => ReadonlyMap<string, string>;
}): KillSwitchCommands {
  const { board, steering } = deps;
  const known = () => ({
    domains: deps.domains,
    targets: [...deps.targets],
    ...(deps.aliases ? { aliases: deps.aliases() } : {}),
  });

  async function mayNot(by: string): Promise<Refusal | undefined> {
    const hint = 'In an emergency, whoever is on the machine can: sentry stop, or a file STOP_SENTRY.';
    try {
      if (await deps.isAdmin(by)) return undefined;
      return refuse(
        'NOT_AN_ADMIN',
        `Only admins may stop or resume that: ${formatPrincipals(deps.admins) || 'nobody yet (/sentry settings says who may)'}. ${hint}`,
      );
    } catch (error) {
      return refuse('ADMINS_UNKNOWN', `Slack could not say who is an admin (${messageOf(error)}). ${hint}`);
    }
  }

  /** `INC-7 …`: of one incident. */
  function incidentIn(text: string): { readonly id: IncidentId; readonly rest: string } | undefined {
    const [word = '', ...rest] = text.trim().split(/\s+/);
    const id = namedIncident(word);
    return id && { id, rest: rest.join(' ') };
  }

  /** What was perhaps meant besides the incident that is stopped. */
  function notStopped(text: string, no: Refusal | undefined): readonly string[] {
    if (no) return [`Nothing else is stopped: ${no.reason}`];
    const near = closestName(text.trim().split(/\s+/)[0] ?? '', [...deps.targets]);
    return near === null ? [] : [`Did you mean ${near}? That is not stopped: say “stop ${near}”.`];
  }

  return {
    async stop(text, by, { onSet, here } = {}) {
      const incident = incidentIn(text);
      if (incident) return steering.stop(incident.id, by, incident.rest);
      const no = await mayNot(by);
      const order = parseKillSwitch(text, {
        ...known(),
        everything: 'To stop everything: /sentry stop everything',
      });
      if (here && (no || !order.ok)) {
        const steered = await steering.stop(here, by, text);
        if (!steered.ok) return order.ok && no ? no : steered;
        return { ok: true, text: [steered.text, ...notStopped(text, order.ok ? no : undefined)].join('\n') };
      }
      if (no) return no;
      if (!order.ok) return order;
      const { scope, forMs, reason } = order;
      const running = await board.stop({ scope, by, reason, forMs }, (claimed) => {
        if (claimed.length > 0)
          onSet?.(
            `The switch is set: nothing new begins. I answer again when this has ended:\n${listOf(claimed)}`,
          );
      });
      return { ok: true, text: stoppedText(scope, running, await board.alsoNamed(scope)) };
    },

    async resume(text, by) {
      const incident = incidentIn(text);
      if (incident) return steering.resume(incident.id, by);
      const no = await mayNot(by);
      if (no) return no;
      if (namesFile(text)) return resumed(board, { scope: ENDED_FILES, by, reason: '' });
      const order = parseKillSwitch(text, {
        ...known(),
        everything: 'To resume everything: /sentry resume everything',
      });
      if (!order.ok) return order;
      return resumed(board, { scope: order.scope, by, reason: order.reason });
    },

    lines: async () => (await board.set()).map((set) => `${formatSwitch(set)}.`),
  };
}

/** Asks for the stops of files whose processes have ended. */
export const namesFile = (text: string): boolean => /^(?:stop_sentry|sentry_mode)$/i.test(text.trim());

/** Takes a stop back and says what is still stopped. */
export async function resumed(
  board: KillSwitchService,
  order: { readonly scope: string; readonly by: string; readonly reason: string },
): Promise<Steered> {
  const was = await board.resume(order);
  const left = (await board.set()).map((set) => `Still: ${formatSwitch(set)}.`);
  const what = order.scope === ENDED_FILES ? 'files whose process has ended' : formatScope(order.scope);
  if (!was) return refuse('NOT_STOPPED', [`There is no stop of ${what}.`, ...left].join('\n'));
  const text = `Resumed: ${what}. Incidents that waited for it are looked at again.`;
  return { ok: true, text: [text, ...left].join('\n') };
}

/**
 * What *Stop* answers: that nothing more takes effect, and what did until now. `alsoNamed`: other names of the system; null
 * when it is not known which system it is.
 */
export function stoppedText(
  scope: string,
  running: readonly RunningAction[],
  alsoNamed: readonly string[] | null,
): string {
  const others =
    alsoNamed === null
      ? ['I cannot tell which system it is now: under another name it is not stopped.']
      : alsoNamed.length > 0
        ? [`The same system is also called ${alsoNamed.join(', ')}: that is stopped with it.`]
        : [];
  return [
    `Stopped: ${formatScope(scope)}. Nothing is changed there until somebody resumes; reading goes on.`,
    ...others,
    running.length === 0
      ? 'Nothing was running.'
      : `This had begun before, and has ended:\n${listOf(running)}`,
  ].join('\n');
}

function listOf(actions: readonly RunningAction[]): string {
  return actions
    .map(
      (each) => `• ${each.actionId} (${each.incidentId}) on ${each.target}: ${each.command}: ${each.state}`,
    )
    .join('\n');
}

/**
 * Why *Approve* is not taken now: what is stopped would only make the approval void. The card stays as it is, and may be
 * pressed after *Resume*. The gate does not rely on this.
 */
export async function stoppedForNow(
  killSwitch: Pick<KillSwitch, 'stopped'>,
  action: Pick<Action, 'target'> | null,
  domainOf: (target: string) => string | undefined,
): Promise<Refusal | undefined> {
  if (!action) return undefined;
  const no = await killSwitch.stopped(switchScopes(action.target, domainOf(action.target) ?? ''));
  return no && refuse(no.code, `${no.reason} Nothing was approved; press again when that is over.`);
}
