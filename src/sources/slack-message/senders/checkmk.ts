import { plainText } from '../mrkdwn.ts';
import type { Sender } from '../sender.ts';

const title = /^(?:Host|Service) (problem|recovery) notification$/i;
const host = /^Host: (\S+)/m;
const service = /^Service: (.+)$/m;
const state = /^State: (\w+)/m;

/** Checkmk's Slack notification: its title tells host or service and what became of it; which one, the text below. */
export const checkmk: Sender = {
  read({ attachments }) {
    const attachment = attachments?.find((each) => title.test(each.title ?? ''));
    const body = plainText(attachment?.text ?? '');
    const [, at] = host.exec(body) ?? [];
    if (!attachment || at === undefined) return null;
    const what = service.exec(body)?.[1]?.trim();
    const output = attachments?.find((each) => each !== attachment)?.text?.split('\n', 1)[0] ?? '';
    const name = what ?? 'Host';
    return {
      status: /recovery/i.test(attachment.title ?? '') ? 'resolved' : 'firing',
      name,
      title: what === undefined ? `Host ${at}` : `${what} on ${at}`,
      severity: state.exec(body)?.[1] ?? null,
      labels: { host: at, ...(what === undefined ? {} : { service: what }) },
      annotations: output === '' ? {} : { summary: output },
      values: [],
      identity: { name, words: [] },
    };
  },
};
