import { performance } from 'node:perf_hooks';
import { type ApprovalChecks, approvalChecks } from '../../../src/actions/checks/approval-checks.ts';
import type { Check } from '../../../src/actions/checks/check.ts';
import { createGate, type Gate, type GateParts, preChecksOf } from '../../../src/actions/gate.ts';
import type { GateDeps } from '../../../src/actions/gate-deps.ts';
import { executionParts } from '../../../src/actions/ledger/execution.ts';
import type { AuditLog } from '../../../src/safety/audit/audit-chain.ts';

/**
 * The gate with one check taken out, to know that the plays test what they say. A check that fills in the tool or the
 * target is replaced by one that fills it in and checks nothing.
 */
type Broken = (deps: GateDeps) => Gate;

const pass: Check = () => undefined;
const without =
  (number: number, make: (deps: GateDeps) => Check = () => pass): Broken =>
  (deps) =>
    createGate(deps, { preChecks: preChecksOf(deps).with(number - 1, make(deps)) });
const parts =
  (given: Partial<GateParts>): Broken =>
  (deps) =>
    createGate(deps, given);
const unchecked = (name: keyof ApprovalChecks): Broken =>
  parts({ checks: { ...approvalChecks, [name]: () => undefined } });
/** Claims whatever it is given, without asking the table. */
const ledger: GateParts['ledger'] = {
  ...executionParts.ledger,
  claim: async () => ({ kind: 'claimed', begunAt: performance.now() }),
};

/** An audit log that loses entries of a kind: silently, or as one whose disk is full. */
export function deaf(audit: AuditLog, kind: string, loud: boolean): AuditLog {
  return {
    ...audit,
    append: async (entry) => {
      if (entry.kind !== kind) return audit.append(entry);
      if (loud) throw new Error('the disk is full');
    },
  };
}

/** Fills in the tool and the input as they come. */
const anyTool =
  ({ registry }: GateDeps): Check =>
  (call) => {
    const tool = registry.get(call.request.tool);
    if (tool) call.tool = tool;
    call.input = call.request.input;
    return undefined;
  };

export const switchedOff = {
  '1 the input parses': without(1, anyTool),
  '2 role': without(2),
  '3 credential': without(3),
  '4 budget': without(4),
  '5 target in scope': without(5, ({ targets }) => (call) => {
    const target = targets.get(call.request.target ?? '');
    if (target) call.target = target;
    return undefined;
  }),
  '6 input rules': without(6),
  '7 toolset': without(7),
  '8 audit before': (deps) => createGate({ ...deps, audit: deaf(deps.audit, 'gate.intent', false) }),
  // Taken for a read tool, its run is called at once: what "becomes a proposal" stops.
  '9 an active tool is only proposed': (deps) => {
    const registry = {
      get: (name: string) => {
        const tool = deps.registry.get(name);
        return tool && ({ ...tool, kind: 'read' } as never);
      },
    };
    const given = { ...deps, registry };
    return createGate(given, {
      preChecks: preChecksOf(given).with(1, pass).with(0, anyTool(given)),
    });
  },
  '9 mode and STOP_SENTRY': unchecked('mayChange'),
  '9 the switch in the database': (deps) =>
    createGate({ ...deps, killSwitch: { ...deps.killSwitch, lockRows: async () => undefined } }),
  '9 hash equal': unchecked('samePlan'),
  '9 approved by a person, by the audit log': unchecked('decided'),
  '9 the same server': unchecked('sameServer'),
  '9 state unchanged': unchecked('sameState'),
  '9 not expired, and claimed in one transaction': parts({
    checks: { ...approvalChecks, inTime: async () => undefined },
    ledger,
  }),
  '9 claimed once': parts({ ledger }),
  '11 redaction, in the record and to the caller': (deps) =>
    createGate({ ...deps, redact: (text) => text, redactJson: (value) => value }),
  '12 audit after': (deps) => createGate({ ...deps, audit: deaf(deps.audit, 'gate.outcome', false) }),
} as const satisfies Readonly<Record<string, Broken>>;

export type CheckName = keyof typeof switchedOff;
