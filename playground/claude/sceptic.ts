import { blocksOf, type MessagesRequest, type ScriptedReply } from './scenario.ts';

/** The second look at a diagnosis: a call without tools over what it states, in a label of its own. */
export function isSceptic(request: MessagesRequest): boolean {
  return (request.tools ?? []).length === 0 && statementsIn(request) !== undefined;
}

/** Finds everything supported: what a scenario says is played as it is. */
export function believing(request: MessagesRequest): ScriptedReply {
  const claims = (statementsIn(request)?.claims ?? []).map(() => 'supported');
  return { blocks: [{ text: JSON.stringify({ cause: 'supported', claims }) }] };
}

export interface Statements {
  readonly cause: string;
  readonly claims: readonly {
    readonly claim: string;
    readonly quote: string | null;
    readonly output: string;
  }[];
}

export function statementsIn({ messages }: MessagesRequest): Statements | undefined {
  const [first] = messages;
  const text = first === undefined ? undefined : blocksOf(first)[0]?.['text'];
  const json = /^<statements>\n([\s\S]*?)\n<\/statements>/.exec(typeof text === 'string' ? text : '')?.[1];
  return json === undefined ? undefined : (JSON.parse(json) as Statements);
}
