import { pairsOf } from '../pairs.ts';
import type { Sender } from '../sender.ts';
import { readTemplate, templateStatus } from '../template.ts';

/** The default fallback: the default title, whatever title was configured, and a link to Alertmanager's own page. */
const fallback = /^(\[(?:FIRING:\d+|RESOLVED)\][^]*?)\s+\|\s+<?https?:\/\/[^\s|>]*\/#\/alerts\b/;

/** Alertmanager's Slack receiver (0.15 to 0.32: template/default.tmpl), and whatever titles its messages like it. */
export const alertmanager: Sender = {
  read(message, { titleLine, lines }) {
    const attachment = message.attachments?.find(({ title, fallback: spare }) => title || spare);
    const shown = attachment?.title ?? titleLine ?? '';
    const known = fallback.exec(attachment?.fallback ?? '')?.[1];
    const title = templateStatus(shown) === null ? known : shown;
    if (title === undefined) return null;
    const { status: _status, ...labels } = pairsOf([titleLine ?? '', ...lines]).labels;
    const { annotations } = pairsOf([titleLine ?? '', ...lines]);
    return readTemplate(known ?? title, { labels, annotations, certain: known !== undefined, whole: false });
  },
};
