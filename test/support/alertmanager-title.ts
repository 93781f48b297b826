/** The default title of Alertmanager's Slack receiver (`__subject` of template/default.tmpl), of a group of one alert. */
export function alertmanagerTitle(
  labels: Readonly<Record<string, string>>,
  groupBy: readonly string[],
  mark = 'FIRING:1',
): string {
  const sorted = Object.entries(labels).toSorted(
    ([a], [b]) => Number(b === 'alertname') - Number(a === 'alertname') || (a < b ? -1 : 1),
  );
  const group = sorted.filter(([label]) => groupBy.includes(label)).map(([, value]) => value);
  const others = sorted.filter(([label]) => !groupBy.includes(label)).map(([, value]) => value);
  return `[${mark}] ${group.join(' ')} ${others.length > 0 ? `(${others.join(' ')})` : ''}`;
}

/** What its Slack receiver posts (notify/slack/slack.go), everything by default. */
export function alertmanagerMessage(
  labels: Readonly<Record<string, string>>,
  groupBy: readonly string[],
  mark = 'FIRING:1',
): object {
  const title = alertmanagerTitle(labels, groupBy, mark);
  const link = 'http://alertmanager.example:9093/#/alerts?receiver=slack';
  return {
    text: '',
    username: 'AlertManager',
    attachments: [
      {
        title,
        title_link: link,
        text: '',
        fallback: `${title} | ${link}`,
        color: mark.startsWith('FIRING') ? 'danger' : 'good',
        mrkdwn_in: ['fallback', 'pretext', 'text'],
      },
    ],
  };
}
