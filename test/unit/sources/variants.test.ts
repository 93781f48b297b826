import { expect, test } from 'vitest';
import { alertSource } from '../../../src/sources/registry.ts';

const receivedAt = new Date('2026-03-01T12:00:00Z');

/** Synthetic: less usual forms of what the senders' documentation describes. */
const datadog = { id: '1', last_updated: '1714644000000', date: '1714644000000' };
const issue = { id: '1', title: 'TypeError: x', level: 'error', project: { slug: 'web' } };
const rule = { ruleId: 7, ruleName: 'Heap usage', tags: {} };
const azure = (essentials: object, alertContext: object): object => ({
  data: {
    essentials: {
      alertId: '/subscriptions/1/alerts/a',
      alertRule: 'health',
      severity: 'Sev4',
      monitorCondition: 'Fired',
      monitoringService: 'ServiceHealth',
      originAlertId: 'one',
      firedDateTime: '2026-03-01T11:00:00.1234567Z',
      description: '',
      ...essentials,
    },
    alertContext,
  },
});
const health = (status: string): object => ({
  status,
  properties: {
    title: 'Connectivity',
    service: 'SQL Database',
    region: 'East US',
    trackingId: 'AB-1',
    stage: status,
  },
});
const incident = (more: object): object => ({
  incident: {
    incident_id: '0.x',
    scoping_project_id: 'shop',
    state: 'open',
    condition_name: 'Errors',
    ended_at: null,
    ...more,
  },
});
const event = {
  title: 'Timeout',
  project: 5,
  url: 'https://sentry.io/api/0/projects/acme/shop-web/events/8d/',
  issue_url: 'https://sentry.io/api/0/issues/163/',
};

test.each([
  {
    what: 'Grafana 8: a rule without data',
    source: 'grafana',
    payload: { ...rule, state: 'no_data', title: '[No Data] Heap usage' },
    reads: [{ title: 'Heap usage', status: 'firing' }],
  },
  { what: 'Grafana 8: a paused rule', source: 'grafana', payload: { ...rule, state: 'paused' }, reads: [] },
  {
    what: 'Datadog’s own default, which names its host in the title',
    source: 'datadog',
    payload: { ...datadog, title: '[Triggered on {host:web-1}] CPU high' },
    reads: [{ title: 'CPU high', status: 'firing', target: 'web-1', labels: { host: 'web-1' } }],
  },
  {
    what: 'Datadog: a priority before the transition',
    source: 'datadog',
    payload: { ...datadog, title: '[P2] [Recovered on {host:web-1}] CPU high' },
    reads: [{ title: 'CPU high', status: 'resolved', sourceSeverity: 'P2' }],
  },
  {
    what: 'Datadog: the priority of the event is not that of the monitor',
    source: 'datadog',
    payload: {
      ...datadog,
      title: 'Disk',
      alert_transition: 'Warn',
      alert_type: 'warning',
      priority: 'normal',
    },
    reads: [{ status: 'firing', sourceSeverity: 'warning' }],
  },
  {
    what: 'Opsgenie: a detail is added',
    source: 'opsgenie',
    payload: { action: 'AddDetails', alert: { alertId: 'a', message: 'disk' } },
    reads: [],
  },
  {
    what: 'Sentry.io: an event with its tags',
    source: 'sentry-io',
    payload: {
      action: 'triggered',
      data: {
        event: {
          title: 'ValueError: y',
          issue_id: '7',
          level: 'error',
          tags: [
            ['environment', 'prod'],
            ['server_name', 'web-1'],
          ],
        },
      },
    },
    reads: [{ target: 'web-1', labels: { environment: 'prod', server_name: 'web-1' } }],
  },
  {
    what: 'Sentry.io: the older plugin, with its project at the top',
    source: 'sentry-io',
    payload: { id: '2', project: 'web', level: 'error', message: 'boom', event: { title: 'Boom' } },
    reads: [{ title: 'Boom', target: 'web', status: 'firing' }],
  },
  {
    what: 'Sentry.io: an issue that somebody assigns',
    source: 'sentry-io',
    payload: { action: 'assigned', data: { issue } },
    reads: [],
  },
  {
    what: 'Alertmanager’s own API: silenced, and firing',
    source: 'alertmanager',
    payload: [
      {
        labels: { alertname: 'X' },
        startsAt: '2024-05-02T10:00:00Z',
        endsAt: '2099-05-02T10:00:00Z',
        status: { inhibitedBy: [], silencedBy: ['1'], state: 'suppressed' },
      },
    ],
    reads: [{ name: 'X', status: 'firing', endsAt: null }],
  },
  {
    what: 'another sender’s alert that has a field for a change',
    source: 'generic',
    payload: { title: 'Disk full', severity: 'critical', status: 'firing', change: { id: 'x', name: 'y' } },
    reads: [{ title: 'Disk full', status: 'firing' }],
  },
  {
    what: 'an event of Kubernetes whose older time is null',
    source: 'kubernetes-events',
    payload: {
      type: 'Warning',
      reason: 'BackOff',
      involvedObject: { kind: 'Pod', name: 'web-1', namespace: 'shop', uid: 'u' },
      lastTimestamp: null,
      eventTime: '2026-03-01T11:00:00.000000Z',
    },
    reads: [{ startsAt: '2026-03-01T11:00:00.000Z' }],
  },
  {
    what: 'PagerDuty: an end that does not tell its beginning',
    source: 'pagerduty',
    payload: {
      event: {
        id: '1',
        occurred_at: '2026-03-01T11:00:00Z',
        data: {
          id: 'P1',
          type: 'incident',
          status: 'resolved',
          title: 'Disk',
          priority: null,
          urgency: 'high',
        },
      },
    },
    reads: [{ startsAt: '2026-03-01T11:00:00.000Z', endsAt: '2026-03-01T11:00:00.000Z' }],
  },
  {
    what: 'Azure: an event of Service Health',
    source: 'azure-monitor',
    payload: azure({ alertTargetIDs: ['/subscriptions/1'] }, health('Active')),
    reads: [
      {
        status: 'firing',
        target: 'SQL Database',
        labels: { service: 'SQL Database', region: 'East US' },
        annotations: { summary: 'Connectivity' },
      },
    ],
  },
  {
    what: 'Azure: the end of an event of Service Health, which is fired as well',
    source: 'azure-monitor',
    payload: azure({ originAlertId: 'another' }, health('Resolved')),
    reads: [{ status: 'resolved', target: 'SQL Database' }],
  },
  {
    what: 'Azure: an end of Resource Health',
    source: 'azure-monitor',
    payload: azure(
      { monitoringService: 'Resource Health', configurationItems: ['vm-1'] },
      { status: 'Resolved', properties: { title: 'Available again' } },
    ),
    reads: [{ status: 'resolved', target: 'vm-1', annotations: { summary: 'Available again' } }],
  },
  {
    what: 'Azure: the log of an activity, which says what has been done, not what is over',
    source: 'azure-monitor',
    payload: azure(
      { monitoringService: 'Activity Log - Administrative', configurationItems: ['vm-1'] },
      { status: 'Resolved', operationName: 'restart' },
    ),
    reads: [{ status: 'firing', target: 'vm-1' }],
  },
  {
    what: 'Azure: a budget, which has neither rule nor condition',
    source: 'azure-monitor',
    payload: azure(
      {
        monitoringService: 'CostAlerts',
        alertRule: null,
        monitorCondition: null,
        alertTargetIDs: null,
        configurationItems: ['budgets'],
      },
      { AlertData: { BudgetName: 'shop' } },
    ),
    reads: [{ title: 'shop', target: 'shop', status: 'firing', url: null }],
  },
  {
    what: 'Azure: the labels of every condition, of Prometheus and of an older log search',
    source: 'azure-monitor',
    payload: azure(
      { monitoringService: 'Platform', configurationItems: ['vm-1'] },
      {
        conditionType: 'MultipleResource',
        properties: { team: 'shop' },
        condition: {
          allOf: [{ dimensions: [{ name: 'a', value: '1' }] }, { dimensions: [{ name: 'b', value: '2' }] }],
        },
        labels: { cluster: 'prod' },
        Dimensions: [{ name: 'Computer', value: 'web-1' }],
      },
    ),
    reads: [
      {
        labels: {
          team: 'shop',
          a: '1',
          b: '2',
          cluster: 'prod',
          Computer: 'web-1',
          monitoring_service: 'Platform',
        },
      },
    ],
  },
  {
    what: 'Google Cloud: a sentence in place of the name of a resource, and no severity',
    source: 'gcp-monitoring',
    payload: incident({
      resource_name: 'shop Cloud Run Revision labels {project_id=shop, service_name=api}',
      resource: { type: 'cloud_run_revision', labels: { service_name: 'api' } },
      severity: 'No severity',
    }),
    reads: [{ target: 'api', sourceSeverity: null }],
  },
  {
    what: 'Google Cloud: an uptime check, by its host',
    source: 'gcp-monitoring',
    payload: incident({
      resource_id: '',
      resource: { type: 'uptime_url', labels: { host: 'shop.example.com' } },
    }),
    reads: [{ target: 'shop.example.com' }],
  },
  {
    what: 'New Relic: what is ill in the title alone',
    source: 'new-relic',
    payload: {
      id: '1',
      title: "web-1 query result is > 1.0 for 5 minutes on 'Disk'",
      state: 'CLOSED',
      impactedEntities: [],
    },
    reads: [{ target: 'web-1', status: 'resolved' }],
  },
  {
    what: 'Datadog: a template without a transition, with a number for the priority',
    source: 'datadog',
    payload: {
      title: 'High CPU',
      monitor_id: '1',
      priority: 4,
      message: 'over 90 %',
      tags: 'env:prod,monitor,service:api',
    },
    reads: [{ status: 'firing', sourceSeverity: 'P4', target: 'api', annotations: { summary: 'over 90 %' } }],
  },
  {
    what: 'Datadog: a mark of the title’s own',
    source: 'datadog',
    payload: { ...datadog, title: '[Re-Triggered on {host:web-1}] [kubernetes] Pod restarts' },
    reads: [{ title: '[kubernetes] Pod restarts', status: 'firing', target: 'web-1' }],
  },
  {
    what: 'Datadog: a mark of the title’s own alone',
    source: 'datadog',
    payload: {
      ...datadog,
      title: '[prod] Disk',
      transition: 'Re-No Data',
      host: 'web-1',
      scope: 'env:prod',
      alert_id: '5',
    },
    reads: [{ title: '[prod] Disk', status: 'firing', target: 'web-1', labels: { env: 'prod' } }],
  },
  {
    what: 'Datadog: recovered from a warning',
    source: 'datadog',
    payload: { ...datadog, alert_id: '5', title: '[P1] [Recovered from Warn on {host:web-1}] Disk' },
    reads: [{ title: 'Disk', status: 'resolved', sourceSeverity: 'P1', target: 'web-1' }],
  },
  {
    what: 'Zabbix: a subject and a message alone',
    source: 'zabbix',
    payload: {
      subject: 'Problem: Load is high',
      message: 'Problem name: Load is high\r\nHost: web-1\r\nSeverity: High\r\n',
    },
    reads: [{ title: 'Load is high', status: 'firing', target: 'web-1', sourceSeverity: 'High' }],
  },
  {
    what: 'Zabbix: a subject that tells of an end',
    source: 'zabbix',
    payload: { alert_subject: 'Resolved in 5m 3s: Load is high', alert_message: 'Host: web-1' },
    reads: [{ title: 'Load is high', status: 'resolved', target: 'web-1' }],
  },
  {
    what: 'Zabbix: an update, its macros and its tags as JSON',
    source: 'zabbix',
    payload: {
      event_name: 'Updated problem in 5m: Load is high',
      event_value: '1',
      event_date: '2026.03.01',
      event_time: '11:00:00',
      event_recovery_date: '{EVENT.RECOVERY.DATE}',
      event_tags: '[{"tag":"scope","value":"performance"}]',
      host_name: '*UNKNOWN*',
      host_ip: '192.0.2.7',
      url: '{TRIGGER.URL}',
    },
    reads: [
      {
        title: 'Load is high',
        status: 'firing',
        target: '192.0.2.7',
        labels: { scope: 'performance' },
        startsAt: '2026-03-01T11:00:00.000Z',
        url: null,
      },
    ],
  },
  {
    what: 'Opsgenie: an action that a team made itself',
    source: 'opsgenie',
    payload: { action: 'Restart it', alert: { alertId: 'a', message: 'disk' } },
    reads: [],
  },
  {
    what: 'Opsgenie: an escalation that names the alert alone',
    source: 'opsgenie',
    payload: { action: 'Escalate', alert: { alertId: 'a' } },
    reads: [],
  },
  {
    what: 'Opsgenie: a number for the priority',
    source: 'opsgenie',
    payload: { action: 'Create', alert: { alertId: 'a', message: 'disk', priority: 3 } },
    reads: [{ sourceSeverity: 'P3', severity: 'warning' }],
  },
  {
    what: 'Grafana: an alert without its name and status, which its group has, with times as Go writes them',
    source: 'grafana',
    payload: {
      status: 'firing',
      title: '[FIRING:1] Memory',
      commonLabels: { alertname: 'Memory', severity: 'critical' },
      alerts: [{ labels: { a: 'b' }, startsAt: '2026-03-01 11:00:00.5 +0000 UTC m=+8.2', generatorURL: '' }],
    },
    reads: [
      {
        name: 'Memory',
        title: 'Memory',
        status: 'firing',
        sourceSeverity: 'critical',
        startsAt: '2026-03-01T11:00:00.500Z',
      },
    ],
  },
  {
    what: 'Grafana: no name but the group’s title',
    source: 'grafana',
    payload: { title: '[FIRING:1, RESOLVED:2]  (Memory)', alerts: [{ status: 'firing', labels: {} }] },
    reads: [{ title: '(Memory)' }],
  },
  {
    what: 'CloudWatch: metric math, whose first part is a formula',
    source: 'cloudwatch',
    payload: {
      AlarmName: 'errors',
      NewStateValue: 'ALARM',
      Trigger: {
        Metrics: [
          { Id: 'e', Expression: 'm/n' },
          {
            Id: 'm',
            MetricStat: {
              Metric: {
                Namespace: 'AWS/SQS',
                MetricName: 'Age',
                Dimensions: [{ name: 'QueueName', value: 'q' }],
              },
            },
          },
        ],
      },
    },
    reads: [{ target: 'q', labels: { namespace: 'AWS/SQS', metric: 'Age' } }],
  },
  {
    what: 'CloudWatch: what an alarm gives a function',
    source: 'cloudwatch',
    payload: {
      source: 'aws.cloudwatch',
      alarmArn: 'arn:aws:cloudwatch:eu-west-1:123456789012:alarm:errors',
      accountId: '123456789012',
      alarmData: {
        alarmName: 'errors',
        state: { value: 'OK', timestamp: '2026-03-01T11:00:00.000+0000' },
        configuration: {
          metrics: [
            { expression: 'm' },
            {
              metricStat: {
                metric: { namespace: 'AWS/Lambda', name: 'Errors', dimensions: { FunctionName: 'f' } },
              },
            },
          ],
        },
      },
    },
    reads: [
      {
        title: 'errors',
        status: 'resolved',
        target: 'f',
        labels: { account: '123456789012', metric: 'Errors' },
      },
    ],
  },
  {
    what: 'Uptime Kuma: a certificate that runs out',
    source: 'uptime-kuma',
    payload: {
      heartbeat: null,
      monitor: null,
      msg: '[Shop][https://shop.example.com] server certificate *.example.com will be expired in 7 days',
    },
    reads: [{ status: 'firing', severity: 'warning', target: 'Shop', url: 'https://shop.example.com' }],
  },
  {
    what: 'Uptime Kuma: a test',
    source: 'uptime-kuma',
    payload: { heartbeat: null, monitor: null, msg: 'Default Webhook Testing' },
    reads: [],
  },
  {
    what: 'Uptime Kuma: the page that is down',
    source: 'uptime-kuma',
    payload: { heartbeat: { status: 0 }, monitor: { id: 1, name: 'Shop', url: 'https://shop.example.com' } },
    reads: [{ url: 'https://shop.example.com' }],
  },
  {
    what: 'Wazuh: the worst',
    source: 'wazuh',
    payload: { rule: { id: '1', level: 15, description: 'Attack' } },
    reads: [{ severity: 'critical' }],
  },
  {
    what: 'GitHub: a check, with the branch of its suite',
    source: 'github',
    payload: {
      check_run: { id: 1, name: 'build', conclusion: 'timed_out', check_suite: { head_branch: 'main' } },
      repository: { name: 'shop', full_name: 'acme/shop' },
    },
    reads: [{ status: 'firing', labels: { branch: 'main' } }],
  },
  {
    what: 'Sentry.io: an event that has a message and no title',
    source: 'sentry-io',
    payload: { action: 'triggered', data: { event: { message: 'Cannot read x', issue_id: '1' } } },
    reads: [{ title: 'Cannot read x', status: 'firing' }],
  },
  {
    what: 'Graylog: the host among its fields',
    source: 'graylog',
    payload: {
      event_definition_title: 'Logins fail',
      event: { id: '1', key: '', fields: { host: 'web-1' } },
    },
    reads: [{ target: 'web-1' }],
  },
  {
    what: 'Argo CD: synced, and not healthy yet, which ends nothing',
    source: 'argo-cd',
    payload: { app: 'shop', phase: 'Succeeded', health: 'Progressing', startedAt: '2026-03-01T11:55:00Z' },
    reads: [],
  },
])('reads $what', async ({ source, payload, reads }) => {
  const read = await alertSource(source).read(payload, { receivedAt });
  expect(read).toMatchObject({ ok: true });
  const alerts = read.ok ? read.alerts : [];
  expect(alerts).toHaveLength(reads.length);
  expect(alerts).toMatchObject(reads);
});

test.each([
  {
    what: 'an event of Sentry.io and its issue',
    source: 'sentry-io',
    begins: { action: 'triggered', data: { event } },
    ends: { action: 'resolved', data: { issue: { ...issue, id: '163', permalink: null } } },
  },
  {
    what: 'an event of Azure’s Service Health and its end',
    source: 'azure-monitor',
    begins: azure({}, health('Active')),
    ends: azure({ alertId: 'b', originAlertId: 'two' }, health('Resolved')),
  },
  {
    what: 'Zabbix’s subjects of a beginning and its end',
    source: 'zabbix',
    begins: { subject: 'Problem: Load is high', message: 'Host: web-1' },
    ends: { subject: 'Resolved in 1h 5m: Load is high', message: 'Host: web-1' },
  },
])('$what are one problem', async ({ source, begins, ends }) => {
  const [begun, ended] = await Promise.all(
    [begins, ends].map(async (payload) => alertSource(source).read(payload, { receivedAt })),
  );
  const alerts = [begun, ended].flatMap((read) => (read?.ok ? read.alerts : []));
  expect(alerts.map(({ status }) => status)).toEqual(['firing', 'resolved']);
  expect(alerts[1]?.fingerprint).toBe(alerts[0]?.fingerprint);
});

test('an event of Sentry.io without a project’s name has it in its address', async () => {
  const read = await alertSource('sentry-io').read({ action: 'triggered', data: { event } }, { receivedAt });
  expect(read).toMatchObject({ ok: true, alerts: [{ target: 'shop-web', labels: { project: 'shop-web' } }] });
});
