import { afterEach, expect, it } from 'vitest';
import { ON_CALL_GROUP, USERS } from '../../../playground/slack/seed.ts';
import { wholeIncident } from '../../support/incident-record.ts';
import { eventually, type SlackScene, slackScene } from '../../support/slack-scene.ts';

let scene: SlackScene;
afterEach(() => scene.close());

const textsWith = async (words: string): Promise<readonly string[]> =>
  (await scene.messages()).map(({ text }) => text).filter((text) => text.includes(words));

it('something critical that waits for a limit mentions who is on call in a new line, once for that wait', async () => {
  scene = await slackScene();
  await scene.bot();
  const id = await scene.incident(wholeIncident.slice(1, 9));
  const limit = {
    type: 'plan.none',
    reason: 'Two restarts an hour are allowed.',
    asksAgainAt: new Date(Date.now() + 3_600_000).toISOString(),
    severity: 'critical',
  } as const;
  await scene.append(id, limit);
  const line = `<!subteam^${ON_CALL_GROUP}> ${id} waits: Two restarts an hour are allowed.`;
  await eventually(async () => expect(await textsWith(' waits: ')).toEqual([line]));
  await scene.append(id, limit);
  await scene.append(id, { type: 'incident.stopped', by: USERS.admin, reason: '', severity: 'critical' });
  // What comes after it stands, and no second line before that.
  await eventually(async () => expect(await textsWith(` stopped ${id}`)).toHaveLength(1));
  expect(await textsWith(' waits: ')).toEqual([line]);
});

it('whoever has it is mentioned when somebody else stops it, in a line of its own', async () => {
  scene = await slackScene();
  await scene.bot();
  const id = await scene.incident(wholeIncident.slice(1, 9));
  await scene.append(id, { type: 'incident.acknowledged', by: USERS.onCall, how: 'taken' });
  await scene.append(id, { type: 'incident.stopped', by: USERS.admin, reason: 'a drill' });
  await eventually(async () => {
    const [line] = await textsWith(` stopped ${id}`);
    expect(line).toMatch(new RegExp(`^<@${USERS.onCall}> [^<]+ stopped ${id}: “a drill”\\.$`));
  });
});
