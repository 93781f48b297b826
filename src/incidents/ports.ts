import type { WordsKind } from '../agents/ports.ts';
import type { AskedQuestion } from './questions/questions.ts';

/** Where answers to people's questions appear. */
export interface AnswerPlaces {
  open(question: AskedQuestion): AnswerView;
}

export type AnswerEnd = { readonly text: string } | { readonly failed: string } | { readonly stopped: true };

/** One answer while it grows. */
export interface AnswerView {
  /**
   * The words whole so far; null when they are withdrawn, and with each message of the model they begin anew. Never throws,
   * never waits.
   */
  show(words: string | null, kind: WordsKind): void;
  /** Resolves when the end stands there. Called again after a crash it makes no second message. */
  end(end: AnswerEnd): Promise<void>;
  /** Nothing more comes; also after an end. */
  close(): void;
}
