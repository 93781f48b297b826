import { describe, expect, it } from 'vitest';
import { describeAct, describePlan } from '../../../src/core/describe-act.ts';
import { allTools } from '../../../src/targets/all-tools.ts';

const service = { kind: 'service', key: 's', label: 'service shop-worker' };
const restart = { tool: 'restart_service', command: 'restart service shop-worker', objects: [service] };
const end = {
  tool: 'postgres_terminate_backend',
  command: 'SELECT pg_terminate_backend(1)',
  objects: [{ kind: 'session', key: '1/x', label: 'session 1 (etl)' }],
};

describe('an act in words', () => {
  it.each(allTools.filter(({ kind }) => kind === 'active').map(({ name }) => name))(
    'has a verb for %s',
    (tool) => {
      expect(describeAct({ ...restart, tool })).toMatch(/^(?!Run )[A-Z].* service shop-worker$/);
    },
  );

  it('is the command where nothing that it touches has a name, and the tool where it has no verb', () => {
    expect(describeAct({ ...restart, objects: [] })).toBe('Run restart service shop-worker');
    expect(describeAct({ ...restart, tool: 'reboot' })).toBe('Run reboot on service shop-worker');
    expect(describeAct({ ...restart, tool: 'constructor' })).toBe('Run constructor on service shop-worker');
  });

  it('names both of two steps, and of more the first and how many', () => {
    expect(describePlan([restart])).toBe('Restart service shop-worker');
    expect(describePlan([end, restart])).toBe('End session 1 (etl), then restart service shop-worker');
    expect(describePlan([end, restart, restart])).toBe('End session 1 (etl), and 2 more steps');
  });
});
