import type { IncidentRecord } from '../../core/incident-record.ts';
import { runOf } from './answer-actions.ts';
import { askedWhether, impactOf } from './answer-cause.ts';
import type { Line } from './answer-lines.ts';
import { ASKABLE } from './answer-sentry.ts';
import { isState } from './asks-for-now.ts';
import { plain } from './plain-question.ts';
import { ownWords, type RecordAnswer } from './record-answer.ts';
import { corrected, isKnown, MENTION, NEGATED, PICKS, wordsOf } from './sentence.ts';

/** What people ask about that no incident's record holds: the words for it, and what is said. */
interface Topic {
  readonly words: RegExp;
  readonly says: (record: IncidentRecord) => readonly Line[];
}

const said = (text: string) => (): readonly Line[] => [[text]];

const topics: readonly Topic[] = [
  {
    words:
      /^(customers?|users?|clients?|visitors?|buyers?|shoppers?|people|orders?|sales|revenue|complain\w*|complaints?|prod|production|notice[sd]?|support|tickets?|hit|seeing|lost|lose)$/,
    says: (record) => [['Who notices it is not on record.'], ...impactOf(record)],
  },
  {
    words:
      /^(deploy\w*|redeploy\w*|releases?|released|rollouts?|commits?|commited|committed|merged?|push(ed|es)?|pr|build|pipeline|version|code|bug|migration|migrations|upgraded?|diff|author)$/,
    says: said('Which deployment or change of code had a part in it is not on record.'),
  },
  {
    words:
      /^(logs?|logfiles?|logged|graphs?|charts?|plots?|dashboards?|grafana|screenshots?|traces?|stacktrace|metrics?|output|raw|link|paste)$/,
    says: said('Logs and graphs are not on record as such. What I read stands in the record, below.'),
  },
  {
    words:
      /^(yesterday|tomorrow|tonight|week|weeks|weekend|month|months|year|years|days?|hours?|minutes?|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|january|february|march|april|june|july|august|september|october|november|december|earlier|morning|night|ago|later|soon|eta|back|come|return|forecast)$/,
    says: said('What was at another time, or is to come, is not on record here.'),
  },
  {
    words:
      /^(than|normal|normally|usual|usually|typical\w*|average|worse|worst|bigger|biggest|slower|faster|similar|compared?|baseline|unusual)$/,
    says: said('How it compares with other times is not on record.'),
  },
  {
    words: /^(blame|fault|guilty|responsible|mistake|owns?|owner|whose|idiot|screwed)$/,
    says: said('Whose it is, or whose fault, is not on record.'),
  },
  {
    words: /^(post-?mortem|retro|report)$/,
    says: said('“report” makes the post-mortem, or says where it stands.'),
  },
  {
    words: /^(on-?call|rota|schedule|rotation)$/,
    says: said('Who is on call is not on record here. “oncall” tells it.'),
  },
  {
    words: /^(made|built|wrote|created|programmed|human|ai|bot|robot|alive|real)$/,
    says: said('That is about me and not this incident, and not on record. “help” tells what I can do.'),
  },
  {
    words:
      /^(restart\w*|reboot\w*|redeploy\w*|fail-?over|failing-over|failed-over|scal(e|ed|ing)|vacuum\w*|reindex\w*|analy[sz]ed?|drop(ped)?|delet\w*|terminat\w*|cancel\w*|clear(ed)?|clean(ed)?|flush\w*|purg\w*|patch\w*|drain\w*|evict\w*|increas\w*|resiz\w*|extend\w*|kill\w*|switch\w*|disabl\w*|enabl\w*)$/,
    says: (record) => [['That is not on record. What is:'], ...runOf(record).slice(0, 1)],
  },
];

/** What a look at a live system measures, as people say it. */
const measured =
  /^(connections?|sessions?|locks?|cpu|memory|mem|ram|disks?|space|lag|replication|replicas?|latency|errors?|requests?|queues?|threads?|pods?|containers?|load|io|iops|swap|bytes|gb|size|rows?|tables?|quer(y|ies)|transactions?|jobs?|messages?|traffic|uptime|network|dns|processes|services?|nodes?|web|app|site|website|page|cache|api)$/;

/**
 * What is said where the record holds no answer: that it does not, and what could be looked at instead; or, where not every word is
 * understood, which one is not, and what can be asked.
 *
 * @param readable what one look could read now, in words; null: nothing can be read
 */
export function notAnswered(record: IncidentRecord, text: string, readable: string | null): RecordAnswer {
  const { incident } = record;
  const answer = (outcome: RecordAnswer['outcome'], ...lines: readonly Line[]): RecordAnswer => ({
    outcome,
    lines,
    source: { kind: 'incident', id: incident.id },
  });
  const another = /\binc-\d+\b/i.exec(text)?.[0].toUpperCase();
  if (another !== undefined && another !== incident.id)
    return answer('not_on_record', [
      `That is not on record here: this is ${incident.id}. Ask for the other with “why ${another}”.`,
    ]);
  const asked = plain(text.replace(MENTION, 'somebody'));
  const words = wordsOf(asked);
  const own = ownWords(record);
  const strange = words.filter((word) => !isUnderstood(word, own));
  if (!isEnglish(text, words, strange))
    return answer('not_understood', ['I understand only English without a model. “why” tells all there is.']);
  // Whether it is “down” or “slow” a look tells.
  const whether = words.some(isState) ? null : askedWhether(text);
  if (
    whether?.every(
      (word) => isUnderstood(word, own) || new RegExp(`\\b(?:an?|the) (?:\\w+ )?${word}\\b`).test(asked),
    )
  )
    return answer('not_on_record', [
      `That is not on record: nothing here says whether it was “${whether.slice(0, 6).join(' ')}”.`,
    ]);
  const topic = topics.find((each) => words.some((word) => each.words.test(word)));
  const [unknown] = strange;
  if (unknown !== undefined)
    return answer('not_understood', [
      `I did not understand “${unknown.slice(0, 40)}”. You can ask me ${ASKABLE}.`,
    ]);
  if (isForNow(asked, words))
    return answer(
      'not_on_record',
      ['That is not on record.'],
      [
        readable === null
          ? `I cannot look at it: nothing of ${incident.target ?? 'it'} can be read here.`
          : `May I look? Mention me with “now”, and I read this: ${readable}.`,
      ],
    );
  if (/^(?:\W|please|so|and|ok)*(?:can|could|will|would) you\b/i.test(text))
    return answer('not_on_record', [
      'A question does nothing, and that is not on record. What I propose is run from its card, once somebody approves it.',
    ]);
  if (/\b(?:may|can|am|should) i\b/i.test(text))
    return answer('not_on_record', [
      'That is not on record: I know who may approve here, not what else you may do. Who may approve stands on the card.',
    ]);
  if (topic !== undefined) return answer('not_on_record', ...topic.says(record));
  // Its words are known, and none of them says why no record should hold it.
  if (!isBeyond(asked, words))
    return answer('not_understood', [
      `I know these words, and not what you ask by them. You can ask me ${ASKABLE}.`,
    ]);
  const isOfActs = /\b(?:did|have|has|was)\b/i.test(text) && !/\bwho|how|before\b/i.test(text);
  return isOfActs
    ? answer('not_on_record', ['That is not on record. What is:'], ...runOf(record).slice(0, 1))
    : answer('not_on_record', [`That is not on record. You can ask me ${ASKABLE}.`]);
}

/** Asks for what is to come, for a choice or a comparison, for what was not, or for things around. */
const isBeyond = (asked: string, words: readonly string[]): boolean =>
  [TO_COME, PICKS, NEGATED].some((each) => each.test(asked)) ||
  words.some((word) => outside.has(word) || measured.test(word) || NAME.test(word) || isState(word));

/** What can be done is another matter: it may be possible now. */
const TO_COME = /\b(?:will|would|going to|might|shall|should|must|if)\b/;

/** Word by word there is none of it in another language. */
const isEnglish = (text: string, words: readonly string[], strange: readonly string[]): boolean =>
  !/[^\p{Script=Latin}\p{Script=Common}\p{Extended_Pictographic}]/u.test(text) &&
  (words.length < 3 || strange.length * 3 <= words.length * 2);

/** Things of the world around that no incident's record speaks of. */
const outside = new Set(
  `world company business boss manager team colleague colleagues weather certificate certificates cert password passwords licence license
  key keys secret secrets backup backups config configuration file files ticket firewall router switch cable rack datacenter region zone
  cloud aws vendor provider money data kernel driver hardware software library dependency feature flag cron job script coffee bed sleep
  myself itself yourself same than during break breaks crash crashed systems hosts databases servers`.split(
    /\s+/,
  ),
);

/** Words that are plain English and ask for nothing by themselves: the record may hold what is asked with them, or not. */
const ordinary = new Set(
  `after while until till before since though although whether because both either between within around through himself herself ourselves
  themselves own another other such only few several enough less least little big small large high low long short good great worst fast slow
  early new possible possibly maybe probably likely sometimes always never breaking broke crashing grow grows growing grew fill fills
  filling use uses using used load loads find finds found think thinks thought believe mean means meant keep keeps kept hold holds leave left
  turn put set move moved read write send sent see saw seen look feel written word words reason reasons idea way part side point case place
  name names named number numbers kind sort lot bit start thing things stuff luck update updates ship shipped roll rolled apply matter
  matters care worry panic understand working knows safe thanks anyway two three error errors follow followed lie news longer taking loss
  postgres`.split(/\s+/),
);

/** The name of a system, a number or an id stands for itself. */
const NAME = /[-_.\d]/;

function isUnderstood(word: string, own: ReadonlySet<string>): boolean {
  return (
    isKnown(word, own) ||
    ordinary.has(word) ||
    outside.has(word) ||
    corrected(word) !== null ||
    NAME.test(word) ||
    isState(word) ||
    measured.test(word) ||
    topics.some(({ words }) => words.test(word))
  );
}

/** Whether a look would tell it: it asks how something is at this moment. */
const isForNow = (asked: string, words: readonly string[]): boolean =>
  /\b(?:is|are|now|still|lag|how (?:many|much|full|big))\b/.test(asked) &&
  words.some((word) => isState(word) || measured.test(word) || NAME.test(word) || word === 'ok') &&
  !/\b(?:was|were|did|had|yesterday|who|may|can|could|will|am|you|than|what|which|why)\b/.test(
    asked.replace(/^what is (?=.*\bnow$)/, ''),
  );
