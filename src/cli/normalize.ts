import { Command } from 'commander';
import { z } from 'zod';
import type { Alert } from '../core/alert.ts';
import type { AlertSource } from '../sources/ports.ts';
import { parseAlerts, readText, sourceNamed, sourceOption } from './read-alerts.ts';

const Sample = z.object({ id: z.union([z.string(), z.number()]), payload: z.unknown() });
type Sample = z.infer<typeof Sample>;

export const normalizeCommand = new Command('normalize')
  .description('Print the alerts and changes that Sentry reads in a payload, as JSON. Nothing is stored.')
  .argument('[file]', 'a JSON file, or one whose lines are {"id", "payload"}; - for standard input', '-')
  .addOption(sourceOption)
  .action(async (file: string, { source }: { readonly source: string }) => {
    const text = readText(file);
    const samples = samplesOf(text);
    if (samples === null)
      process.stdout.write(`${JSON.stringify(await parseAlerts(text, file, source), null, 2)}\n`);
    else {
      const reader = sourceNamed(source);
      for (const sample of samples)
        process.stdout.write(`${JSON.stringify(await readSample(sample, reader))}\n`);
    }
  });

/** Null: the text is not lines of samples. */
function samplesOf(text: string): readonly Sample[] | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  try {
    return lines.length === 0 ? null : lines.map((line) => Sample.parse(JSON.parse(line)));
  } catch {
    return null;
  }
}

/** One line of the answer: the alerts of a sample, or what is wrong with it. */
async function readSample({ id, payload }: Sample, source: AlertSource): Promise<object> {
  const read = await source.read(payload, { receivedAt: new Date() });
  if (!read.ok) return { id, alerts: [], refused: [{ field: read.field, reason: read.reason }] };
  const refused = (read.refused ?? []).map(({ field, reason }) => ({ field, reason }));
  const { changes = [] } = read;
  return {
    id,
    alerts: read.alerts.map(inShort),
    ...(changes.length > 0 ? { changes } : {}),
    ...(refused.length > 0 ? { refused } : {}),
  };
}

/** What tells alerts apart, with the sender's own word for the severity. */
function inShort(alert: Alert): object {
  const { title, sourceSeverity, severity, status, target, labels, fingerprint, startsAt, url } = alert;
  const service = labels['service'] ?? labels['service_name'] ?? null;
  return {
    title,
    severity: sourceSeverity ?? severity,
    status,
    target,
    service,
    labels,
    fingerprint,
    startsAt,
    url,
  };
}
