import type { Sender } from './sender.ts';
import { alertmanager } from './senders/alertmanager.ts';
import { anyApp, everyMessage } from './senders/any-app.ts';
import { checkmk } from './senders/checkmk.ts';
import { grafana } from './senders/grafana.ts';
import { linkedSender } from './senders/linked.ts';
import { robusta } from './senders/robusta.ts';
import { sentenceSender } from './senders/sentences.ts';
import { uptimeKuma } from './senders/uptime-kuma.ts';

/** Who is known by the shape of what they post, the most particular first. */
export const senders: readonly Sender[] = [
  uptimeKuma,
  robusta,
  checkmk,
  grafana,
  alertmanager,
  sentenceSender,
  linkedSender,
  anyApp,
];

/** The same where every message of another app is an alert. */
export const sendersOfAll: readonly Sender[] = [...senders, everyMessage];
