import { describe, expect, it } from 'vitest';
import { describeAct, describePlan, nameOfRun } from '../../../src/core/describe-act.ts';

const service = { kind: 'service', key: 's', label: 'service shop-worker' };
const restart = {
  tool: 'restart_service',
  verbs: { does: 'Restart', did: 'Restarted', button: 'Restart the service' },
  command: 'restart service shop-worker',
  objects: [service],
};
const end = {
  tool: 'postgres_terminate_backend',
  verbs: { does: 'End', did: 'Ended', button: 'End the session' },
  command: 'SELECT pg_terminate_backend(1)',
  objects: [{ kind: 'session', key: '1/x', label: 'session 1 (etl)' }],
};

describe('an act in words', () => {
  it('is what its tool says it does to what it touches', () => {
    expect(describeAct(restart)).toBe('Restart service shop-worker');
    expect(describeAct(restart, true)).toBe('Restarted service shop-worker');
    expect(nameOfRun([restart])).toBe('Restart the service');
  });

  it('is the command where nothing that it touches has a name, and the tool where no words were kept', () => {
    expect(describeAct({ ...restart, objects: [] })).toBe('Run restart service shop-worker');
    const old = { ...restart, tool: 'reboot', verbs: null };
    expect(describeAct(old)).toBe('Run reboot on service shop-worker');
    expect(nameOfRun([old])).toBe('Run reboot');
  });

  it('names both of two steps, and of more the first and how many', () => {
    expect(describePlan([restart])).toBe('Restart service shop-worker');
    expect(describePlan([end, restart])).toBe('End session 1 (etl), then restart service shop-worker');
    expect(describePlan([end, restart, restart])).toBe('End session 1 (etl), and 2 more steps');
  });
});
