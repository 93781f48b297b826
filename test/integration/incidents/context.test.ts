import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Investigation, type Investigator, InvestigatorFailed } from '../../../src/agents/ports.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { ContextPart } from '../../../src/incidents/context/part.ts';
import { boxAlert, boxInvestigator, boxTools, type Core, createCore } from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';

let database: ScratchDatabase;
let core: Core;
let seen: Investigation['gathered'][];
let looks: number;

beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
});
afterAll(() => database.drop());
afterEach(() => core.stop());

const noting = (investigator: Investigator, fails = false): Investigator => ({
  ...investigator,
  diagnose(work, triage) {
    seen.push(work.gathered);
    if (fails) throw new InvestigatorFailed('the model is down.');
    return investigator.diagnose(work, triage);
  },
});
const part = (name: string, gather: ContextPart['gather']): ContextPart => ({
  name,
  label: name,
  limitMs: 600_000,
  gather,
});

test('a part that hangs holds up no finding, is shown as a gap, and tells its answer when it comes', async () => {
  seen = [];
  looks = 0;
  let answer: (found: { line: string }) => void = () => undefined;
  const slow = new Promise<{ line: string }>((resolve) => {
    answer = resolve;
  });
  const context = [
    part('slow', () => slow),
    part('quick', () => {
      looks++;
      return { line: 'here' };
    }),
  ];
  core = await createCore({
    url: database.url,
    tools: boxTools({ broken: true, generation: 1, effects: 0, helps: true }),
    claude: noting({ ...boxInvestigator, name: 'claude' }, true),
    investigator: noting(boxInvestigator),
    context,
  });
  await core.start();
  const { incidentId } = await core.accept(boxAlert());
  const gathered = async () => {
    const record = await core.records.load(incidentId as IncidentId);
    const events = record?.events.filter((event) => event.type === 'context.gathered') ?? [];
    return { state: record?.incident.state, events };
  };
  const before = await waitFor('a proposal', async () => {
    const now = await gathered();
    return now.state === 'awaiting_approval' ? now : null;
  });
  expect(before.events).toMatchObject([
    {
      round: 1,
      parts: [
        { name: 'slow', state: 'late' },
        { state: 'found', line: 'here' },
      ],
    },
  ]);
  // Whoever takes over in the same round goes by the same, and gathers nothing again.
  expect(looks).toBe(1);
  expect(seen[0]).toEqual(before.events[0]?.parts);
  expect(seen[1]).toEqual(seen[0]);
  answer({ line: 'at last' });
  const after = await waitFor('the late answer', async () => {
    const now = await gathered();
    return now.events.length > 1 ? now : null;
  });
  expect(after.events[1]).toMatchObject({ parts: [{ state: 'found', line: 'at last' }, { state: 'found' }] });
});
