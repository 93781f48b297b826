import { plainText } from '../mrkdwn.ts';
import type { Sender } from '../sender.ts';

/** `[monitor's name] [🔴 Down] what it got`, in every version; a monitor's name may hold brackets itself. */
const beat = /^\s*\[(.+?)\]\s+\[[^\][\w]*(Down|Up)\]\s*(.*)$/s;

/**
 * Uptime Kuma (server/notification-providers/slack.js, 1.x and 2.x). Its header is the same for every monitor, or the
 * monitor's name; what happened stands under “Message”. A monitor is itself: its name, and its number where a link tells it.
 */
export const uptimeKuma: Sender = {
  read(_message, { raw, links }) {
    for (const text of raw) {
      const line = plainText(text).replace(/^(?:\*Message\*|Uptime Kuma Alert)\n/, '');
      const [, monitor = '', state, said = ''] = beat.exec(line) ?? [];
      if (state === undefined) continue;
      const down = state === 'Down';
      const id = links.map((link) => /\/dashboard\/(\d+)\/?$/.exec(link)?.[1]).find(Boolean);
      const site = links.find((link) => !/\/dashboard\/\d+\/?$/.test(link));
      return {
        status: down ? 'firing' : 'resolved',
        name: null,
        title: `${monitor} is ${down ? 'down' : 'up'}`,
        severity: down ? 'down' : null,
        labels: { target: monitor },
        annotations: {
          summary: said.trim(),
          ...(site === undefined ? {} : { site }),
        },
        values: [...monitor.split(/\s+/), ...hostOf(site)],
        identity: { name: 'Uptime Kuma', words: id === undefined ? [monitor] : [monitor, id] },
      };
    }
    return null;
  },
};

function hostOf(site: string | undefined): readonly string[] {
  return site !== undefined && URL.canParse(site) ? [new URL(site).hostname] : [];
}
