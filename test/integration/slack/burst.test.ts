import { afterEach, expect, it } from 'vitest';
import { CHANNELS } from '../../../playground/slack/seed.ts';
import { burstOf, loadBurst, MANY, standingBursts } from '../../../src/slack/outbound/burst.ts';
import type { SubjectId } from '../../../src/slack/outbound/subject.ts';
import { textOf } from '../../support/local-slack.ts';
import { type SlackScene, slackScene } from '../../support/slack-scene.ts';
import { waitFor } from '../../support/wait-for.ts';

let scene: SlackScene | undefined;
afterEach(() => scene?.close());

const digests = async (of: SlackScene) =>
  (await of.messages()).filter((each) => textOf(each).includes('problems opened at once'));

it('thirty problems at once have a thread each and one digest by two bots, which grows and links them [C5]', async () => {
  const here = await slackScene();
  scene = here;
  const ids: SubjectId[] = [];
  for (let n = 0; n < 30; n += 1) ids.push(await here.incident());
  await here.sql`
    INSERT INTO alert (incident_id, delivery_key, source, fingerprint, status, title, labels, annotations, starts_at)
    SELECT id, 'webhook:' || id, 'alertmanager', id, 'firing', title, '{}', '{}', opened_at FROM incident`;
  await here.sql`UPDATE incident SET opened_at = date_bin('10 min', clock_timestamp(), '2000-01-01') + interval '1 min'`;
  const said = await burstOf(here.sql, ids);
  expect(said).not.toBeNull();
  await Promise.all([here.bot(), here.bot()]);
  await waitFor('the threads and the digest', async () => {
    const roots = await here.sql`SELECT FROM incident WHERE thread_ts IS NOT NULL`;
    return roots.length === 30 && (await digests(here)).length > 0;
  });
  expect(await digests(here)).toHaveLength(1);
  expect((await digests(here))[0]?.text).toContain('30 problems');
  if (said) expect((await loadBurst(here.sql, said))?.worst.every(({ ts }) => ts !== null)).toBe(true);
});

it('what began in a channel of its own, and a few problems, are in no digest [C5]', async () => {
  const here = await slackScene();
  scene = here;
  const ids: SubjectId[] = [];
  for (let n = 0; n < MANY + 2; n += 1) ids.push(await here.incident([], CHANNELS.alerts));
  expect(await burstOf(here.sql, ids.slice(0, MANY))).toBeNull();
  await here.sql`UPDATE incident SET opened_at = date_bin('10 min', clock_timestamp(), '2000-01-01') + interval '1 min'`;
  const said = await burstOf(here.sql, ids);
  expect(said && (await loadBurst(here.sql, said))).toBeNull();
  expect(await standingBursts(here.sql)).toEqual([]);
});
