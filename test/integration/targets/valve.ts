import { readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { OpsError } from '../../../src/core/errors.ts';
import { measureAt } from '../../../src/core/measure.ts';
import type { Json } from '../../../src/core/tool-call.ts';
import { defineKind, type TargetConfig } from '../../../src/targets/kind.ts';
import { toolsOf } from '../../../src/tools/define.ts';

/** A kind of system that the product does not know: a valve, kept in a file that says what runs through it. */
interface Valve {
  read(): { readonly litres: number; readonly opened: number };
  open(): void;
}

interface ValveConfig extends TargetConfig {
  readonly file: string;
}

const tool = toolsOf<Valve>('valve', 'plumbing');

const valveFlow = tool.read({
  name: 'valve_flow',
  description: 'How many litres a second run through the valve.',
  kind: 'read',
  input: z.strictObject({}),
  timeoutMs: 2_000,
  measures: [
    measureAt('litres', {
      name: 'flow',
      label: 'flow through the valve',
      unit: 'litres/s',
      healthy: 'at_least',
      bound: 5,
    }),
  ],
  run: async ({ system }) => {
    const { litres } = system.read();
    return { text: `The valve lets ${litres} litres/s through.`, data: { litres } };
  },
});

const valveOpen = tool.active<Record<string, never>, { opened: number }>({
  name: 'valve_open',
  description: 'Opens the valve.',
  kind: 'active',
  verbs: { does: 'Open', did: 'Opened', button: 'Open the valve' },
  input: z.strictObject({}),
  timeoutMs: 2_000,
  command: () => 'open the valve',
  preflight: async ({ system }) => ({
    guard: { opened: system.read().opened },
    clock: null,
    lines: ['The valve is shut.'],
    blastRadius: 'Whatever hangs on the pipe gets water again.',
    undo: 'Shut it by hand.',
    risk: 'low',
  }),
  objects: () => [{ kind: 'valve', key: 'valve', label: 'the valve' }],
  async run({ system }, _input, { opened }) {
    if (system.read().opened !== opened) return { kind: 'failed', text: 'Somebody else has opened it.' };
    system.open();
    return { kind: 'succeeded', text: 'The valve is open.' };
  },
  look: async ({ system }, _input, { opened }) => (system.read().opened > opened ? 'done' : 'not_done'),
  effect: () => ({
    steps: [{ tool: 'valve_flow', input: {}, holds: 'result.litres > 0', says: 'water runs' }],
    holdMs: 0,
    timeoutMs: 2_000,
  }),
});

export const valve = defineKind<ValveConfig, Valve>({
  name: 'valve',
  plural: 'valves',
  domains: [{ name: 'plumbing', label: ['system', 'water'] }],
  fields: { file: z.string() },
  read: (entry: TargetConfig & { readonly file: string }) => entry,
  settings: ({ file }) => ({ file }),
  reader: () => null,
  connect: ({ file }) => ({
    system: {
      read: () => JSON.parse(readFileSync(file, 'utf8')),
      open: () => {
        const { opened } = JSON.parse(readFileSync(file, 'utf8'));
        writeFileSync(file, JSON.stringify({ litres: 8, opened: opened + 1 } satisfies Json));
      },
    },
    identity: async () => ({ systemIdentifier: `valve:${file}`, timelineId: 0 }),
    close: async () => undefined,
  }),
  async doctor({ file }, { system }) {
    try {
      return `${system.read().litres} litres/s`;
    } catch (cause) {
      throw new OpsError('VALVE', `${file} cannot be read`, { hint: 'Look at the pipe.', cause });
    }
  },
  facts: async () => ({ valve: 'brass' }),
  usual: null,
  watch: () => null,
  logs: () => [],
  advise: () => null,
  looks: [{ tool: 'valve_flow', why: 'How much runs through it' }],
  tools: [valveFlow, valveOpen],
});

export const valveRunbook = `---
id: valve-shut
title: A valve is shut
domain: plumbing
version: 1
type: valve_shut
matches:
  alerts: [ValveDry]
requires:
  step: flow
  when: result.litres < 5
  measure: flow
  bad: low
---

# A valve is shut

Nothing runs through it, and what hangs on the pipe is dry.

\`\`\`yaml step
id: flow
call: valve_flow
why: Looking how much runs through it
checks:
  - when: result.litres >= 5
    healthy: "\${result.litres} litres/s run through it."
  - when: "true"
    claim:
      says: "\${result.litres} litres/s run through it."
      quote: ["\${result.litres} litres/s"]
    conclude:
      cause: "The valve is shut: \${result.litres} litres/s run through it."
      confidence: 0.95
      blast_radius: What hangs on the pipe is dry.
      remedy: Open it.
      would_change_my_mind: Somebody shut it on purpose.
      propose:
        tool: valve_open
        why: Nothing but a shut valve keeps the water back.
\`\`\`

\`\`\`yaml verify
for: 1s
timeout: 30s
checks:
  - call: valve_flow
    measure: flow
    says: Water runs again.
\`\`\`
`;
