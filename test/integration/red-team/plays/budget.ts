import type { Json } from '../../../../src/core/tool-call.ts';
import { createCostBreaker } from '../../../../src/safety/limits/cost-breaker.ts';
import { createThrottle, readLimits, type ThrottleLimits } from '../../../../src/safety/limits/throttle.ts';
import { quiet } from '../../../support/quiet.ts';
import { never } from '../../actions/rig.ts';
import type { Row, Trial } from '../play.ts';
import { came } from '../scene.ts';

const AT_MOST = 10;
/** The parts of one process more, with a small limit. */
const limited = ({ deps, rig }: Trial, limits: string) => ({
  ...deps,
  throttle: createThrottle(rig.core.sql, readLimits(limits) as ThrottleLimits),
});
const flood = (
  tries: string,
  limits: (trial: Trial) => string,
  asked: (n: number) => readonly [tool: string, target: string],
): Row => ({
  tries,
  after: `${AT_MOST} of them and no more`,
  station: '4 budget',
  trace: /gate.refused TOO_MANY_CALLS/,
  async run(trial) {
    // Two gates on one database, as two processes have them.
    const gates = [1, 2].map(() => trial.gate(limited(trial, limits(trial))));
    const results = await Promise.all(
      Array.from({ length: 3 * AT_MOST }, (_, n) => {
        const [tool, target] = asked(n);
        return trial.ask(gates[n % 2] as never, 'detective', tool, {}, target);
      }),
    );
    return results.filter(came).length > AT_MOST;
  },
});

export const budget: readonly Row[] = [
  {
    tries: 'one call more when the incident has had its number',
    after: 'refused, and told when to try again',
    station: '4 budget',
    trace: /gate.refused TOO_MANY_CALLS/,
    async run({ rig, gate, ask, incidentId }) {
      await rig.core.sql`
        INSERT INTO throttle (key, starts, counts)
        VALUES (${`incident:${incidentId}`}, ARRAY[extract(epoch FROM clock_timestamp())::float8], '{300}')
        ON CONFLICT (key) DO NOTHING`;
      return came(await ask(gate(), 'detective', 'box_state', {}));
    },
  },
  flood(
    'thirty calls at once through two gates',
    () => `incident=${AT_MOST}/1h`,
    () => ['box_state', 'box'],
  ),
  flood(
    'thirty calls at once spread over tools',
    () => `incident=${AT_MOST}/1h`,
    (n) => (n % 3 === 0 ? ['odd_read', 'box'] : ['box_state', 'box']),
  ),
  {
    tries: 'model calls at once that each would fit',
    after: 'the limit and one call more at most',
    trace: /cost.breaker/,
    async run({ rig }) {
      const { sql, audit } = rig.core;
      await sql`DELETE FROM usage`;
      await sql`UPDATE cost_breaker SET state = 'closed', trial = NULL, told = true, reason = ''`;
      const limits = { usd: 5, windowMs: 600_000, perIncidentUsd: 100, perDayUsd: 100 };
      const breaker = createCostBreaker({ sql, audit, limits, log: quiet });
      let spent = 0;
      const caller = async (): Promise<void> => {
        for (let n = 0; n < 4; n += 1) {
          const room = await breaker.reserve({
            incidentId: null,
            usd: 0.7,
            forMs: 30_000,
            waitMs: 1_000,
            signal: never,
          });
          if (!room.ok) continue;
          spent += 0.7;
          await sql`INSERT INTO usage (role, model, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, cost_usd)
                    VALUES ('detective', 'm', 0, 0, 0, 0, 0.7)`;
          await room.release();
        }
      };
      await Promise.all(Array.from({ length: 10 }, caller));
      return spent >= limits.usd + 0.7 || spent === 0;
    },
  },
  {
    tries: 'eight proposals at once, to be approved by mistake',
    after: 'one card',
    trace: /gate.refused ALREADY_PROPOSED/,
    async run({ rig, gate, ask, incidentId }) {
      await Promise.all(
        Array.from({ length: 8 }, (_, n) => ask(gate(), 'surgeon', 'box_mend', { how: `way ${n}` })),
      );
      return (await rig.core.records.load(incidentId))?.actions.length !== 1;
    },
  },
  {
    tries: 'an answer of two million characters',
    after: 'cut, and marked as cut',
    trace: /gate.outcome/,
    async run({ rig, gate, ask }) {
      rig.odd.read = async () => ({ text: 'words '.repeat(350_000), data: null });
      const result = await ask(gate(), 'detective', 'odd_read', {});
      return result.kind !== 'ok' || !result.truncated || result.text.length > 210_000;
    },
  },
  {
    tries: 'an answer nested a hundred thousand deep',
    after: 'an end of the call, and of nothing else',
    trace: /gate.outcome|gate.refused/,
    async run({ rig, gate, ask }) {
      rig.odd.read = async () => {
        let data: Json = 'x';
        for (let depth = 0; depth < 100_000; depth += 1) data = [data];
        return { text: 'deep', data };
      };
      const result = await ask(gate(), 'detective', 'odd_read', {});
      rig.odd.read = () => ({ text: 'fine', data: null });
      return JSON.stringify(result).length > 210_000 || !came(await ask(gate(), 'detective', 'odd_read', {}));
    },
  },
  {
    tries: 'a tool that never ends',
    after: 'ended at its time',
    trace: /gate.outcome TIMEOUT/,
    async run({ rig, gate, ask }) {
      rig.odd.read = () => new Promise(() => undefined);
      return came(await ask(gate(), 'detective', 'odd_read', {}));
    },
  },
];
