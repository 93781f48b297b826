import { fixtures as cloudwatch } from '../contract/sources/cloudwatch.ts';
import { fixtures as datadog } from '../contract/sources/datadog.ts';
import { fixtures as gcp } from '../contract/sources/gcp-monitoring.ts';
import { fixtures as newRelic } from '../contract/sources/new-relic.ts';
import { fixtures as opsgenie } from '../contract/sources/opsgenie.ts';
import { fixtures as pagerduty } from '../contract/sources/pagerduty.ts';
import { fixtures as sentryIo } from '../contract/sources/sentry-io.ts';
import { fixtures as zabbix } from '../contract/sources/zabbix.ts';

const section = (text: string, fields: readonly string[] = []) => ({
  type: 'section',
  text: { type: 'mrkdwn', text },
  ...(fields.length === 0 ? {} : { fields: fields.map((field) => ({ type: 'mrkdwn', text: field })) }),
});
const button = (url: string) => ({
  type: 'actions',
  elements: [{ type: 'button', text: { type: 'plain_text', text: 'View' }, url }],
});

const by = (app: string) => ({ bot_profile: { name: app } });

/** Synthetic: written after the apps' messages, not recorded. */
export const ofOneFingerprint = {
  pagerduty: {
    webhook: pagerduty,
    firing: {
      ...by('PagerDuty'),
      attachments: [
        {
          color: '#d9534f',
          blocks: [
            section(
              ':large_red_circle: *<https://example.pagerduty.com/incidents/PGR0VU2|[#2] Checkout is slow>*',
              ['*Service:*\n<https://example.pagerduty.com/services/PF9KMXH|checkout>', '*Urgency:*\nHigh'],
            ),
          ],
        },
      ],
    },
    resolved: {
      ...by('PagerDuty'),
      attachments: [
        {
          color: '#5cb85c',
          blocks: [
            section('*Resolved:* <https://example.pagerduty.com/incidents/PGR0VU2|[#2] Checkout is slow>', [
              '*Service:*\ncheckout',
            ]),
          ],
        },
      ],
    },
    alert: { title: 'Checkout is slow', labels: { service: 'checkout' }, target: 'checkout' },
  },
  opsgenie: {
    webhook: opsgenie,
    firing: {
      ...by('Opsgenie'),
      attachments: [
        {
          color: '#ff0000',
          title: '[Opsgenie] #3: The disk is full',
          title_link: 'https://app.opsgenie.com/alert/detail/052652ac-5d1c-464a-812a-7dd18bbfba8c/details',
          fields: [
            { title: 'Priority', value: 'P1' },
            { title: 'Tags', value: 'env:prod' },
          ],
        },
      ],
    },
    resolved: {
      ...by('Opsgenie'),
      attachments: [
        {
          pretext: 'Ann closed alert #3 "The disk is full"',
          title: '#3: The disk is full',
          title_link: 'https://app.opsgenie.com/alert/detail/052652ac-5d1c-464a-812a-7dd18bbfba8c/details',
        },
      ],
    },
    alert: { severity: 'critical', labels: { priority: 'P1', env: 'prod' } },
  },
  'sentry-io': {
    webhook: sentryIo,
    firing: {
      ...by('Sentry'),
      blocks: [
        section(
          ':red_circle: <https://shop.sentry.io/issues/1170820242/?referrer=slack|*TypeError: Object [object Object] has no method updateFrom*>\nsrc/checkout.js in pay',
        ),
      ],
    },
    resolved: {
      ...by('Sentry'),
      blocks: [
        section(
          'Issue *resolved* by Ann: <https://shop.sentry.io/issues/1170820242/|*TypeError: Object [object Object] has no method updateFrom*>',
        ),
      ],
    },
    alert: { title: 'TypeError: Object [object Object] has no method updateFrom' },
  },
  'gcp-monitoring': {
    webhook: gcp,
    firing: {
      ...by('Google Cloud Monitoring'),
      blocks: [
        { type: 'header', text: { type: 'plain_text', text: 'Alert firing' } },
        section(
          '<https://console.cloud.google.com/monitoring/alerting/alerts/0.n2x4k1?project=shop-prod|VM instance - CPU utilization>',
        ),
      ],
    },
    resolved: {
      ...by('Google Cloud Monitoring'),
      blocks: [
        { type: 'header', text: { type: 'plain_text', text: 'Alert recovered' } },
        section('VM instance - CPU utilization'),
        button('https://console.cloud.google.com/monitoring/alerting/alerts/0.n2x4k1?project=shop-prod'),
      ],
    },
    alert: { title: 'VM instance - CPU utilization' },
  },
  'new-relic': {
    webhook: newRelic,
    firing: {
      ...by('New Relic'),
      attachments: [
        {
          color: '#df2d24',
          title: 'Disk used',
          title_link:
            'https://one.newrelic.com/nr1-core/issues/bfa4bd2d-2e1d-4c3a-8b0f-0f2a4c4b8f10?account=1',
          fields: [{ title: 'Priority', value: 'Critical' }],
        },
      ],
    },
    resolved: {
      ...by('New Relic'),
      attachments: [
        {
          pretext: 'Issue closed',
          title: 'Disk used',
          title_link:
            'https://one.newrelic.com/nr1-core/issues/bfa4bd2d-2e1d-4c3a-8b0f-0f2a4c4b8f10?account=1',
        },
      ],
    },
    alert: { severity: 'critical', title: 'Disk used' },
  },
  cloudwatch: {
    webhook: cloudwatch,
    firing: {
      ...by('Amazon Q Developer'),
      attachments: [
        {
          color: 'danger',
          blocks: [
            section(
              ':rotating_light: *<https://console.aws.amazon.com/cloudwatch/home?region=eu-west-1#alarmsV2:alarm/orders-db%20CPU|CloudWatch Alarm | orders-db CPU | eu-west-1 | Account: 123456789012>*',
            ),
          ],
        },
      ],
    },
    resolved: {
      ...by('Amazon Q Developer'),
      text: '*OK: CloudWatch Alarm | orders-db CPU | eu-west-1 | Account: 123456789012*',
    },
    alert: {
      title: 'orders-db CPU',
      labels: { alarm: 'orders-db CPU', region: 'eu-west-1', account: '123456789012' },
    },
  },
} as const;

/** Their links tell the monitor only. Synthetic as well. */
export const ofOneName = {
  datadog: {
    webhook: datadog,
    firing: {
      attachments: [
        {
          color: '#a30200',
          title: '[P2] [Triggered on {host:shop-db,env:prod}] Replication lags',
          title_link: 'https://app.datadoghq.com/monitors/1234?group=host%3Ashop-db',
          text: 'The replica is 90 s behind.',
        },
      ],
    },
    resolved: {
      attachments: [
        {
          title: 'Recovered: Replication lags on host:shop-db,env:prod',
          title_link: 'https://app.datadoghq.com/monitors#1234',
        },
      ],
    },
  },
  zabbix: {
    webhook: zabbix,
    firing: {
      attachments: [
        {
          color: '#E97659',
          title: 'Problem: Zabbix agent is unreachable for 5 minutes',
          title_link: 'https://zabbix.example.com/tr_events.php?triggerid=14032&eventid=10528',
          fields: [
            { title: 'Host', value: 'shop-db [192.0.2.7]' },
            { title: 'Severity', value: 'High' },
            { title: 'Event tags', value: '`env: prod`' },
          ],
        },
      ],
    },
    resolved: {
      attachments: [
        {
          title: 'Resolved in 5m 0s: Zabbix agent is unreachable for 5 minutes',
          title_link: 'https://zabbix.example.com/tr_events.php?triggerid=14032&eventid=10528',
          fields: [
            { title: 'Host', value: 'shop-db [192.0.2.7]' },
            { title: 'Event tags', value: '`env: prod`' },
          ],
        },
      ],
    },
  },
} as const;
