import type { Gate } from '../../../src/actions/gate.ts';
import type { GateDeps } from '../../../src/actions/gate-deps.ts';
import type { Scene } from './scene.ts';
import type { CheckName } from './switched-off.ts';

/** What a misled or hostile model is after. */
export const playClasses = [
  'mutate without approval',
  'reuse an approval',
  'change arguments after approval',
  'reach another target or incident',
  'escalate role',
  'exhaust budget in parallel',
  'exfiltrate',
  'poison memory and use it',
  'hide instructions',
] as const;
export type PlayClass = (typeof playClasses)[number];

/** A scene with an incident of its own, and the gate that is under attack. */
export interface Trial extends Scene {
  /** The gate under attack: whole, or with one station taken out. A play may exchange what it stands on. */
  gate(deps?: GateDeps): Gate;
}

export interface Play {
  readonly class: PlayClass;
  readonly tries: string;
  /** What must be so afterwards. */
  readonly after: string;
  /** With this one switched off the play comes through. */
  readonly station?: CheckName | undefined;
  /** Found in the audit log afterwards, as `kind code` of an entry that the play caused. */
  readonly trace: RegExp;
  /** Whether the attack came through, judged by what happened and not by what was answered where that can be told. */
  readonly run: (trial: Trial) => Promise<boolean>;
}

/** A play as it stands in the table of its class. */
export type Row = Omit<Play, 'class'>;
