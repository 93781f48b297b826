import { redact } from '../safety/screen/redact.ts';
import { findSecrets } from '../safety/secrets/find-secrets.ts';

/** What no line of code is, and a line from the middle of a key or certificate is. */
const PART_OF_KEY = /^\s*[A-Za-z0-9+/]{40,}={0,2}\s*$/;
const HIDDEN_PART = '[redacted: may be a part of a key]';

/**
 * The lines of a text with its secrets hidden; as many as it has, so that their numbers stay theirs. The text is judged as a whole: a
 * line from the middle of a key tells by itself nothing.
 */
export function screenedLines(text: string): readonly string[] {
  let shown = '';
  let at = 0;
  for (const { start, end, rule } of findSecrets(text)) {
    const lines = text.slice(start, end).split('\n').length - 1;
    shown += `${text.slice(at, start)}[redacted:${rule}]${'\n'.repeat(lines)}`;
    at = end;
  }
  return (shown + text.slice(at)).split('\n').map(withoutKey);
}

/** The same of the hunks of a diff, each side of which is a text of its own. */
export function screenedPatch(patch: string): readonly string[] {
  const lines = patch.split('\n');
  const [before, after] = [sideOf(lines, '-'), sideOf(lines, '+')];
  return lines.map((line, at) => {
    const own = line.slice(1);
    if (line.startsWith('-')) return `-${before[at]}`;
    if (line.startsWith('+')) return `+${after[at]}`;
    if (!line.startsWith(' ')) return redact(line);
    // It stands on both sides, and either may know it for a secret.
    return ` ${after[at] === own ? before[at] : after[at]}`;
  });
}

/** One side of a diff, screened, at the places that its lines have in the diff. */
function sideOf(lines: readonly string[], sign: '-' | '+'): readonly string[] {
  const other = sign === '-' ? '+' : '-';
  const ours = lines.flatMap((line, at) => (line.startsWith(other) ? [] : [at]));
  const screened = screenedLines(ours.map((at) => bodyOf(lines[at] ?? '')).join('\n'));
  const side: string[] = [];
  for (const [n, at] of ours.entries()) side[at] = screened[n] ?? '';
  return side;
}

/** What stands in a file; between two hunks there is a gap. */
const bodyOf = (line: string): string => (/^[-+ ]/.test(line) ? line.slice(1) : '');

const withoutKey = (line: string): string => (PART_OF_KEY.test(line) ? HIDDEN_PART : line);
