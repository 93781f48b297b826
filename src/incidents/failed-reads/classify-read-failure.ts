import { isWhole } from '../../actions/checks/may-read-again.ts';
import { clipLine } from '../../core/clip.ts';
import {
  isChangesToolName,
  isEvidenceToolName,
  isMemoryToolName,
  type Json,
  type ToolCall,
} from '../../core/tool-call.ts';
import type { UnreadCall } from '../../core/unread.ts';
import { adviseOn } from '../../targets/advise.ts';
import type { GrantSteps } from '../../targets/kind.ts';

export type ReadFailure = Pick<UnreadCall, 'reason'> &
  ({ readonly way: 'run' } | { readonly way: 'grant'; readonly steps: GrantSteps });

const MAX_REASON = 300;

/**
 * Why a call showed nothing or only a part, where a person can do something about that; null where it showed all, and where
 * nothing is to be lifted: what the rules of the house refuse (secret files, other incidents' targets, actions) stays refused.
 * `reader`: the account that the target is read with, for the exact text of a grant.
 */
export function classifyReadFailure(call: ToolCall, reader: string | null = null): ReadFailure | null {
  // Questions of people are answered with triage's rights: what they name must not come to stand on a card of ours.
  if (call.role !== 'detective' || !isWhole(call.input)) return null;
  if ([isMemoryToolName, isEvidenceToolName, isChangesToolName].some((is) => is(call.tool))) return null;
  if (call.state === 'proposed' || (call.state !== 'ok' && call.code === null)) return null;
  const failed = { ...call, code: call.state === 'ok' ? null : call.code };
  const reason = clipLine(call.output, MAX_REASON);
  if (failed.code !== null && passing.has(failed.code)) return { way: 'run', reason };
  const docsHost = failed.code === 'URL_NOT_ALLOWED' ? docsHostIn(call.input) : null;
  if (docsHost !== null) return { way: 'grant', reason, steps: listDocsHost(docsHost) };
  const advice = adviseOn(failed, reader);
  if (advice === null || advice.way === 'explain') return null;
  return advice.way === 'run'
    ? { way: 'run', reason }
    : { way: 'grant', reason: advice.reason ?? reason, steps: advice.steps };
}

/** The gate's own and those of documentation: it may work the next time without anybody doing anything. */
const passing: ReadonlySet<string> = new Set([
  'NOT_RUN',
  'TIMEOUT',
  'STOPPED',
  'TOO_MANY_CALLS',
  'CREDENTIAL_EXPIRED',
  'URL_TIMEOUT',
  'URL_FAILED',
  'URL_UNRESOLVED',
]);

/** The target was away, or too slow: it may answer a little later. */
export function isUnanswered(call: ToolCall): boolean {
  if (call.code === null) return false;
  if (call.code.endsWith('TIMEOUT')) return true;
  const advice = adviseOn(call, null);
  return advice?.way === 'run' && advice.isAway;
}

const listDocsHost = (host: string): GrantSteps => ({
  who: 'Whoever runs Sentry.',
  what: 'Add the host to the list of those that documentation may be fetched from, behind what stands there:',
  exact: `SENTRY_DOCS_HOSTS=…,${host}`,
  note: 'The investigation came upon this name; nobody of yours chose it. Allow it only if its content may be read here. A host that is listed sees which pages are asked for. Restart Sentry afterwards: it reads its configuration at the start.',
});

/** A plain name of at least two labels; never an address, which no list should hold because an investigation asked. */
function docsHostIn(input: Json): string | null {
  const { url } = (input ?? {}) as { readonly url?: Json };
  if (typeof url !== 'string' || !URL.canParse(url)) return null;
  const { hostname } = new URL(url);
  return /^(?=.{1,253}$)(?:[a-z0-9-]{1,63}\.)+[a-z]{2,63}$/.test(hostname) ? hostname : null;
}
