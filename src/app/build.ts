import { messageOf } from '../core/errors.ts';
import type { HttpServer } from '../http/server.ts';
import { createAnswering } from '../incidents/questions/answering.ts';
import { createTurn } from '../incidents/turn.ts';
import { createHttpSide } from './http-side.ts';
import type { Parts } from './parts.ts';
import { createServices, type Services } from './services.ts';
import { createSlackSide } from './slack-side.ts';

export type App = Awaited<ReturnType<typeof buildApp>>;

/** The composition root: services first, then the surfaces that show them. Nothing runs before `start`. */
export async function buildApp(parts: Parts) {
  const services = await createServices(parts);
  const slack = createSlackSide(services);
  const surfaces = { slack, http: await createHttpSide(services, slack) };
  return {
    ...surfaces,
    problems: services.problems,
    runbooks: services.runbooks,
    settings: services.settings,
    /** How each layer of security stands now. */
    layers: services.layers,
    start: () => start(services, surfaces),
    stop: () => stop(services, surfaces),
  };
}

/** Where people and machines meet the services. */
interface Surfaces {
  readonly slack: ReturnType<typeof createSlackSide>;
  readonly http: HttpServer;
}

/** Starts the parts in order; the HTTP server last but for Slack, so that what it accepts can be worked on. */
async function start(services: Services, { slack, http }: Surfaces): Promise<{ httpUrl: string }> {
  const { memory, workspace, bus, engine, upkeep, slackWorkspace, problems } = services;
  await services.startGuards();
  await memory.seedStores();
  await workspace.start();
  bus.start();
  services.settings.start(bus);
  // Answers grow where they were asked for.
  const answering = createAnswering(services.deps, slack.answers);
  await engine.start(createTurn(services.deps), upkeep.scheduled, answering);
  void upkeep.lookNow();
  void services.looks.lookAtAll(services.shutdown.signal);
  const listening = await http.listen();
  services.parts.keepSocket?.(listening);
  memory.start(services.runbooks, { incomplete: problems.length > 0 });
  services.embedding.start();
  services.switches.start();
  services.mutes.start();
  services.breaker.start((text) => slackWorkspace.announce(text));
  await slack.start();
  services.escalation.start(bus);
  services.testIncidents.start(bus);
  services.watch.look();
  services.logWatch.look();
  services.targetsReload?.start();
  return { httpUrl: `http://${listening.host}:${listening.port}` };
}

/** In this order: refuse new work, end tool calls, then the turns, Slack's last messages, and the connections. */
async function stop(services: Services, { slack, http }: Surfaces): Promise<void> {
  const end = async (what: string, stopping: Promise<unknown>): Promise<void> => {
    await stopping.catch((error: unknown) =>
      services.log.error({ part: what, error: messageOf(error) }, 'could not stop cleanly'),
    );
  };
  await end('http', http.close());
  if (services.targetsReload) await end('targets file', services.targetsReload.stop());
  await end('watched targets', services.watch.stop());
  await end('watched logs', services.logWatch.stop());
  await end('switch', services.switches.end());
  await end('mutes', services.mutes.end());
  await end('cost breaker', services.breaker.stop());
  await end('settings', services.settings.stop());
  await end('test incidents', services.testIncidents.stop());
  services.shutdown.abort();
  await end('escalation', services.escalation.stop());
  await end('turns', services.engine.stop(20_000));
  await end('slack', slack.stop());
  await end('workspace', services.workspace.stop());
  await end('embedding', services.embedding.stop());
  await end('memory', services.memory.stop());
  await end('targets', services.systems.close());
  await end('MCP servers', services.foreign.close());
  await end('bus', services.bus.stop());
  await end('guards', services.stopGuards());
  services.loopWatch.stop();
}
