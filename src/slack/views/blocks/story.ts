import { OWN_CODE, OWN_TIME } from '../../../incidents/questions/own-marks.ts';
import { type Block, bold, code, moment, paragraph, person, prose, type Span, words } from './build.ts';
import { LIMITS } from './limits.ts';
import { pages } from './text.ts';

const PAGE = 2_900;
const OTHER = String.raw`(?:INC-\d+|another incident)`;
const STEPS = String.raw`steps? [\d, and]{1,20}`;
const PARTLY = String.raw`only ${STEPS} of \d (?:is|are) undone`;
const ITS_UNDO = `(?:its undo|the undo of ${STEPS})`;
const UNDO = `(?:being undone|undo waits for approval|unknown whether ${ITS_UNDO} ran|(?:${PARTLY}: )?${ITS_UNDO} failed)`;
/** `<@U…>` where the story itself names somebody: after its own words at the start of a line, never inside a value. */
const NAMED = new RegExp(
  String.raw`^(Closed by |• (?:(?:approved|denied|taken back|undone) by |${PARTLY}, by |${UNDO}, asked for by )?|\S+Z {2}(?:called |muted until \S+Z by |part of ${OTHER}: |${OTHER} is a part of this: |(?:${OTHER} is )?on its own again,(?: not a part of ${OTHER},)? split by )?)<@([UW][A-Z0-9]+)>`,
);
/** A command or a moment of ours, or code in what somebody wrote. */
const PIECE = new RegExp(`${OWN_CODE}|${OWN_TIME}|\`([^\`\\n]+)\``);
const DAY = new RegExp(`^${OWN_TIME}:$`);
const LOGGED = new RegExp(`^${OWN_TIME}( {2}.*)$`);

/**
 * The plain lines of `why` as Slack draws them: a line's leading `*words*` bold, `code` in fixed width, people by
 * name, times of ours in the reader's zone. What else looks like markup or a time stays as it is written, since it may come from an alert
 * or a log.
 */
export function storyBlocks(text: string, maxPages = Number.POSITIVE_INFINITY): readonly Block[] {
  return pages(text, PAGE)
    .slice(0, maxPages)
    .map((page, n, all) => {
      // What was cut inside a line begins none: a value could otherwise name, and so ring, somebody.
      const isRest = n > 0 && !all[n - 1]?.endsWith('\n');
      return prose(
        ...sections(
          page
            .split('\n')
            .flatMap((line, at) => [
              ...(at > 0 ? [words('\n')] : []),
              ...(isRest && at === 0 ? pieces(line) : spans(line)),
            ]),
        ),
      );
    });
}

/** One, but where there are more pieces than Slack takes. */
function sections(all: readonly Span[]): readonly ReturnType<typeof paragraph>[] {
  const rest = all.slice(LIMITS.spans);
  return [paragraph(...all.slice(0, LIMITS.spans)), ...(rest.length > 0 ? sections(rest) : [])];
}

function spans(line: string): readonly Span[] {
  if (line === '') return [];
  const head = /^\*([^*]+)\*/.exec(line);
  if (head?.[1]) return [bold(head[1]), ...pieces(line.slice(head[0].length))];
  const day = DAY.exec(line);
  if (day?.[1]) return [moment(day[1], '{date_short}')];
  const named = NAMED.exec(line);
  if (named?.[2]) {
    const [whole, before = '', id] = named;
    const rest = line.slice(whole.length);
    return [
      ...logged(before),
      person(id),
      ...(before.endsWith('called ') ? furtherPeople(rest) : pieces(rest)),
    ];
  }
  return logged(line);
}

/** Who else was called. */
function furtherPeople(rest: string): readonly Span[] {
  const [whole, id] = /^, <@([UW][A-Z0-9]+)>/.exec(rest) ?? [];
  if (whole === undefined || id === undefined) return pieces(rest);
  return [words(', '), person(id), ...furtherPeople(rest.slice(whole.length))];
}

/** A line of what happened begins with its time, to the second. */
function logged(line: string): readonly Span[] {
  const [, at, rest] = LOGGED.exec(line) ?? [];
  return at === undefined ? pieces(line) : [moment(at, '{time_secs}'), ...pieces(rest ?? '')];
}

function pieces(text: string): readonly Span[] {
  if (text === '') return [];
  const found = PIECE.exec(text);
  if (!found) return [words(text)];
  const before = text.slice(0, found.index);
  return [
    ...(before === '' ? [] : [words(before)]),
    found[2] ? moment(found[2], '{date_short} at {time}') : code(found[1] ?? found[3] ?? ''),
    ...pieces(text.slice(found.index + found[0].length)),
  ];
}
