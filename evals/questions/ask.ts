import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Action } from '../../src/core/action.ts';
import type { Line } from '../../src/incidents/questions/answer-lines.ts';
import { notAnswered } from '../../src/incidents/questions/not-answered.ts';
import { answerWithSource, type Outcome } from '../../src/incidents/questions/record-answer.ts';
import { records } from './records.ts';

/** One question of questions.yaml, in all its wordings. */
export interface Asked {
  readonly id: string;
  readonly set?: 'develop' | 'check';
  readonly record: string;
  readonly after?: readonly string[];
  readonly expect: 'answer' | 'none' | 'not_on_record' | 'may_i_look' | 'not_understood';
  readonly says?: readonly string[];
  readonly never?: readonly string[];
  readonly ask: readonly string[];
}

export interface Graded {
  readonly question: string;
  readonly answer: string;
  /** `false`: it tells something else than what was asked, or what is not so. `silent`: it does not tell what is on record, or that it is not. */
  readonly grade: 'right' | 'silent' | 'false';
}

const read = (file: string): readonly Asked[] =>
  parse(readFileSync(new URL(file, import.meta.url), 'utf8')) as readonly Asked[];

export const questions = read('questions.yaml');
/** Asked by people half awake: rules are made with `develop`; `heldOut` is only measured. */
export const halfAwake = { develop: read('half-awake.yaml'), heldOut: read('held-out.yaml') } as const;

const around = {
  approvers: 'the group @oncall',
  open: [],
  now: new Date('2026-11-21T10:20:00Z'),
  mayUndo: ({ tool }: Action) => tool === 'pg_set_parameter',
  elsewhere: false,
};

/** Asks each wording of the record alone, and grades what is said. */
export function ask({
  id,
  record: name,
  after,
  expect,
  says = [],
  never = [],
  ask,
}: Asked): readonly Graded[] {
  const record = records[name];
  if (!record) throw new Error(`questions.yaml: ${id} asks of “${name}”, which is none of records.ts.`);
  return ask.map((text) => {
    const { outcome, lines } =
      answerWithSource(record, text, around, after) ?? notAnswered(record, text, 'sessions that wait');
    const answer = lines.map(textOf).join('\n');
    const hasNever = never.some((each) => answer.includes(each));
    const isTold = says.every((each) => answer.includes(each));
    return {
      question: `${id}: ${text}`,
      answer,
      grade: hasNever ? 'false' : gradeOf(expect, outcome, isTold),
    };
  });
}

const isRefusal = (outcome: Outcome): boolean => outcome === 'not_on_record' || outcome === 'not_understood';

function gradeOf(expect: Asked['expect'], outcome: Outcome, isTold: boolean): Graded['grade'] {
  switch (expect) {
    case 'answer':
      if (isRefusal(outcome)) return 'silent';
      return isTold ? 'right' : 'false';
    case 'none':
      if (isRefusal(outcome)) return 'silent';
      return isTold && outcome === 'none' ? 'right' : 'false';
    case 'not_on_record':
    case 'may_i_look':
      if (outcome === 'not_understood') return 'silent';
      return outcome !== 'not_on_record' ? 'false' : isTold ? 'right' : 'silent';
    case 'not_understood':
      return outcome === 'not_understood' && isTold ? 'right' : 'false';
  }
}

const textOf = (line: Line): string =>
  line
    .map((piece) =>
      typeof piece === 'string'
        ? piece
        : 'person' in piece
          ? piece.person
          : 'at' in piece
            ? piece.at.slice(11, 16)
            : piece.code,
    )
    .join('');
