import { type ApiProblem, invalid } from './api-error.ts';
import { type PlayedModel, playedModel } from './models.ts';
import type { MessagesRequest } from './scenario.ts';

const KNOWN = new Set([
  'model',
  'max_tokens',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'stream',
  'thinking',
  'output_config',
  'cache_control',
  'compaction',
  'context_management',
  'metadata',
  'stop_sequences',
  'service_tier',
  'temperature',
  'top_p',
  'top_k',
]);

/** Everything about a request except its history: what the chosen model refuses answers 400, as the API does. */
export function checkParameters(body: MessagesRequest): ApiProblem | undefined {
  const unknown = Object.keys(body).find((name) => !KNOWN.has(name));
  if (unknown !== undefined) return invalid(`${unknown}: Extra inputs are not permitted`);
  if (typeof body.model !== 'string') return invalid('model: Field required');
  const model = playedModel(body.model);
  if (model === undefined) return { status: 404, type: 'not_found_error', message: `model: ${body.model}` };
  return (
    checkSize(body, model) ?? checkSampling(body, model) ?? checkThinking(body, model) ?? checkTools(body)
  );
}

function checkSize(body: MessagesRequest, model: PlayedModel): ApiProblem | undefined {
  if (!Number.isInteger(body.max_tokens) || body.max_tokens < 1) {
    return invalid('max_tokens: Input should be greater than or equal to 1');
  }
  if (body.max_tokens > model.maxOutputTokens) {
    return invalid(
      `max_tokens: ${body.max_tokens} > ${model.maxOutputTokens}, which is the maximum allowed number of output tokens for ${model.id}`,
    );
  }
  return undefined;
}

function checkSampling(body: MessagesRequest, model: PlayedModel): ApiProblem | undefined {
  if (model.refusesSampling) {
    const given = ['temperature', 'top_p', 'top_k'].find((name) => body[name] !== undefined);
    if (given !== undefined) return invalid(`${given}: not supported by ${model.id}`);
  }
  const choice = body['tool_choice'] as { type?: string } | undefined;
  if (choice !== undefined && model.refusesForcedTools && (choice.type === 'any' || choice.type === 'tool')) {
    return invalid(
      `tool_choice: type "${choice.type}" is not supported by ${model.id}; use "auto" or "none"`,
    );
  }
  return undefined;
}

function checkThinking(body: MessagesRequest, model: PlayedModel): ApiProblem | undefined {
  const thinking = body['thinking'] as { type?: string; display?: string } | undefined;
  if (thinking !== undefined) {
    const accepted = (model.thinking as Record<string, boolean>)[thinking.type ?? ''] ?? false;
    if (!accepted) return invalid(`thinking.type: "${thinking.type}" is not supported by ${model.id}`);
    if (thinking.display !== undefined && !['summarized', 'omitted'].includes(thinking.display)) {
      return invalid(`thinking.display: "${thinking.display}" is not supported`);
    }
  }
  const effort = (body['output_config'] as { effort?: string } | undefined)?.effort;
  if (effort !== undefined && !model.efforts.includes(effort)) {
    return invalid(`output_config.effort: "${effort}" is not supported by ${model.id}`);
  }
  return undefined;
}

function checkTools(body: MessagesRequest): ApiProblem | undefined {
  const names = new Set<string>();
  for (const [index, tool] of (body.tools ?? []).entries()) {
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(tool.name)) {
      return invalid(`tools.${index}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
    }
    if (names.has(tool.name)) return invalid('tools: Tool names must be unique.');
    names.add(tool.name);
    if ((tool.input_schema as { type?: string } | undefined)?.type !== 'object') {
      return invalid(`tools.${index}.input_schema.type: Field required to be "object"`);
    }
  }
  return undefined;
}
