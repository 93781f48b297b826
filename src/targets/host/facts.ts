import { programVersion } from './connect/program-version.ts';
import type { Host } from './system.ts';

const TIMEOUT_MS = 5_000;
const within = () => ({ timeoutMs: TIMEOUT_MS, signal: AbortSignal.timeout(TIMEOUT_MS) });

type Facts = Readonly<Record<string, string>>;

/** The machine's system, and what its services run. */
export async function hostFacts(host: Host): Promise<Facts> {
  return { ...(await host.machine.describe()), ...(await serviceFacts(host)) };
}

/** What each declared service runs. One that is down, or that cannot be asked or looked into now, has none. */
async function serviceFacts(host: Host): Promise<Facts> {
  const facts = await Promise.all(
    host.services.map(async (name) => {
      const version = await programOf(host, name).catch(() => null);
      return version === null ? [] : [[`service ${name}`, version] as const];
    }),
  );
  return Object.fromEntries(facts.flat());
}

async function programOf(host: Host, service: string): Promise<string | null> {
  const { mainPid } = await host.service(service, within());
  return mainPid === null ? null : programVersion(host.machine, mainPid, within());
}
