/**
 * How long models took for real, in ms: from the moment that all of a message's input was there to the last block of its answer, by the
 * times in transcripts of Claude Code's subagents that somebody has published (github.com/markjvillanueva3-cloud/PRISMV9, its archive of
 * chats; by session, 2026-05-17 to 2026-06-19). Each was asked to look into something, read in some turns, and reported in its last one.
 * All that were read for this are here. The transcripts do not say which model answered. `reads` is how many tools each message called, none in the last.
 */
export interface RecordedMessage {
  readonly ms: number;
  readonly reads: number;
}

const recorded = (...messages: readonly (readonly [ms: number, reads: number])[]): RecordedMessage[] =>
  messages.map(([ms, reads]) => ({ ms, reads }));

/** Four who each looked into one thing. */
export const specialists: readonly (readonly RecordedMessage[])[] = [
  // b7530614
  recorded([9_029, 3], [78_771, 0]),
  // 5e210e4e
  recorded([15_492, 2], [10_440, 2], [7_113, 2], [62_458, 0]),
  // 9dc60ef7, its first seven messages and its last, the seventeenth: more turns than eight are not allowed here.
  recorded([6_438, 2], [5_627, 1], [4_018, 2], [3_885, 1], [9_918, 2], [6_995, 2], [6_133, 1], [26_815, 0]),
  // de04081e
  recorded([9_462, 1], [7_816, 1], [4_312, 1], [86_679, 0]),
];

/** 928a8226: wove together what four others had found. */
export const weighing: readonly RecordedMessage[] = recorded([5_380, 2], [100_838, 0]);

/** No transcript has a message that only names explanations: the slowest first message of those above. */
export const leading: RecordedMessage = { ms: 15_492, reads: 0 };

/** The fastest first message of those above. */
export const triage: RecordedMessage = { ms: 6_438, reads: 0 };
