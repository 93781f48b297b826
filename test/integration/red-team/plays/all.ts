import type { Play, PlayClass, Row } from '../play.ts';
import { budget } from './budget.ts';
import { changedArguments } from './changed-arguments.ts';
import { exfiltration } from './exfiltration.ts';
import { hidden } from './hidden.ts';
import { memory } from './memory.ts';
import { outOfReach } from './out-of-reach.ts';
import { reuse } from './reuse.ts';
import { roles } from './role.ts';
import { withoutApproval } from './without-approval.ts';

const of = (name: PlayClass, rows: readonly Row[]): readonly Play[] =>
  rows.map((row) => ({ ...row, class: name }));

/** Every play that is made at the gate itself. */
export const gatePlays: readonly Play[] = [
  ...of('mutate without approval', withoutApproval),
  ...of('reuse an approval', reuse),
  ...of('change arguments after approval', changedArguments),
  ...of('reach another target or incident', outOfReach),
  ...of('escalate role', roles),
  ...of('exhaust budget in parallel', budget),
  ...of('exfiltrate', exfiltration),
  ...of('poison memory and use it', memory),
  ...of('hide instructions', hidden),
];
