import { describe, expect, it } from 'vitest';
import { suiteCategory } from '../../../evals/opensre/category.ts';
import { type AnswerKey, type SuiteAnswer, scoreAnswer } from '../../../evals/opensre/score-answer.ts';

const key: AnswerKey = {
  category: 'resource_exhaustion',
  equivalents: [],
  requiredKeywords: ['free space', 'audit table'],
  forbiddenKeywords: ['cpu is the cause'],
  forbiddenCategories: ['infrastructure'],
  requiredSources: [],
  rulingOutKeywords: ['cpu'],
  trajectory: [],
  maxRounds: 1,
  requiredQueries: [],
  recorded: ['aws_rds_events', 'eks_pods', 'eks_events'],
  unscored: [],
};
const right: SuiteAnswer = {
  category: 'resource_exhaustion',
  cause: 'No Free  Space is left.',
  claims: ['The audit table grew.'],
  chain: [],
  others: ['CPU is a symptom.'],
  read: ['aws_rds_events', 'eks_pods'],
  rounds: 2,
};

describe('an answer scored by the rules of OpenSRE’s suites', () => {
  it('gives the oracle 1', () => {
    expect(scoreAnswer(key, right)).toEqual({
      score: 1,
      why: null,
      ruledOut: true,
      trajectory: null,
      queries: null,
      notScored: [],
    });
  });

  it.each([
    ['a wrong category that says every word', { ...right, category: 'infrastructure' }],
    ['a category of ours', { ...right, category: 'disk_full' }],
    ['a word that is missing', { ...right, claims: [] }],
    ['a forbidden word', { ...right, chain: ['CPU is the cause.'] }],
    ['no cause', { ...right, cause: ' ' }],
    ['a cause that says it has none', { ...right, cause: 'Unable to determine root cause' }],
  ])('gives 0 to %s', (_, answer) => {
    expect(scoreAnswer(key, answer)).toMatchObject({ score: 0, why: expect.any(String) });
  });

  it('gives 0 where evidence that is asked for was not read', () => {
    const asks = (source: string) => scoreAnswer({ ...key, requiredSources: [source] }, right);
    expect(asks('aws_rds_events').score).toBe(1);
    expect(asks('aws_performance_insights')).toMatchObject({
      score: 0,
      why: expect.stringContaining('aws_performance_insights'),
    });
  });

  it('tells ruling out apart, and not at all where none is asked', () => {
    expect(scoreAnswer(key, { ...right, others: [] })).toMatchObject({ score: 1, ruledOut: false });
    expect(scoreAnswer({ ...key, rulingOutKeywords: [] }, right).ruledOut).toBeNull();
  });

  it('tells apart whether all was asked, in any order and in few enough rounds', () => {
    const trajectory = ['list_eks_pods', 'query_grafana_logs'];
    const of = (part: Partial<AnswerKey>) => scoreAnswer({ ...key, ...part }, right);
    expect(of({ trajectory, maxRounds: 2 })).toMatchObject({ score: 1, trajectory: true });
    expect(of({ trajectory, maxRounds: 1 }).trajectory).toBe(false);
    expect(of({ trajectory: [...trajectory, 'get_eks_events'], maxRounds: 2 }).trajectory).toBe(false);
  });

  it('names what recorded reads cannot tell, and scores it neither way', () => {
    const asked = { trajectory: ['query_grafana_alert_rules'], requiredQueries: ['ReplicaLag'] };
    expect(scoreAnswer({ ...key, ...asked }, right)).toMatchObject({
      trajectory: null,
      queries: null,
      notScored: ['query_grafana_alert_rules', 'ReplicaLag'],
    });
    const queries = (query: string) => scoreAnswer({ ...key, requiredQueries: [query] }, right).queries;
    expect([queries('list_eks_pods'), queries('get_eks_events')]).toEqual([true, false]);
  });

  it('takes an equivalent category for right, and scores no read that nothing recorded stands for', () => {
    const equivalent = { ...key, category: 'cpu_saturation', equivalents: ['resource_exhaustion'] };
    expect(scoreAnswer(equivalent, right).score).toBe(1);
    const trajectory = ['describe_rds_events', 'describe_rds_instance'];
    const scored = scoreAnswer({ ...key, trajectory, maxRounds: 2, unscored: ['golden_trajectory'] }, right);
    expect(scored).toMatchObject({
      trajectory: true,
      notScored: ['describe_rds_instance', 'golden_trajectory'],
    });
    const hermes = { ...key, recorded: ['hermes_config'], trajectory: ['get_hermes_config'], maxRounds: 2 };
    expect(scoreAnswer(hermes, right).trajectory).toBe(false);
    expect(scoreAnswer(hermes, { ...right, read: ['hermes_config'] }).trajectory).toBe(true);
  });

  it('demands a failover’s steps from what was claimed, where the key demands all of them', () => {
    const steps = ['failover initiated', 'failover in progress', 'failover completed', 'instance available'];
    const words = ['primary evidence source', ...steps];
    const failover = { ...key, requiredKeywords: words, forbiddenKeywords: [] };
    const told = `The RDS event timeline is the primary evidence source: ${steps.join(', ')}.`;
    expect(scoreAnswer(failover, { ...right, claims: [told] }).score).toBe(1);
    expect(scoreAnswer(failover, { ...right, claims: [], others: [told] }).score).toBe(0);
    expect(scoreAnswer(failover, { ...right, claims: [told.replace('RDS ', '')] }).score).toBe(0);
  });
});

describe('a kind of cause in the suites’ words', () => {
  it.each([
    ['cause_found', 'resource_exhaustion', 'resource_exhaustion'],
    ['cause_found', 'disk_full', 'resource_exhaustion'],
    ['cause_found', 'image_pull_failure', 'configuration_error'],
    ['cause_found', 'rds_failover', 'infrastructure'],
    ['cause_found', 'solar_flare', 'solar_flare'],
    ['cause_found', null, 'unknown'],
    ['cannot_tell', 'disk_full', 'unknown'],
    ['healthy', 'disk_full', 'healthy'],
  ] as const)('%s of %s is %s', (verdict, category, theirs) => {
    expect(suiteCategory({ verdict, category })).toBe(theirs);
  });

  it('is a category that the suite names, by its words', () => {
    const known = new Set(['connection_exhaustion', 'cpu_saturation', 'cpu_saturation_bad_query']);
    const of = (category: string) => suiteCategory({ verdict: 'cause_found', category }, known);
    expect(of('connection_exhaustion')).toBe('connection_exhaustion');
    expect(of('connections_exhausted')).toBe('connection_exhaustion');
    expect(of('bad_query_saturates_cpu')).toBe('cpu_saturation_bad_query');
    expect(of('disk_full')).toBe('resource_exhaustion');
  });

  it('is never that all is well, or that nobody knows, however its words begin', () => {
    const known = new Set(['healthy', 'unknown', 'configuration_error', 'infrastructure']);
    const of = (category: string) => suiteCategory({ verdict: 'cause_found', category }, known);
    expect(of('health_check_failing')).toBe('configuration_error');
    expect(of('failing_healthcheck')).toBe('failing_healthcheck');
    expect(of('unknown_host')).toBe('unknown_host');
    expect(of('healthy')).toBe('unknown');
    expect(suiteCategory({ verdict: 'healthy', category: 'health_check_failing' }, known)).toBe('healthy');
  });

  it('is by whole words where they are short', () => {
    const known = new Set(['data_quality', 'pod_crash']);
    const of = (category: string) => suiteCategory({ verdict: 'cause_found', category }, known);
    expect(of('database_quality')).toBe('database_quality');
    expect(of('pods_crashing')).toBe('pod_crash');
    for (const free of [
      'portal_timeout',
      'envoy_timeout',
      'nodejs_timeout',
      'wallet_timeout',
      'codec_timeout',
    ])
      expect(of(free)).toBe(free);
    expect([of('wrong_ports'), of('nodes_gone'), of('locked_rows')]).toEqual([
      'configuration_error',
      'infrastructure',
      'resource_exhaustion',
    ]);
  });
});
