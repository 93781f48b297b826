import { type Refusal, refuse } from '../../core/errors.ts';
import { textRules } from './text-rules.ts';
import { unescapePath } from './unescape.ts';

/** A path's text, read: no file system was asked. */
export interface PathText {
  readonly ok: true;
  readonly absolute: boolean;
  /** Without empty ones and `.`; never `..`. */
  readonly segments: readonly string[];
}

/** Linux: PATH_MAX and NAME_MAX, in bytes. */
const MAX_PATH = 4096;
const MAX_NAME = 255;
const MAX_DEPTH = 64;

/** Kubernetes mounts config maps under `..data` and `..2024_01_02_15_04_05.123`: the only names that start with two dots. */
const kubernetesMount = /^\.\.(?:data(?:_tmp)?|\d{4}_\d\d_\d\d_\d\d_\d\d_\d\d\.\d+)$/u;

/**
 * Reads a path as text, before any file system sees it: refuses everything that another reader could take for
 * something else (encodings, look-alikes, `..`, wrappers). Absolute or relative, `/` between segments.
 */
export function readPathText(text: string): PathText | Refusal {
  if (text === '') return refuse('PATH_EMPTY', 'The path is empty.');
  if (Buffer.byteLength(text) > MAX_PATH)
    return refuse('PATH_TOO_LONG', `The path is longer than ${MAX_PATH} bytes.`);
  const plain = unescapePath(text);
  if (plain === undefined)
    return refuse(
      'PATH_ENCODED',
      'The path holds percent escapes that hide something. Write the path itself.',
    );
  for (const form of plain === text ? [text] : [text, plain]) {
    const rule = textRules.find(({ hit }) => hit(form));
    if (rule) return refuse(rule.code, rule.reason);
    const bad = form.split('/').map(refuseSegment).find(Boolean);
    if (bad) return bad;
  }
  const segments = text.split('/').filter((segment) => segment !== '' && segment !== '.');
  if (segments.length > MAX_DEPTH)
    return refuse('PATH_TOO_LONG', `The path has more than ${MAX_DEPTH} segments.`);
  return { ok: true, absolute: text.startsWith('/'), segments };
}

function refuseSegment(segment: string): Refusal | undefined {
  if (Buffer.byteLength(segment) > MAX_NAME)
    return refuse('PATH_TOO_LONG', `A segment of the path is longer than ${MAX_NAME} bytes.`);
  if (segment === '' || segment === '.') return undefined;
  if (segment === '..')
    return refuse(
      'PATH_TRAVERSAL',
      '".." is not allowed in a path, also where it would stay inside the root.',
    );
  if (/^[. ]+$/u.test(segment) || (segment.startsWith('..') && !kubernetesMount.test(segment)))
    return refuse('PATH_TRAVERSAL', `A segment of the path is a disguised "..".`);
  if (/^ |[. ]$/u.test(segment))
    return refuse(
      'PATH_TRAILING',
      'A segment of the path starts with a space or ends with a dot or a space.',
    );
  return undefined;
}
