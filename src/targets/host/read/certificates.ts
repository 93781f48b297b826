import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { measureAt, numberAt } from '../../../core/measure.ts';
import type { ToolContext } from '../../../tools/define.ts';
import { more, table } from '../../format.ts';
import type { Host } from '../system.ts';
import { hostTool } from '../tool.ts';
import { hostPath, pathRule, rootedPathsOf } from './host-path.ts';

const DAY_MS = 86_400_000;
/** A certificate and what it was issued by are some KiB; a system's bundle of authorities is no certificate of a service. */
const MOST_FILES = 100;
const MOST_BYTES = 64 * 1024;

/**
 * Certificates in files (`.crt`, `.cer`, `.cert`; those with keys are out of bounds). Data: `{ certificates: [{ path,
 * subject, names, valid_until, days_left, days_until_valid, is_authority }], count, fewest_days_left, complete }`, the
 * first to expire first; of each file the first certificate, which is the service's own.
 */
export const certificates = hostTool.read({
  name: 'certificates',
  description:
    'Certificates in the folders of the host (.crt, .cer, .cert), whom they are for and how many days they are still valid. A service may have loaded an older one.',
  kind: 'read',
  measures: [
    measureAt('fewest_days_left', {
      name: 'fewest_days_left',
      label: 'days until the first certificate expires',
      well: 'the first certificate expires in {bound}',
      unit: 'days',
      healthy: 'at_least',
      bound: 14,
      isPartial: (data) => numberAt(data, 'complete') === 0,
    }),
  ],
  input: z.strictObject({ path: hostPath.optional() }),
  timeoutMs: 20_000,
  rules: (context, { path }) => (path === undefined ? undefined : pathRule(context, path)),
  async run(context, { path }) {
    const { found, complete } = await look(context, path);
    const sorted = found.toSorted((a, b) => a.days_left - b.days_left);
    const own = sorted.filter((one) => !one.is_authority);
    return {
      text:
        [
          ...table(
            ['file', 'for', 'valid until', 'days left'],
            sorted
              .slice(0, 30)
              .map((one) => [
                one.path,
                [...new Set([one.subject, ...one.names])].join(', ').slice(0, 200),
                one.valid_until,
                one.days_left,
              ]),
          ),
          ...more(sorted.length, 30),
        ].join('\n') || 'There is no certificate in the folders that may be read.',
      data: {
        certificates: sorted.slice(0, 30),
        count: sorted.length,
        fewest_days_left: own[0]?.days_left ?? null,
        complete,
      },
    };
  },
});

async function look(context: ToolContext<Host>, path: string | undefined) {
  const { access } = context.system;
  const found: NonNullable<ReturnType<typeof read>>[] = [];
  let complete = true;
  for (const place of await rootedPathsOf(context, path)) {
    const walk = await access.walk(place.root.path, place.path, { signal: context.signal });
    complete &&= walk.ok && walk.complete;
    const files = walk.ok ? walk.files.filter(({ relative }) => /\.(?:crt|cer|cert)$/iu.test(relative)) : [];
    complete &&= files.length <= MOST_FILES;
    for (const { relative } of files.slice(0, MOST_FILES)) {
      const content = await access.read(place.root.path, relative, { maxBytes: MOST_BYTES });
      complete &&= content.ok;
      if (!content.ok || content.kind !== 'text') continue;
      const certificate = read(content.text, join(place.root.path, relative));
      if (certificate) found.push(certificate);
    }
  }
  return { found, complete };
}

/** Undefined where it holds none. */
function read(text: string, path: string) {
  const [pem] = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(text) ?? [];
  if (pem === undefined) return undefined;
  try {
    const certificate = new X509Certificate(pem);
    const days = (date: string): number => Math.floor((Date.parse(date) - Date.now()) / DAY_MS);
    return {
      path,
      subject: /(?:^|\n)CN=(.*)/.exec(certificate.subject)?.[1] ?? certificate.subject.replaceAll('\n', ', '),
      names: (certificate.subjectAltName ?? '')
        .split(', ')
        .flatMap((name) => /^DNS:(.+)$/.exec(name)?.[1] ?? []),
      valid_until: new Date(certificate.validTo).toISOString().slice(0, 10),
      days_left: days(certificate.validTo),
      days_until_valid: Math.max(0, Math.ceil((Date.parse(certificate.validFrom) - Date.now()) / DAY_MS)),
      is_authority: certificate.ca,
    };
  } catch {
    return undefined;
  }
}
