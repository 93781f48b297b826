import { clip } from '../../core/clip.ts';
import { badInput } from '../bad-input.ts';
import { fingerprintOf } from '../fingerprint.ts';
import type { AlertSource } from '../ports.ts';
import { ContainerEvent } from './schema.ts';

/** What each event is as an alert. The end of being unhealthy is told; a container that died may be started by anybody. */
const alerts = {
  died: { name: 'ContainerDied', severity: 'error', says: 'died' },
  out_of_memory: { name: 'ContainerOOMKilled', severity: 'error', says: 'ran out of memory' },
  unhealthy: { name: 'ContainerUnhealthy', severity: 'warning', says: 'is unhealthy' },
  healthy: { name: 'ContainerUnhealthy', severity: 'warning', says: 'is healthy again' },
} as const;

/** What Docker and Podman tell of their containers; of targets with `watch: true`. */
export const containerEvents = {
  name: 'container-events',
  title: 'Container engine',
  payload: 'an event of a container that Sentry watches',
  arrives: 'watch',
  sendsEnds: false,
  partialLabels: false,
  read(payload) {
    const parsed = ContainerEvent.safeParse(payload);
    if (!parsed.success) return badInput(parsed.error);
    const told = parsed.data;
    const { name, severity, says } = alerts[told.event];
    const labels = {
      alertname: name,
      target: told.target,
      container: told.container,
      container_runtime: told.runtime,
      ...(told.service ? { service: told.service } : {}),
    };
    const at = new Date(told.at).toISOString();
    const code = told.exit_code == null ? '' : ` (exit code ${told.exit_code})`;
    return {
      ok: true,
      alerts: [
        {
          source: 'container-events',
          status: told.event === 'healthy' ? 'resolved' : 'firing',
          name,
          title: clip(`${told.container} ${says}${code}`, 300),
          severity,
          sourceSeverity: null,
          labels,
          annotations: told.image ? { image: told.image } : {},
          target: told.target,
          fingerprint: fingerprintOf(name, labels),
          deliveryKey: ['container-events', told.target, told.container_id, told.event, at].join(':'),
          startsAt: at,
          endsAt: told.event === 'healthy' ? at : null,
          url: null,
        },
      ],
    };
  },
} satisfies AlertSource;
