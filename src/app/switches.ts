import type { Action } from '../core/action.ts';
import { countUpTo } from '../core/count.ts';
import type { Refusal } from '../core/errors.ts';
import type { IncidentId } from '../core/ids.ts';
import type { Domain } from '../core/incident.ts';
import { live } from '../core/live.ts';
import type { Principal } from '../core/principal.ts';
import type { Target } from '../core/target.ts';
import { createKillSwitchCommands, stoppedForNow } from '../incidents/kill-switch/kill-switch-commands.ts';
import {
  createKillSwitchService,
  type KillSwitchServiceDeps,
} from '../incidents/kill-switch/kill-switch-service.ts';
import type { Steered, Steering } from '../incidents/steering.ts';
import { aliasesOf } from '../safety/kill-switch/parse-kill-switch.ts';
import type { SlackCommand } from '../slack/ports.ts';

interface SwitchesDeps extends KillSwitchServiceDeps {
  readonly targets: ReadonlyMap<string, Target>;
  readonly domains: readonly Domain[];
  readonly steering: Pick<Steering, 'stop' | 'resume'>;
  readonly isAdmin: (userId: string) => Promise<boolean>;
  readonly admins: readonly Principal[];
}

/** The human switch as people reach it: `/sentry stop|resume`, the lines that tell how it stands, what it holds up. */
export function createSwitches(deps: SwitchesDeps) {
  const { killSwitch, steering, targets } = deps;
  const board = createKillSwitchService(deps);
  const orders = createKillSwitchCommands({
    board,
    steering,
    isAdmin: deps.isAdmin,
    get admins() {
      return deps.admins;
    },
    domains: deps.domains,
    targets: live(() => targets.keys()),
    aliases: () => aliasesOf([...targets.values()]),
  });
  const said = (answer: Steered): string => (answer.ok ? answer.text : answer.reason);
  /** Said in an incident's thread, that incident may have been meant. */
  const orThis = (answer: Steered, incidentId: IncidentId | null): string =>
    incidentId !== null && !answer.ok && answer.code === 'UNKNOWN_SCOPE'
      ? `${answer.reason}\nOnly this incident: mention me with “resume” alone. Something for me to look at: “hint: …”.`
      : said(answer);
  return {
    start: () => board.start(),
    end: () => board.end(),
    commands: {
      stop: async ({ text, by, say, incidentId }) =>
        said(await orders.stop(text, by, { onSet: say, here: incidentId })),
      resume: async ({ text, by, incidentId }) => orThis(await orders.resume(text, by), incidentId),
    } satisfies Record<string, SlackCommand>,
    /** Why this action may not be approved now; undefined: nothing holds it up. */
    holds: (action: Action | null): Promise<Refusal | undefined> =>
      stoppedForNow(killSwitch, action, (name) => targets.get(name)?.domain),
    async lines(): Promise<readonly string[]> {
      const local = killSwitch.local();
      // A file of this folder is in the record, too, a moment later, in the same words.
      const lines = [...new Set([...(local ? [local.reason] : []), ...(await orders.lines())])];
      const { stopped: resting } = await deps.records.openCounts();
      return [
        ...(lines.length > 0 ? lines : ['Changes are not stopped: approved fixes run.']),
        ...(resting > 0 ? [`Stopped until somebody resumes: ${countUpTo(resting, 'incident')}.`] : []),
      ];
    },
  };
}
