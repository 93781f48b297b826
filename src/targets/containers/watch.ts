import { anySignal } from '../../core/any-signal.ts';
import type { Sighting, Watch } from '../../core/sighting.ts';
import type { Engine, EngineEvent } from './engine.ts';

/** A container that ends so soon after the engine was asked to end it, or ran out of memory, ended by that. */
const SOON_MS = 15_000;
/** What programs end by when nobody means anything else: SIGINT, SIGTERM. Podman records no more of a stop. */
const ASKED_CODES: ReadonlySet<number> = new Set([130, 143]);
/** SIGHUP, SIGUSR1, SIGUSR2, SIGWINCH: they ask a program to do something, not to end. */
const HARMLESS: ReadonlySet<string> = new Set(['1', '10', '12', '28']);
/** A connection that has died without a word is found out by making another. */
const CONNECTION_MS = 10 * 60_000;

/**
 * What becomes of the containers of an engine, for the source `container-events`: those that die by themselves with an
 * error, run out of memory, become unhealthy or healthy again. Positions are times, ISO 8601. An engine keeps some hundreds
 * of events: what is older when it is asked again is lost.
 */
export const watchEngine = (
  engine: Engine,
  names: { readonly target: string; readonly runtime: string },
): Watch =>
  async function* watch(position, signal) {
    if (position === null)
      yield { position: new Date(await engine.now({ signal, timeoutMs: 10_000 })).toISOString(), told: null };
    else {
      const tell = createTeller();
      const limit = anySignal([signal, AbortSignal.timeout(CONNECTION_MS)]);
      for await (const event of engine.follow(Date.parse(position), limit)) {
        const told = tell(event);
        if (told) yield sightingOf(event, { ...names, ...told });
      }
    }
  };

function sightingOf({ at, name, attributes }: EngineEvent, told: object): Sighting {
  const payload = {
    ...told,
    container: name,
    container_id: attributes['id'] ?? name,
    image: attributes['image'] ?? null,
    service: attributes['com.docker.compose.service'] ?? null,
    at,
  };
  return { position: at, told: { source: 'container-events', payload } };
}

type Told = { readonly event: string; readonly exit_code?: number };

/** Of one event after the other, what is worth telling; null: nothing is. */
function createTeller(): (event: EngineEvent) => Told | null {
  /** By id: when the engine was asked to end it, when it ran out of memory, how its health was told last. */
  const asked = new Map<string, number>();
  const starved = new Map<string, number>();
  const health = new Map<string, string>();

  return ({ type, action, at, attributes }) => {
    if (type !== 'container') return null;
    const id = attributes['id'] ?? '';
    const now = Date.parse(at);
    const wasSoon = (times: ReadonlyMap<string, number>) => now - (times.get(id) ?? 0) < SOON_MS;
    const [what = '', state] = action.split(': ');
    switch (what) {
      case 'kill':
      case 'stop':
        if (!HARMLESS.has(attributes['signal'] ?? '')) asked.set(id, now);
        return null;
      case 'oom':
        starved.set(id, now);
        return { event: 'out_of_memory' };
      case 'die': {
        const code = Number(attributes['exitCode'] ?? attributes['containerExitCode']);
        const isByItself = code !== 0 && !ASKED_CODES.has(code) && !wasSoon(asked) && !wasSoon(starved);
        return isByItself ? { event: 'died', ...(Number.isNaN(code) ? {} : { exit_code: code }) } : null;
      }
      case 'health_status': {
        if (state !== 'healthy' && state !== 'unhealthy') return null;
        // Podman tells of every check.
        const isNews = health.get(id) !== state;
        health.set(id, state);
        return isNews ? { event: state } : null;
      }
      case 'destroy':
      case 'remove':
        for (const each of [asked, starved, health]) each.delete(id);
        return null;
      default:
        return null;
    }
  };
}
