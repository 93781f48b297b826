import { clipLine } from '../../core/clip.ts';

/** Words of somebody else, to be put between quotes of ours: nobody ends their quote, and begins another's. */
export const quoted = (text: string, max: number): string =>
  clipLine(text.replace(/[\p{Quotation_Mark}❛-❠]/gu, '’'), max);
