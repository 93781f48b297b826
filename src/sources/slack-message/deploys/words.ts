import type { ChangeKind, ChangeState } from '../../../core/change.ts';

/** What a line says was deployed, and how far it is. */
export interface ToldLine {
  readonly kind: ChangeKind;
  readonly state: ChangeState | null;
  readonly name: string | null;
  readonly from: string | null;
  readonly to: string | null;
  readonly environment: string | null;
  readonly by: string | null;
}

/** Longer than any headline: what stands further along is a sentence about something else. */
const LINE = 300;

const VERSION = String.raw`(?:v(?:ersion)? ?\.?)?\d+(?:\.\d+)+[\w.+-]*|v\d[\w.+-]*|(?=[a-f]*\d)[0-9a-f]{7,64}|r\d{2,}|#\d+`;
const NAME = String.raw`(?!(?:to|on|in|into|by|from|for|of|at|the|a|an|and|is|was|has|as|now|new|again|all|version|successfully)\b)@?[A-Za-z0-9][\w./-]{0,99}`;
const THING = String.raw`(?:(?:the )?(?:application|app|service|project|component|package|chart|image|release|rollout) )?`;
const ADVERB = String.raw`(?:(?:has|have|just|is|was|been|successfully|now|automatically|started|finished|completed|failed|error|when|to) )*`;
const DONE =
  'deployed|redeployed|released|shipped|rolled out|rolled back|reverted|promoted|upgraded|deploying|redeploying|releasing|shipping|rolling out|rolling back|reverting|promoting|upgrading|deploy|roll back';
const NOUN = 'deploy|deployment|redeployment|release|roll-?out|roll-?back';
const STATE =
  'started|starting|begun|running|in progress|succeeded|success|successful|finished|completed|complete|done|ready|passed|failed|failure|errored|timed out';

const pattern = (text: string): RegExp => new RegExp(text, 'iu');

/** How bots say it, the whole line each: a sentence that goes on tells of something else. */
const forms: readonly RegExp[] = [
  // “olivia deployed shop-api 1.4.2 to production”, “Successfully deployed shop-api”, “Error when deploying shop-api”
  pattern(
    String.raw`^(?:(?<by>[@<\p{L}][\p{L}\p{N} ._'@<>()-]{0,60}?) )??${ADVERB}(?<verb>${DONE}) (?<rest>.+)$`,
  ),
  // “shop-api 1.4.2 was deployed to production by olivia”
  pattern(
    String.raw`^(?<what>.{2,160}?) (?:is being |has been |was |were |is |got )?${ADVERB}(?<verb>${DONE})(?: (?<rest>.+))?$`,
  ),
  // “Deployment of shop-api 1.4.2 to production succeeded”, “Production deployment of shop-web is ready”
  pattern(
    String.raw`^(?:(?<env>[A-Za-z][\w-]{1,40}) )?(?<verb>${NOUN}) (?:of |for )?(?<rest>.+?) (?:has |is |was )?(?<end>${STATE})[\s.!]*$`,
  ),
  // “Starting deployment of shop-api to production”, “Deployment succeeded: shop-api 1.4.2”
  pattern(String.raw`^(?<end>${STATE}) (?<verb>${NOUN})(?: of| for)? (?<rest>.+)$`),
  pattern(String.raw`^(?<verb>${NOUN}) (?:has |is |was )?(?<end>${STATE})(?: of| for)?[\s:–—-]+(?<rest>.+)$`),
];

const thing = pattern(
  String.raw`^${THING}(?<name>${NAME})(?:(?:[\s:@(]+(?:version |tag |build |commit |at )?)(?:(?<from>${VERSION})\s*(?:→|->|=>)\s*)?(?<to>${VERSION})\)?)?(?=$|[\s,.!…:;)])`,
);
const versionOf = pattern(
  String.raw`^(?:(?:a |the )?new version|(?:version |release |tag )?(?<to>${VERSION}))(?: of| for) ${THING}(?<name>${NAME})(?=$|[\s,.!…:;)])`,
);

/** What may follow, in any order; anything else, and the line is none of a deployment. */
const parts: readonly RegExp[] = [
  pattern(String.raw`^from (?<from>${VERSION})(?:\s*(?:to|→|->)\s*(?<to>${VERSION}))?(?=$|[\s,.!…;)])`),
  pattern(
    String.raw`^(?:to|at|as|with|→|->) (?:version |tag |build |commit )?(?<to>${VERSION})(?=$|[\s,.!…;)])`,
  ),
  pattern(
    String.raw`^(?:to|on|in|into|for) (?:the )?(?<environment>(?!the\b)[A-Za-z][\w.-]{0,60})(?: (?:environment|env|cluster|namespace|stage))?(?=$|[\s,.!…:;)])`,
  ),
  pattern(
    String.raw`^(?:deployed |triggered |started )?by (?<by>[@<]?[\p{L}\p{N}][\p{L}\p{N} ._'@()<>-]{0,60}?)(?=$|[,.!:;]| (?:to|on|in|at|from|after)\b)`,
  ),
  /^(?:in|after|took) [\d.]+ ?(?:ms|s|m|h|secs?|seconds?|mins?|minutes?|hours?)\b(?:,? (?:and )?[\d.]+ ?(?:s|secs?|seconds?|mins?|minutes?)\b)*/i,
  /^(?:successfully|now|again|automatically)\b/i,
  /^https?:\S+/,
  /^\(?(?:open|view|see|details?|logs?|diff|run|link)\b[\w ]{0,20}\)?/i,
  /^[\s\p{P}\p{S}]/u,
];

/** What is planned, asked for, tried or long ago was not deployed now. */
const notNow =
  /\b(?:not|never|will|would|should|could|can|cannot|please|scheduled|skipped|cancell?ed|aborted|pending|waiting|awaiting|approv\w*|requests?|requested|blocked|preview|dry[- ]run|planned|ready to|about to|reminder|tip|yesterday|ago|earlier|if|why|how|who|what|when did)\b|\?/i;

/** What one line tells of a deployment; null: nothing. */
export function readLine(whole: string): ToldLine | null {
  const line = whole.slice(0, LINE).replace(/^(?:(?!<@)[\s\p{S}\p{Po}])+/u, '');
  if (notNow.test(line)) return null;
  for (const form of forms) {
    const { by, what, verb = '', rest = '', end = '', env } = form.exec(line)?.groups ?? {};
    if (verb === '') continue;
    const said = readRest(what ?? rest, what === undefined ? '' : rest);
    if (said === null) continue;
    return {
      kind: kindOf(verb),
      state: stateOf(`${end} ${line}`, verb),
      name: said.name,
      from: said.from ?? null,
      to: said.to ?? null,
      environment: said.environment ?? env?.toLowerCase() ?? null,
      by: personOf(said.by ?? by),
    };
  }
  return null;
}

type Said = { name: string; from?: string; to?: string; environment?: string; by?: string };

/** The thing at the beginning of one text, and what is told of it behind it and in another. */
function readRest(subject: string, more: string): Said | null {
  const found = versionOf.exec(subject) ?? thing.exec(subject);
  const name = found?.groups?.['name'];
  if (!found || name === undefined || isVersion(name)) return null;
  const said: Said = { name: name.replace(/[./-]+$/, ''), ...told(found) };
  for (const text of [subject.slice(found[0].length), more])
    for (let left = text; left !== ''; ) {
      const part = parts.map((each) => each.exec(left)).find((each) => each !== null);
      if (!part) return null;
      Object.assign(said, told(part));
      left = left.slice(part[0].length);
    }
  return said;
}

const told = ({ groups }: RegExpExecArray): Partial<Said> =>
  Object.fromEntries(Object.entries(groups ?? {}).filter(([key, value]) => key !== 'name' && value));

export const isVersion = (text: string): boolean => pattern(`^(?:${VERSION})$`).test(text);

export const kindOf = (text: string): ChangeKind =>
  /roll(?:ed|ing)?[ -]?back|revert/i.test(text)
    ? 'rollback'
    : /migrat/i.test(text)
      ? 'migration'
      : 'deployment';

/** How far it is, by what is said of it; a past tense alone says that it is done. */
export function stateOf(text: string, verb = ''): ChangeState | null {
  if (/\b(?:fail(?:ed|ure|s)?|error(?:ed)?|unsuccessful|timed[ -]out)\b/i.test(text)) return 'failed';
  if (/\b(?:succe\w*|finished|completed?|done|ready|passed)\b/i.test(text)) return 'succeeded';
  if (/\b(?:start(?:ed|ing)?|begun|running|in[ -_]progress|is being|initiated|triggered)\b/i.test(text))
    return 'started';
  if (/ing\b/i.test(verb)) return 'started';
  return /(?:ed|back|out)$/i.test(verb) && !/^roll-?(?:back|out)$/i.test(verb) ? 'succeeded' : null;
}

/** “Olivia Smith (olivia)” and “@olivia” are olivia; a bot is nobody. */
export function personOf(text: string | null | undefined): string | null {
  const plain = (text ?? '')
    .trim()
    .replace(/^@/, '')
    .replace(/^.{1,60} \(@?([\w.-]+)\)$/, '$1');
  return plain === '' || /\bbot\b|^(?:ci|jenkins|github|gitlab|deploy\w*)$/i.test(plain) ? null : plain;
}
