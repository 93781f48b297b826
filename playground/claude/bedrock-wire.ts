import type { IncomingMessage } from 'node:http';
import { type ApiProblem, invalid } from './api-error.ts';
import type { SignedBy } from './check-signature.ts';
import { checkSignature } from './check-signature.ts';
import { eventFrame } from './event-stream.ts';
import { type RenderContext, type RenderedMessage, renderMessage } from './render.ts';
import type { MessagesRequest, ScriptedReply } from './scenario.ts';

/** A door of Amazon Bedrock, and who is let in: whoever signs, or has the API key. */
export interface Bedrock {
  /** `bedrock-mantle` has the Messages API, `bedrock` (its runtime) InvokeModel. */
  readonly service: 'bedrock-mantle' | 'bedrock';
  readonly auth: Omit<SignedBy, 'service'> | { readonly apiKey: string };
}

export function checkDoor(
  request: IncomingMessage,
  body: string,
  { service, auth }: Bedrock,
): ApiProblem | undefined {
  if (!('apiKey' in auth)) return checkSignature(request, body, { ...auth, service });
  return request.headers.authorization === `Bearer ${auth.apiKey}`
    ? undefined
    : { status: 403, type: 'permission_error', message: 'Authentication failed' };
}

/** A model's name as the other door has it. */
export function checkName(model: string, service: Bedrock['service']): ApiProblem | undefined {
  const bare = /^anthropic\.claude-[a-z0-9-]+$/.test(model) && !/-v\d+$/.test(model);
  return bare === (service === 'bedrock-mantle')
    ? undefined
    : invalid('The provided model identifier is invalid.');
}

const INVOKE = /^\/model\/([^/]+)\/invoke-with-response-stream$/;

/** The model in a path of InvokeModel. */
export function invokedModel(path: string): string | undefined {
  const name = INVOKE.exec(path)?.[1];
  return name === undefined ? undefined : decodeURIComponent(name);
}

/** What InvokeModel has elsewhere than the Messages API: the model in the path, the version in the body. */
export function checkInvoke(body: object): ApiProblem | undefined {
  // The automatic breakpoint of the cache is not known here.
  const stray = ['model', 'stream', 'cache_control'].find((name) => name in body);
  if (stray !== undefined) return invalid(`${stray}: Extra inputs are not permitted`);
  return 'anthropic_version' in body ? undefined : invalid('anthropic_version: Field required');
}

export function invokeRequestOf(body: object, model: string): MessagesRequest {
  const { anthropic_version: _, ...rest } = body as { readonly anthropic_version?: string };
  return { ...rest, model, stream: true } as unknown as MessagesRequest;
}

/** The events of the Messages API, each as JSON in base64 in a frame. */
export function renderInvoke(reply: ScriptedReply, context: RenderContext): RenderedMessage {
  const message = renderMessage(reply, context);
  const events = message.events.map(({ bytes, text }) => {
    const json = bytes.toString().split('data: ')[1]?.trim() ?? '{}';
    const headers = {
      ':event-type': 'chunk',
      ':content-type': 'application/json',
      ':message-type': 'event',
    };
    return {
      bytes: eventFrame(headers, JSON.stringify({ bytes: Buffer.from(json).toString('base64') })),
      text,
    };
  });
  return { ...message, events };
}

const EXCEPTIONS: Readonly<Record<string, string>> = {
  overloaded_error: 'serviceUnavailableException',
  rate_limit_error: 'throttlingException',
  timeout_error: 'modelTimeoutException',
};

/** How it says that something went wrong after it has answered 200. */
export function exceptionFrame(type: string): Buffer {
  const headers = {
    ':exception-type': EXCEPTIONS[type] ?? 'internalServerException',
    ':content-type': 'application/json',
    ':message-type': 'exception',
  };
  return eventFrame(headers, JSON.stringify({ message: type.replace('_error', '') }));
}
