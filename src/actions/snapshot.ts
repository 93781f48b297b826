import type { Refusal } from '../core/errors.ts';
import type { ToolCallRequest } from '../core/tool-call.ts';
import { plainJson } from '../safety/inputs/plain-json.ts';

/** The request as the gate's own: a copy, so that nothing changes between a check and its use. */
export function snapshot(asked: ToolCallRequest): {
  readonly request: ToolCallRequest;
  readonly refusal?: Refusal;
} {
  const input = plainJson(asked.input);
  const { proposal } = asked;
  const andThen = (proposal?.andThen ?? []).map((step) => ({
    ...step,
    tool: String(step.tool),
    plain: plainJson(step.input),
  }));
  const request: ToolCallRequest = {
    tool: String(asked.tool),
    target: asked.target == null ? null : String(asked.target),
    input: input.ok ? input.value : null,
    ...(proposal
      ? {
          proposal: {
            ...proposal,
            andThen: andThen.map(({ tool, why, plain }) => ({
              tool,
              why,
              input: plain.ok ? plain.value : null,
            })),
          },
        }
      : {}),
  };
  const [bad] = [input, ...andThen.map(({ plain }) => plain)].filter((each) => !each.ok);
  return bad ? { request, refusal: bad } : { request };
}
