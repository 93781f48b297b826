import { z } from 'zod';
import { count } from '../../../core/count.ts';
import { more, withoutBreaks } from '../../format.ts';
import type { EngineEvent } from '../engine.ts';
import { containerName, containerTool } from '../tool.ts';

const MOST = 100;

/** Health checks run a command in the container every few seconds. */
const NOISE = /^exec_/;

/** What the engine did. Data: `{ events: [{ at, type, action, name, exit_code, signal, image }], count }`; oldest first. */
export const engineEvents = containerTool.read({
  name: 'container_events',
  description:
    'What happened in the engine lately: containers created, started, killed (with the signal), died (with the exit code), out of memory, unhealthy; images pulled. Engines keep only some hundreds.',
  kind: 'read',
  input: z.strictObject({
    container: containerName.optional(),
    since_seconds: z
      .number()
      .int()
      .min(10)
      .max(7 * 86_400)
      .default(3_600),
  }),
  timeoutMs: 10_000,
  async run(context, { container: name, since_seconds }) {
    const heard = (await context.system.engine.events(since_seconds, context)).filter(
      ({ action }) => !NOISE.test(action),
    );
    // As engines have it: a name counts before the beginning of somebody else's id.
    const isName = heard.some(({ name: whose }) => whose === name);
    const all = heard.filter(
      ({ name: whose, attributes }) =>
        name === undefined || (isName ? whose === name : attributes['id']?.startsWith(name)),
    );
    const shown = all.slice(-MOST);
    return {
      text: [
        `${count(all.length, 'event')} in the last ${since_seconds} s.`,
        ...more(all.length, shown.length),
        ...shown.map(eventLine),
      ].join('\n'),
      data: { events: shown.map(eventData), count: all.length },
    };
  },
});

const eventData = ({ at, type, action, name, attributes }: EngineEvent) => ({
  at,
  type,
  action,
  name,
  exit_code: attributes['exitCode'] === undefined ? null : Number(attributes['exitCode']),
  signal: attributes['signal'] ?? null,
  image: attributes['image'] ?? null,
});

/** `2026-11-23T06:01:04Z container die shop-api, exit code 137`. */
export function eventLine({ at, type, action, name, attributes }: EngineEvent): string {
  const { exitCode, signal } = attributes;
  return withoutBreaks(
    `${at} ${type} ${action} ${name}${exitCode === undefined ? '' : `, exit code ${exitCode}`}${signal === undefined ? '' : `, signal ${signal}`}`,
  );
}
