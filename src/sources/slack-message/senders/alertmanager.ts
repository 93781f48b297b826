import { clip } from '../../../core/clip.ts';
import { listedIn } from '../listed.ts';
import { pairsOf } from '../pairs.ts';
import type { Sender } from '../sender.ts';
import { countedIn, readTemplate, templateStatus } from '../template.ts';

/** The default fallback: the default title, whatever title was configured, and a link to Alertmanager's own page. */
const fallback = /^(\[(?:FIRING:\d+|RESOLVED)\][^]*?)\s+\|\s+<?https?:\/\/[^\s|>]*\/#\/alerts\b/;

/** It is a title and a link. */
const FALLBACK = 4_000;

/** Alertmanager's Slack receiver (0.15 to 0.32: template/default.tmpl), and whatever titles its messages like it. */
export const alertmanager: Sender = {
  read(message, { titleLine, lines, everyLine }) {
    const attachment = message.attachments?.find(({ title, fallback: spare }) => title || spare);
    const shown = attachment?.title ?? titleLine ?? '';
    const known = fallback.exec(clip(attachment?.fallback ?? '', FALLBACK))?.[1];
    const title = templateStatus(shown) === null ? known : shown;
    if (title === undefined) return null;
    const { status: _status, ...labels } = pairsOf([titleLine ?? '', ...lines]).labels;
    const { annotations } = pairsOf([titleLine ?? '', ...lines]);
    const reading = readTemplate(known ?? title, {
      labels,
      annotations,
      certain: known !== undefined,
      whole: false,
    });
    const { count, status } = countedIn(title);
    return reading && { ...reading, listed: listedIn(everyLine, count, status) };
  },
};
