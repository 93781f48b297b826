import { z } from 'zod';
import { age, bytes, more, withoutBreaks } from '../../format.ts';
import { momentOf } from '../../inventory-parts.ts';
import { runsSteadily, shortId, stateText } from '../describe.ts';
import type { Container, EngineEvent, LogLine } from '../engine.ts';
import { containerName, containerTool } from '../tool.ts';
import { eventLine } from './events.ts';
import { stateData, stateMeasures } from './inspect.ts';

const LOG_LINES = 60;
const EVENT_LINES = 12;
const EVENTS_SECONDS = 6 * 3_600;
/** What a health check wrote: the end of it says why. */
const CHECKS = 3;
const OUTPUT = 400;

/** 128 and the number: how a shell and the engines tell that a signal ended it. */
const SIGNALS: Readonly<Record<number, string>> = {
  129: 'SIGHUP',
  130: 'SIGINT',
  131: 'SIGQUIT',
  132: 'SIGILL',
  134: 'SIGABRT',
  135: 'SIGBUS',
  136: 'SIGFPE',
  137: 'SIGKILL',
  139: 'SIGSEGV',
  141: 'SIGPIPE',
  143: 'SIGTERM',
};

/**
 * `up`: it runs. `starting_again`: it dies, and its policy starts it again. `out_of_memory`: the engine says so.
 * `killed`: by SIGKILL of which the engine knows no more. `asked`: somebody had the engine stop or kill it, which Podman does not
 * record. `signal`: another signal.
 * `never_started`: the engine could not start it. `failed`: it ended by itself with an error. `finished`: without one.
 */
export type End =
  | 'up'
  | 'starting_again'
  | 'out_of_memory'
  | 'killed'
  | 'asked'
  | 'signal'
  | 'never_started'
  | 'failed'
  | 'finished';

/**
 * Why a container is not running, or keeps being started again. Data: that of `inspect`, and `{ end, says, signal, looping, asked_by_signal,
 * log, log_lines: [{ stream, at, text }], checks: [{ at, exit_code, output }], tells_oom, passed_its_check, events: [line], image_before, made_seconds_ago, made_at }`;
 * `tells_oom`: this engine says so when a container ran out of memory; `passed_its_check`: its health check has passed since its engine began to remember; `log`: the texts of its last lines, `image_before`: of an earlier container of this name, where the engine still knows of it.
 */
export const whyDied = containerTool.read({
  name: 'container_why_died',
  description:
    'Why a container is not running or keeps being started again, in one look: exit code, signal, out of memory, restarts, the end of its log, its health checks, what the engine did with it, and whether it was made anew from another image shortly before.',
  kind: 'read',
  measures: stateMeasures,
  input: z.strictObject({ container: containerName }),
  timeoutMs: 20_000,
  async run(context, { container: name }) {
    const { engine } = context.system;
    const container = await engine.container(name, context);
    const [log, events] = await Promise.all([
      engine.logs(container, { tail: LOG_LINES }, context),
      engine.events(EVENTS_SECONDS, context),
    ]);
    const own = events
      .filter(({ name: whose, action }) => whose === container.name && !action.startsWith('exec_'))
      // Podman tells of every health check.
      .filter(({ action }, at, all) => !action.startsWith('health_') || action !== all[at - 1]?.action);
    const passed = own.findLast(({ action }) => action === 'health_status: healthy');
    const found = endOf(container, own);
    const checks = checksOf(container);
    const before = imageBefore(container, own);
    const made = Math.max(0, Math.round((Date.now() - Date.parse(container.createdAt)) / 1_000));
    const text = [
      `${container.name}: ${stateText(container)}`,
      `${found.says}`,
      `restart policy ${container.restartPolicy}; made ${age(made)} ago from ${container.image} (${shortId(container.imageId)})`,
      ...(container.memoryLimit === null ? [] : [`memory limit ${bytes(container.memoryLimit)}`]),
      ...(before === null ? [] : [`Before, a container of this name was made from ${before}.`]),
      ...checks.map(
        (check) =>
          `health check at ${check.at}: exit code ${check.exit_code}: ${check.output || 'no output'}`,
      ),
      ...(log.length === 0 ? ['It has written nothing.'] : ['Its log ends with:']),
      ...log.map(({ stream, at, text: line }) => `${at} ${stream === 'stderr' ? 'err' : 'out'} ${line}`),
      ...(own.length === 0 ? [] : ['What the engine did with it:']),
      ...more(own.length, Math.min(own.length, EVENT_LINES)),
      ...own.slice(-EVENT_LINES).map(eventLine),
    ];
    return {
      text: text.map(withoutBreaks).join('\n'),
      data: {
        ...stateData(container),
        ...found,
        signal: SIGNALS[container.exitCode ?? 0] ?? null,
        looping: isLooping(container),
        log: textOf(log),
        log_lines: log.map((line) => ({ ...line })),
        checks,
        tells_oom: engine.tellsOom,
        passed_its_check: passed !== undefined || container.health === 'healthy',
        events: own.slice(-EVENT_LINES).map(eventLine),
        image_before: before,
        made_seconds_ago: made,
        made_at: momentOf(container.createdAt) ?? null,
      },
    };
  },
});

const textOf = (lines: readonly LogLine[]): string => lines.map(({ text }) => text).join('\n');

/** It has been started again, and has not stayed up since. */
const isLooping = (container: Container): boolean =>
  container.state === 'restarting' || (container.restarts > 0 && !runsSteadily(container));

function endOf(
  container: Container,
  events: readonly EngineEvent[],
): { readonly end: End; readonly says: string; readonly asked_by_signal: string | null } {
  const { exitCode, oomKilled, error, startedAt, name } = container;
  const asked = askedFor(container, events);
  const told = (end: End, says: string) => ({ end, says, asked_by_signal: asked });
  // A code of its last end stands beside the new start while it is started again.
  const code = exitCode ?? container.raw.State.ExitCode;
  if (startedAt === null || (error !== '' && exitCode !== null))
    return told(
      'never_started',
      error ? `The engine could not start it: ${error}` : 'It has never been started.',
    );
  if (oomKilled)
    return told('out_of_memory', `${name} was killed because it used more memory than its limit.`);
  if (container.upSeconds !== null)
    return isLooping(container)
      ? told(
          'starting_again',
          `It has been started again ${container.restarts} times, and has not stayed up.`,
        )
      : told('up', `${name} runs.`);
  if (asked !== null)
    return told('asked', `Somebody had the engine end it (${asked}); it ended with code ${code}.`);
  if (code === 137)
    return told(
      'killed',
      'It was killed by SIGKILL, and the engine has not recorded, or forgotten, who asked for that.',
    );
  const signal = SIGNALS[code];
  if (signal) return told('signal', `It ended by ${signal}; the engine has not recorded who sent it.`);
  return code === 0
    ? told('finished', 'It ended by itself, without an error (code 0).')
    : told('failed', `It ended by itself with code ${code}.`);
}

/** The signal that the engine was asked to send before its last end: by `stop`, `kill`, or a compose command. */
function askedFor({ finishedAt }: Container, events: readonly EngineEvent[]): string | null {
  if (finishedAt === null) return null;
  const end = Date.parse(finishedAt);
  const kill = events.findLast(
    ({ action, at }) => (action === 'kill' || action === 'stop') && Math.abs(Date.parse(at) - end) < 15_000,
  );
  if (!kill) return null;
  return kill.attributes['signal'] ? `signal ${kill.attributes['signal']}` : kill.action;
}

function checksOf({ raw }: Container) {
  const log = raw.State.Health?.Log ?? [];
  return log.slice(-CHECKS).map(({ Start: at, ExitCode: code, Output: output }) => ({
    at: String(at),
    exit_code: code,
    output: output.trim().slice(-OUTPUT),
  }));
}

/** The image of an earlier container of the same name, when it was another one. */
function imageBefore({ id, image }: Container, events: readonly EngineEvent[]): string | null {
  const earlier = events.findLast(
    ({ type, action, attributes }) =>
      type === 'container' &&
      (action === 'create' || action === 'start' || action === 'destroy') &&
      attributes['id'] !== id &&
      attributes['image'] !== undefined &&
      attributes['image'] !== image,
  );
  return earlier?.attributes['image'] ?? null;
}
