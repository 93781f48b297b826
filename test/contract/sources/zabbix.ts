import { mappedFixtures } from './mapped.ts';

/** With the script of docs/alert-sources.md. */
export const fixtures = mappedFixtures({
  firing: {
    event_id: '10528',
    trigger_id: '14032',
    event_value: '1',
    event_name: 'Problem: Zabbix agent is unreachable for 5 minutes',
    event_severity: 'High',
    host_name: 'shop-db',
    host_ip: '192.0.2.7',
    message: 'Agent ping is Up (1)',
    tags: 'env:prod',
    url: 'https://zabbix.example.com/tr_events.php?triggerid=14032&eventid=10528',
  },
  alert: {
    name: 'Zabbix agent is unreachable for 5 minutes',
    title: 'Zabbix agent is unreachable for 5 minutes',
    severity: 'error',
    target: 'shop-db',
    labels: { env: 'prod', host: 'shop-db' },
  },
  resolved: { event_value: '0', event_name: 'Resolved in 5m 0s: Zabbix agent is unreachable for 5 minutes' },
  otherThing: { host_name: 'other-db', trigger_id: '14033' },
  words: ['event_value'],
});
