import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accessTable } from '../../../src/actions/access.ts';
import { createPlaybook } from '../../../src/agents/playbook/create-playbook.ts';
import { auditedSettings } from '../../../src/app/audited-settings.ts';
import { createHomeSources } from '../../../src/app/home-facts.ts';
import { loadConfig } from '../../../src/config/config.ts';
import { parseTargets } from '../../../src/config/targets.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { IncidentRecord } from '../../../src/core/incident-record.ts';
import { createKillSwitchService } from '../../../src/incidents/kill-switch/kill-switch-service.ts';
import { createAccept } from '../../../src/ingest/accept.ts';
import { loadRunbooks, problemLine } from '../../../src/runbooks/load-runbooks.ts';
import { parseKillSwitch } from '../../../src/safety/kill-switch/parse-kill-switch.ts';
import { toolsOfKinds } from '../../../src/targets/all-tools.ts';
import { domainOfLabels, domainsOf } from '../../../src/targets/domains.ts';
import { kinds as shipped } from '../../../src/targets/kinds.ts';
import { connectSystems, kindOf, type Systems, toTarget } from '../../../src/targets/systems.ts';
import { createRegistry } from '../../../src/tools/registry.ts';
import { boxAlert, type Core, createCore } from '../../support/core.ts';
import { homeDeps } from '../../support/home-deps.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import { noDocs } from '../../support/targets.ts';
import { waitFor } from '../../support/wait-for.ts';
import { valve, valveRunbook } from './valve.ts';

/** What a stranger adds: one folder, one entry. Nothing of the product is told of it otherwise. */
const kinds = [...shipped, valve];
const tools = toolsOfKinds(kinds);
const domains = domainsOf(kinds);
const domainOf = domainOfLabels(kinds);
const file = join(scratchDir(), 'valve.json');
const [config] = parseTargets(
  { targets: [{ name: 'pump-1', kind: 'valve', file }] },
  {},
  'sentry.yaml',
  kinds,
);
if (!config) throw new Error('no target');
const target = toTarget(config);
const state = (): { readonly litres: number; readonly opened: number } =>
  JSON.parse(readFileSync(file, 'utf8'));

let database: ScratchDatabase;
let systems: Systems;
let core: Core;
beforeAll(async () => {
  writeFileSync(file, JSON.stringify({ litres: 0, opened: 0 }));
  const folder = scratchDir();
  mkdirSync(join(folder, 'valve'));
  writeFileSync(join(folder, 'valve', 'valve-shut.md'), valveRunbook);
  const { runbooks, problems } = await loadRunbooks(folder, { tools: createRegistry(tools), domains });
  expect(problems).toEqual([]);
  database = await scratchDatabase({ migrate: true });
  systems = connectSystems(kinds, [config], { ownPorts: [] });
  core = await createCore({
    url: database.url,
    tools,
    investigator: createPlaybook({ runbooks: () => runbooks }),
    gate: {
      targets: new Map([[target.name, target]]),
      ports: { ...systems, docs: noDocs },
      identity: systems.identity,
    },
  });
  await core.start();
});
afterAll(async () => {
  await core.stop();
  await systems.close();
  await database.drop();
});

test('goes from its alert to a fix that is confirmed on the live system', async () => {
  const accept = createAccept(core.sql, [target], domainOf);
  const alert = boxAlert({
    name: 'ValveDry',
    title: 'Nothing runs through pump-1',
    labels: { alertname: 'ValveDry', instance: 'pump-1' },
    target: 'pump-1',
  });
  const { incidentId: id } = await accept(alert);
  if (!id) throw new Error('not accepted');
  const asked = await until(id, ({ incident }) => incident.state === 'awaiting_approval');
  expect(asked.incident).toMatchObject({ target: 'pump-1', domain: 'plumbing', incidentType: 'valve_shut' });
  expect(asked.incident.cause).toContain('The valve is shut');
  const [action] = asked.actions;
  if (!action) throw new Error('no card');
  expect(action).toMatchObject({ tool: 'valve_open', identity: `valve:${file}`, purpose: 'repair' });
  expect(state().opened).toBe(0);
  const decision = { actionId: action.id, planHash: action.planHash, by: 'UONCALL', reason: '' } as const;
  expect(await core.approvals.decide({ ...decision, anotherWay: false, decision: 'approve' })).toMatchObject({
    ok: true,
  });
  const { incident } = await until(id, ({ incident: { state: now } }) => now === 'resolved');
  expect(incident).toMatchObject({ verdict: 'fixed', resolvedBy: 'confirmed' });
  expect(state()).toEqual({ litres: 8, opened: 1 });
});

test('is stopped by its name, as every target is', async () => {
  const service = createKillSwitchService({
    ...core,
    ...core.gateDeps,
    targets: new Map([[target.name, target]]),
    systemOf: core.gate.systemOf,
  });
  const order = { scope: 'target:pump-1', by: 'UADMIN', reason: 'the pipe is open' };
  await service.stop({ ...order, forMs: null });
  expect(await core.gateDeps.killSwitch.stopped([order.scope])).toMatchObject({ code: 'STOPPED' });
  expect(await service.resume(order)).toBe(true);
});

describe('its domain', () => {
  test('is that of its runbooks, and no other name is taken for one', async () => {
    const folder = scratchDir();
    writeFileSync(join(folder, 'pump.md'), valveRunbook.replace('plumbing', 'plumming'));
    const { runbooks, problems } = await loadRunbooks(folder, { tools: createRegistry(tools), domains });
    expect(runbooks).toEqual([]);
    expect(problems.map(problemLine)).toEqual([
      'pump.md:4:1 domain: expected one of postgres, docker, podman, kubernetes, plumbing',
    ]);
  });

  test.each([
    [{ system: 'water' }, 'plumbing'],
    [{ system: 'air' }, 'docker'],
    [{ system: 'water', source_type: 'database' }, 'postgres'],
  ])('an alert that names no target has one by its labels: %o', (labels, domain) => {
    expect(domainOf(labels)).toBe(domain);
  });

  test('may be said of a host, and a name that is no domain may not', () => {
    const host = (domain: string) =>
      parseTargets(
        { targets: [{ name: 'well', kind: 'host', domain, roots: ['/srv'] }] },
        {},
        'sentry.yaml',
        kinds,
      );
    expect(host('plumbing')).toMatchObject([{ domain: 'plumbing' }]);
    expect(() => host('plumming')).toThrow(
      'target "well": domain: expected one of postgres, docker, podman, kubernetes, plumbing',
    );
  });

  test('is stopped by its name', () => {
    const known = { domains, targets: ['pump-1'], aliases: new Map(), everything: '' };
    expect(parseKillSwitch('plumbing', known)).toMatchObject({ ok: true, scope: 'domain:plumbing' });
  });
});

describe('shows itself', () => {
  test('in the access table, and on App Home under its own name', async () => {
    expect(accessTable(tools)).toMatch(/valve_open/);
    const home = createHomeSources(homeDeps({ targets: [target], tools, kinds }));
    const shown = home.tools().find(({ domain }) => domain === 'valves');
    expect(shown?.tools.map(({ kind }) => kind).sort()).toEqual(['active', 'read']);
    expect(await home.access('UONCALL')).toContain('pump-1: you may approve every change.');
  });

  test('in the audited settings, with what it lets be seen', () => {
    const { details } = auditedSettings({ ...loadConfig({}), targets: [config] }, kinds);
    expect(details['targets']).toEqual([
      { name: 'pump-1', kind: 'valve', environment: 'production', aliases: [], alerts: [], file },
    ]);
  });

  test('to the doctor, with what to do when it cannot be reached', async () => {
    const connection = valve.connect(config, { ownPorts: [] });
    expect(await kindOf(kinds, config).doctor(config, connection)).toBe('8 litres/s');
    const lost = { ...config, file: `${file}.gone` };
    expect(systems.reader('gone')).toBeNull();
    await expect(valve.doctor(lost, valve.connect(lost, { ownPorts: [] }))).rejects.toMatchObject({
      hint: 'Look at the pipe.',
    });
  });

  test('in sentry.yaml, where a kind that nobody knows is answered with those there are', () => {
    const read = () => parseTargets({ targets: [{ name: 'x', kind: 'valvee' }] }, {}, 'sentry.yaml', kinds);
    expect(read).toThrow(kinds.map(({ name }) => name).join(', '));
  });
});

test('no tool of another kind is let near it, nor its own near another', async () => {
  const { incidentId } = await createAccept(core.sql, [target], domainOf)(boxAlert({ target: 'pump-1' }));
  if (!incidentId) throw new Error('not accepted');
  const credential = core.vault.mint({ role: 'detective', incidentId, targets: ['pump-1'] });
  const options = { signal: new AbortController().signal };
  for (const tool of ['service_status', 'postgres_activity'])
    expect(await core.gate.call(credential, { tool, target: 'pump-1', input: {} }, options)).toMatchObject({
      kind: 'refused',
    });
  expect(
    await core.gate.call(credential, { tool: 'valve_flow', target: 'pump-1', input: {} }, options),
  ).toMatchObject({ kind: 'ok' });
});

async function until(id: IncidentId, holds: (record: IncidentRecord) => boolean): Promise<IncidentRecord> {
  let record: IncidentRecord | null = null;
  await waitFor(`${id}`, async () => {
    record = await core.records.load(id);
    return record !== null && holds(record);
  });
  if (!record) throw new Error('no record');
  return record;
}
