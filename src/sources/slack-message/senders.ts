import type { Sender } from './sender.ts';
import { alertmanager } from './senders/alertmanager.ts';
import { anyApp } from './senders/any-app.ts';
import { grafana } from './senders/grafana.ts';
import { robusta } from './senders/robusta.ts';
import { uptimeKuma } from './senders/uptime-kuma.ts';

/** Who is known by the shape of what they post, the most particular first. */
export const senders: readonly Sender[] = [uptimeKuma, robusta, grafana, alertmanager, anyApp];
