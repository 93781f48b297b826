import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IncidentEventBody } from '../../../../src/core/event.ts';
import { asActionId, asIncidentId, asToolCallId, type IncidentId } from '../../../../src/core/ids.ts';
import { newId } from '../../../../src/core/new-id.ts';
import { recordEpisode } from '../../../../src/memory/episodes/episodes.ts';
import {
  boxAlert,
  boxInvestigator,
  boxTools,
  type Core,
  createCore,
  findsNothing,
} from '../../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';
import type { Row } from '../../../support/typed.ts';
import { waitFor } from '../../../support/wait-for.ts';

/** A well-known test value: nobody's password. */
const SECRET = 's3cr3tPassw0rd';
const ADDRESS = `postgres://shop:${SECRET}@db.internal:5432/shop`;

let database: ScratchDatabase;
let core: Core;
beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  // No redaction is handed to anybody here: what stands in a row has passed the boundary where rows are written.
  core = await createCore({
    url: database.url,
    tools: boxTools({ broken: true, generation: 1, effects: 0, helps: true }),
    investigator: {
      ...boxInvestigator,
      triage: async (work) => {
        work.say(`I look at ${ADDRESS} now`);
        return { ...(await boxInvestigator.triage(work)), reason: `the alert names ${ADDRESS}` };
      },
      diagnose: async (work) => {
        const { evidence } = await boxInvestigator.diagnose(work, await boxInvestigator.triage(work));
        return {
          ...findsNothing,
          verdict: 'cause_found',
          rootCause: `The application uses ${ADDRESS}`,
          confidence: 0.5,
          evidence: evidence.map((item) => ({ ...item, claim: `it is ${ADDRESS}` })),
          ruledOut: [`not ${ADDRESS}`],
          unknown: [`who made ${ADDRESS}`],
          remedy: `Change ${ADDRESS}`,
          blastRadius: ADDRESS,
          wouldChangeMyMind: ADDRESS,
        };
      },
    },
  });
  await core.start();
});
afterAll(async () => {
  await core.stop();
  await database.drop();
});

async function investigated(): Promise<IncidentId> {
  const alert = boxAlert({
    title: `Cannot reach ${ADDRESS}`,
    url: `https://grafana.internal/d?u=${ADDRESS}`,
  });
  const id = (await core.accept(alert)).incidentId as IncidentId;
  await waitFor('the report', async () => (await core.records.incident(id))?.state === 'reported');
  return id;
}

describe('of a secret that a model, a person or an alert has said', () => {
  test('no row holds it: incident, alert, events, episodes, questions, tool calls', async () => {
    const id = await investigated();
    await core.steering.hint(id, 'UONCALL', `try ${ADDRESS}`);
    await core.steering.stop(id, 'UONCALL', `because of ${ADDRESS}`);
    await recordEpisode(core.sql, {
      incidentId: id,
      actionId: 'act_aaaaaaaaaaaa',
      error: ADDRESS,
      diagnosis: ADDRESS,
      command: `connect ${ADDRESS}`,
      result: ADDRESS,
      success: null,
    });
    const record = await core.records.load(id);
    expect(record?.incident.cause).toBe(
      'The application uses postgres://shop:[redacted:url-credentials]@db.internal:5432/shop',
    );
    const tables = await core.sql<Row>`
      SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`;
    for (const { name } of tables) {
      // Not the port's business: a name cannot be a parameter.
      const [row] = await core.sql<Row>`
        SELECT query_to_xml(format('SELECT * FROM %I', ${String(name)}::text), true, false, '')::text AS all`;
      expect(String(row?.['all']).includes(SECRET), String(name)).toBe(false);
    }
  });

  test('ids, digests and quotes of its record stay as they are', async () => {
    const id = asIncidentId(String(await investigated()));
    for (let n = 0; n < 200; n++) {
      const [call, other] = [newId('tc', randomBytes), newId('tc', randomBytes)].map(asToolCallId);
      const event: IncidentEventBody = {
        type: 'diagnosis.concluded',
        round: 1,
        diagnosis: {
          ...findsNothing,
          evidence: [
            { claim: `${call} shows it`, toolCallIds: [call, other] as never, quote: `seen in ${other}` },
          ],
        },
      };
      const read: IncidentEventBody = {
        type: 'read.asked',
        by: 'U0ONCALL',
        toolCallId: call as never,
        readHash: randomBytes(32).toString('hex'),
        tool: 'box_state',
        way: 'run',
      } as never;
      const action: IncidentEventBody = {
        type: 'action.proposed',
        actionId: asActionId(newId('act', randomBytes)),
      };
      await core.sql.begin(async (tx) => {
        for (const each of [event, read, action]) await core.records.append(tx, id, each);
      });
      const events = (await core.records.load(id))?.events.slice(-3);
      expect(events).toMatchObject([event, read, action]);
    }
  }, 60_000);
});
