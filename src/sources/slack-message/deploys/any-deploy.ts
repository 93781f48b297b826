import { plainText, withoutMarks } from '../mrkdwn.ts';
import type { DeploySender } from './deploy.ts';
import { isVersion, kindOf, personOf, readLine, stateOf } from './words.ts';

/** Further down it is the text of something else. */
const MOST_LINES = 30;
const HEADLINES = 3;

/** “*Project*: shop” as a field of CI's messages is called. */
const fields = {
  name: /^(?:service|app|application|project|repo|repository|component|system|deployment)$/i,
  environment: /^(?:environment|env|stage|target|cluster|namespace)$/i,
  version: /^(?:version|tag|release|image|revision|commit|sha|git sha|build|new version|to)$/i,
  before: /^(?:previous(?: version)?|old version|from)$/i,
  by: /^(?:by|author|user|actor|deployer|deployed by|triggered by|started by|operator|lead|who)$/i,
  status: /^(?:status|result|state|outcome)$/i,
} as const;

const headline = /\b(?:re)?deploy(?:ment|ed|ing)?\b|\broll(?:ed|ing)?[ -]?(?:out|back)\b|\breleased?\b/i;
const noHeadline =
  /\b(?:scheduled|skipped|cancell?ed|pending|waiting|approv\w*|requested|preview|dry[- ]run|planned|starting in)\b|\?/i;

/** Any app that says “X deployed Y to Z”, or so much in the fields of its message. */
export const anyDeploy: DeploySender = {
  read(_message, { titleLine, lines, url }) {
    const said = [titleLine ?? '', ...lines.slice(0, MOST_LINES)].map((line) =>
      withoutMarks(plainText(line)),
    );
    const heads = said.slice(0, HEADLINES);
    const line = heads.map(readLine).find((each) => each !== null) ?? null;
    const pairs = said.flatMap((each) => pairOf(each));
    const valueOf = (field: keyof typeof fields): string | null =>
      pairs.find(([name]) => fields[field].test(name))?.[1] ?? null;
    const head = line ? '' : (heads.find((each) => isHeadline(each)) ?? '');
    const state = line?.state ?? stateOf(`${valueOf('status') ?? ''} ${head}`);
    const name = line?.name ?? (head === '' ? null : nameIn(valueOf('name')));
    if (name === null || state === null) return null;
    const version = valueOf('version');
    return {
      sender: 'app',
      kind: line?.kind ?? kindOf(head),
      state,
      names: namesOf(name),
      environment: line?.environment ?? wordIn(valueOf('environment')),
      from: line?.from ?? wordIn(valueOf('before')),
      to: line?.to ?? (version === null ? null : versionIn(version)),
      by: line?.by ?? personOf(valueOf('by')),
      commits: [],
      url,
    };
  },
};

/** A short line that speaks of a deployment, and not of one to come. */
const isHeadline = (line: string): boolean =>
  headline.test(line) && !noHeadline.test(line) && line.split(/\s+/).length <= 8;

/** Every `name: value` of a line: fields are drawn side by side. */
function pairOf(line: string): readonly (readonly [string, string])[] {
  return line.split(/\s+[•|·]\s+/).flatMap((part) => {
    const [, name = '', value = ''] =
      /^\W{0,4}([A-Za-z][A-Za-z ]{0,24}?)\s*[:=]\s*(\S.{0,200})$/.exec(part) ?? [];
    return name === '' ? [] : [[name, value.trim()] as const];
  });
}

/** “acme/shop” is also called shop. */
export const namesOf = (name: string): readonly string[] => {
  const last = name.split('/').at(-1) ?? name;
  return last === name ? [name] : [last, name];
};

const nameIn = (value: string | null): string | null =>
  /^@?[A-Za-z0-9][\w./-]{0,99}(?=$|[\s(])/.exec(value ?? '')?.[0] ?? null;

const wordIn = (value: string | null): string | null => /^[\w./-]{1,100}/.exec(value ?? '')?.[0] ?? null;

/** “registry.example.com/shop-api:1.4.2”, “4f2a91c Checkout keeps it”: the version in it. */
function versionIn(value: string): string | null {
  const [first = ''] = value.split(/[\s(]/, 1);
  const tag = /:([\w][\w.-]{0,127})$/.exec(first)?.[1] ?? first;
  return isVersion(tag) || /^[\w][\w./+-]{0,127}$/.test(tag) ? tag : null;
}
