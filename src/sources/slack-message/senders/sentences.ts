import { clip } from '../../../core/clip.ts';
import { plainText, withoutMarks } from '../mrkdwn.ts';
import type { Sender } from '../sender.ts';

/** Who tells of an alert in one sentence, the same words every time. A name that is not there is `rule`. */
const sentences: readonly {
  readonly says: RegExp;
  readonly link?: RegExp;
  /** Only where it is the whole of a text: among others a line like it may be of anything. */
  readonly alone?: true;
  readonly rule?: string;
  /** By the words of the sentence, in lower case. */
  readonly severity?: Readonly<Record<string, string>>;
}[] = [
  // CloudWatch, by the functions that hand on what SNS tells.
  { says: /^(?<name>\S.{0,255}?) state is now (?<status>OK|ALARM)\b/ },
  { says: /^(?<status>OK|ALARM): "(?<name>[^"]{1,255})" in [\w ().-]{1,60}$/ },
  // Azure Monitor, by a Logic App or its mail.
  {
    says: /^(?<status>Fired|Resolved|Activated|Deactivated): ?(?<severity>Sev[0-4]) Azure Monitor Alert (?<name>.{1,255}?) on (?<target>[\w.-]{1,100}) \(/i,
    severity: { sev0: 'critical', sev1: 'error', sev2: 'warning', sev3: 'info', sev4: 'info' },
  },
  {
    says: /^Azure Alert - '(?<name>[^']{1,255})' (?<status>Fired|Resolved) on '(?<target>[^']{1,100})'\. Severity: (?<severity>Sev[0-4])/i,
    severity: { sev0: 'critical', sev1: 'error', sev2: 'warning', sev3: 'info', sev4: 'info' },
  },
  {
    says: /^(?!(?:monitor condition|(?:current |new )?state|status):)(?<name>[^:]{1,255}): (?<status>Fired|Resolved)$/i,
    alone: true,
  },
  // Argo CD (notifications_catalog): what succeeded or began is a change, and no alert.
  {
    says: /^Application (?<target>[\w.-]{1,253}) has (?<status>degraded)\b/,
    rule: 'ArgoCDSync',
    severity: { degraded: 'error' },
  },
  {
    says: /^The sync operation of application (?<target>[\w.-]{1,253}) has (?<status>failed)\b/,
    rule: 'ArgoCDSync',
    severity: { failed: 'error' },
  },
  {
    says: /^Application (?<target>[\w.-]{1,253}) sync is '(?<status>Unknown)'/,
    rule: 'ArgoCDSync',
    severity: { unknown: 'error' },
  },
  {
    says: /^(?:Check )?["'‘]?(?<name>[^"]{1,200}?)["'’]? (?:has |is )?(?<status>failed|failing|degraded|recovered)$/,
    link: /\bchecklyhq\.com\/checks\//,
    severity: { failed: 'critical', failing: 'critical', degraded: 'warning' },
  },
  // GitHub Actions. What succeeds does not tell the branch, so it ends nothing.
  {
    says: /^(?:Workflow run )?(?<name>.{1,100}?)(?: #\d{1,9})?(?: workflow run)? (?<status>failed)\b/,
    link: /\bgithub\.com\/[\w.-]{1,100}\/(?<target>[\w.-]{1,100})\/actions\/runs\//,
    severity: { failed: 'error' },
  },
  // StatusCake.
  {
    says: /^(?:Website \| )?Your (?:site|website) '?(?<name>[^'(]{1,200}?)'? (?:\([^)]{1,500}\) )?(?:is|went) (?<status>down|up)\b/i,
    severity: { down: 'critical' },
  },
  {
    says: /^Test: (?<name>[^|]{1,200}?) \| Status: (?<status>Down|Up)\b/i,
    severity: { down: 'critical' },
  },
];

const MOST_LINES = 40;
const LINE = 1_000;

export const sentenceSender: Sender = {
  read(_message, { raw, links, url }) {
    const lines = raw.flatMap((text) => plainText(text).split('\n')).slice(0, MOST_LINES);
    const linked = [...raw, ...links, url ?? ''];
    const plain = (line: string) => withoutMarks(clip(line, LINE)).replace(/^[^\p{L}\p{N}"]+/u, '');
    const texts = raw.map((text) => plain(plainText(text).trim()));
    for (const line of lines.map(plain))
      for (const { says, link, alone, rule, severity } of sentences) {
        if (alone && !texts.includes(line)) continue;
        const said = says.exec(line)?.groups;
        const found = link && linked.map((each) => link.exec(each)).find((match) => match !== null);
        if (!said || (link && !found)) continue;
        const { name = rule ?? '', status = '', target = found?.groups?.['target'] } = said;
        return {
          status: /^(?:ok|resolved|deactivated|recovered|up)$/i.test(status) ? 'resolved' : 'firing',
          name,
          title: rule && target ? `${target}: ${status.toLowerCase()}` : name,
          severity: severity?.[(said['severity'] ?? status).toLowerCase()] ?? null,
          labels: target === undefined ? {} : { target },
          annotations: { summary: line },
          values: target === undefined ? [name] : [],
          identity: { name, words: [] },
        };
      }
    return null;
  },
};
