import { describe, expect, it } from 'vitest';
import { globs, matchRunbooks } from '../../../../src/agents/playbook/match-runbook.ts';
import type { Incident } from '../../../../src/core/incident.ts';
import type { Runbook, RunbookMatches } from '../../../../src/runbooks/runbook.ts';
import { anIncident } from './scripted-work.ts';

const runbook = (id: string, matches: Partial<RunbookMatches>, domain = 'postgres'): Runbook => ({
  id,
  title: id,
  domains: [domain],
  version: 1,
  type: 'x',
  matches: { alerts: [], text: [], labels: {}, ...matches },
  ignoreWhenHealthy: false,
  steps: [],
  verify: {},
  body: '',
  file: `${id}.md`,
});

const LOCKS = runbook('locks', {
  alerts: ['*BlockedSessions'],
  text: ['blocked session', 'waiting for a lock'],
});
const CONNECTIONS = runbook('connections', {
  alerts: ['*TooManyConnections'],
  text: ['too many connections', 'connection'],
});
const DEADLOCKS = runbook('deadlocks', { alerts: ['PgDeadlocks', 'Pg*'], text: ['deadlock'] });
const ALL = [LOCKS, CONNECTIONS, DEADLOCKS];

const best = (part: Partial<Incident>, hints: readonly string[] = [], recalled: readonly string[] = []) =>
  matchRunbooks(
    ALL,
    anIncident({ alertName: null, title: 'x', ...part }),
    hints,
    recalled.map((runbookId) => ({ runbookId, title: '', heading: '', text: '', score: 1 })),
  ).map((match) => `${match.runbook.id} by ${match.by}`);

describe('which runbook fits', () => {
  it.each([
    ['an alert by its name, whatever the case', { alertName: 'postgresblockedsessions' }, ['locks by alert']],
    [
      'an alert by its name, however its words are joined',
      { alertName: 'db_too-many connections' },
      ['connections by alert'],
    ],
    ['an exact name before a pattern', { alertName: 'PgDeadlocks' }, ['deadlocks by alert']],
    [
      'a name before words',
      { alertName: 'PgTooManyConnections', title: 'deadlock' },
      ['connections by alert', 'deadlocks by alert'],
    ],
    ['words in a description', { annotations: { description: '12 sessions are blocked' } }, []],
    ['words in their order, with other endings', { title: 'Blocked sessions on db' }, ['locks by alert']],
    ['words with one between', { title: 'waiting for some lock' }, []],
    ['a phrase with one word between', { title: 'waiting for a heavy lock' }, ['locks by alert']],
    ['an alert name in camel case by its words', { alertName: 'DbDeadlockFound' }, ['deadlocks by text']],
    [
      'the longer phrase',
      { title: 'deadlock: too many connections' },
      ['connections by alert', 'deadlocks by alert'],
    ],
    ['nothing', { title: 'the moon is low' }, []],
  ] as const)('%s', (_name, incident, expected) => {
    expect(best(incident)).toEqual(expected);
  });

  it('listens to a hint', () => {
    expect(best({}, ['I think it is a deadlock'])).toEqual(['deadlocks by alert']);
  });

  it('follows memory when the alert says nothing, and words before memory', () => {
    expect(best({}, [], ['connections'])).toEqual(['connections by memory']);
    expect(best({ title: 'deadlock' }, [], ['connections'])[0]).toBe('deadlocks by alert');
  });

  it('gives equal ones in the order of their ids', () => {
    const twins = [runbook('b', { text: ['moon'] }), runbook('a', { text: ['moon'] })];
    const ids = matchRunbooks(twins, anIncident({ title: 'moon' }), [], []).map((match) => match.runbook.id);
    expect(ids).toEqual(['a', 'b']);
  });

  it('takes none from memory for an alert without a target', () => {
    expect(best({ target: null }, [], ['connections'])).toEqual([]);
    expect(best({ target: null, alertName: 'DbTooManyConnections' })).toEqual(['connections by alert']);
  });

  it('takes a phrase for no more than a suggestion where the alert has a name of its own', () => {
    expect(best({ alertName: 'CheckoutStalls', title: 'Blocked sessions' })).toEqual(['locks by text']);
    expect(best({ alertName: 'X', annotations: { summary: 'a deadlock' } })).toEqual(['deadlocks by text']);
  });

  it('never takes one of another domain', () => {
    const docker = runbook('docker', { alerts: ['QueueFull'] }, 'docker');
    expect(matchRunbooks([docker], anIncident(), [], [])).toEqual([]);
  });

  it('takes labels as support, never as a reason', () => {
    const labelled = runbook('labelled', { labels: { source_type: 'database' } });
    expect(matchRunbooks([labelled], anIncident({ labels: { source_type: 'database' } }), [], [])).toEqual(
      [],
    );
  });
});

describe('patterns', () => {
  it('take nothing but * as special', () => {
    expect(globs('a.c', 'abc')).toBe(false);
    expect(globs('a*c', 'a(b)c')).toBe(true);
    expect(globs('a*', 'ba')).toBe(false);
  });
});
