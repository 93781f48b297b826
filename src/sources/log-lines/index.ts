import { clip } from '../../core/clip.ts';
import { sha256 } from '../../safety/sha256.ts';
import { badInput } from '../bad-input.ts';
import { fingerprintOf } from '../fingerprint.ts';
import type { AlertSource } from '../ports.ts';
import { LogLines } from './schema.ts';

/** More of a stack trace than anybody reads in a message. */
const MAX_LINE = 4_000;

/** Lines of watched logs that a pattern fits; of hosts with `watch`. Nobody tells when they end. */
export const logLines = {
  name: 'log-lines',
  title: 'Watched log',
  payload: 'lines of a log that Sentry watches',
  arrives: 'watch',
  sendsEnds: false,
  partialLabels: false,
  read(payload) {
    const parsed = LogLines.safeParse(payload);
    if (!parsed.success) return badInput(parsed.error);
    const { target, log, pattern: name, severity, shape, line, lines, reading } = parsed.data;
    const from = new Date(parsed.data.from).toISOString();
    const to = new Date(parsed.data.to).toISOString();
    const labels = { alertname: name, target, log };
    const fingerprint = fingerprintOf(name, labels, [shape]);
    const [first = ''] = line.trim().split('\n');
    return {
      ok: true,
      alerts: [
        {
          source: 'log-lines',
          status: 'firing',
          name,
          title: clip(`${name} in ${log.split('/').at(-1) ?? log}: ${first}`, 300),
          severity,
          sourceSeverity: null,
          labels,
          annotations: { line: clip(line, MAX_LINE), lines: String(lines), from, to },
          target,
          fingerprint,
          deliveryKey: ['log-lines', reading, fingerprint].join(':'),
          startsAt: from,
          endsAt: null,
          url: null,
          // Two messages of one log are two problems, though their labels are the same.
          apart: [`message ${sha256(shape).slice(0, 12)}`],
        },
      ],
    };
  },
} satisfies AlertSource;
