import { mappedFixtures } from './mapped.ts';

// An alarm as https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Notify_Users_Alarm_Changes.html describes it.
const alarm = {
  AlarmName: 'orders-db CPU',
  AlarmDescription: 'CPU of orders-db over 90 % for 5 minutes',
  AWSAccountId: '123456789012',
  NewStateValue: 'ALARM',
  NewStateReason: 'Threshold Crossed: 1 datapoint [97.2] was greater than the threshold (90.0).',
  StateChangeTime: '2026-03-01T11:58:00.123+0000',
  Region: 'EU (Ireland)',
  AlarmArn: 'arn:aws:cloudwatch:eu-west-1:123456789012:alarm:orders-db CPU',
  OldStateValue: 'OK',
  Trigger: {
    MetricName: 'CPUUtilization',
    Namespace: 'AWS/RDS',
    Statistic: 'AVERAGE',
    Dimensions: [{ value: 'orders-db', name: 'DBInstanceIdentifier' }],
    Period: 300,
    Threshold: 90,
  },
};

export const fixtures = mappedFixtures({
  firing: alarm,
  alert: {
    name: 'orders-db CPU',
    title: 'orders-db CPU',
    severity: 'unknown',
    sourceSeverity: null,
    target: 'orders-db',
    startsAt: '2026-03-01T11:58:00.123Z',
    labels: {
      DBInstanceIdentifier: 'orders-db',
      alarm: 'orders-db CPU',
      region: 'eu-west-1',
      account: '123456789012',
      namespace: 'AWS/RDS',
      metric: 'CPUUtilization',
    },
    url: 'https://console.aws.amazon.com/cloudwatch/home?region=eu-west-1#alarmsV2:alarm/orders-db%20CPU',
  },
  resolved: { NewStateValue: 'OK', OldStateValue: 'ALARM', StateChangeTime: '2026-03-01T12:08:00.123+0000' },
  otherThing: {
    AlarmArn: 'arn:aws:cloudwatch:us-east-1:123456789012:alarm:orders-db CPU',
  },
  words: ['NewStateValue'],
});
