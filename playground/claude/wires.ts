import { type ApiProblem, errorBody } from './api-error.ts';
import {
  type Bedrock,
  checkInvoke,
  checkName,
  exceptionFrame,
  invokedModel,
  invokeRequestOf,
  renderInvoke,
} from './bedrock-wire.ts';
import { chatErrorEvent, checkChat, messagesRequestOf, renderChat } from './chat-wire.ts';
import { renderMessage } from './render.ts';
import type { MessagesRequest } from './scenario.ts';
import { messagesErrorEvent } from './send.ts';

/** How answers are written. */
export interface Wire {
  readonly render: typeof renderMessage;
  readonly errorEvent: (type: string) => string | Buffer;
  readonly contentType: string;
  readonly requestIdHeader: string;
  /** The body of an HTTP error. */
  readonly problem: (problem: ApiProblem, requestId: string) => string;
}

export const MESSAGES: Wire = {
  render: renderMessage,
  errorEvent: messagesErrorEvent,
  contentType: 'text/event-stream; charset=utf-8',
  requestIdHeader: 'request-id',
  problem: errorBody,
};

/** OpenAI's chat completions. */
const CHAT: Wire = { ...MESSAGES, render: renderChat, errorEvent: chatErrorEvent };

/** Bedrock's InvokeModel. */
const INVOKE: Wire = {
  render: renderInvoke,
  errorEvent: exceptionFrame,
  contentType: 'application/vnd.amazon.eventstream',
  requestIdHeader: 'x-amzn-requestid',
  problem: ({ message }) => JSON.stringify({ message }),
};

/** A call for a message. `request`: as the Messages API would have it, whatever the wire. */
export interface Call {
  readonly wire: Wire;
  readonly request: MessagesRequest;
  /** What is wrong with it on its own wire. */
  readonly problem: ApiProblem | undefined;
}

/** What a path asks for; undefined when it asks for no message. */
export function callOf(path: string, body: MessagesRequest, bedrock?: Bedrock): Call | undefined {
  const invoked = bedrock?.service === 'bedrock' ? invokedModel(path) : undefined;
  if (invoked !== undefined) {
    const request = invokeRequestOf(body, invoked);
    return { wire: INVOKE, request, problem: checkInvoke(body) ?? checkName(invoked, 'bedrock') };
  }
  if (path === '/api/v1/chat/completions')
    return { wire: CHAT, request: messagesRequestOf(body), problem: checkChat(body) };
  if (path !== '/v1/messages' || bedrock?.service === 'bedrock') return undefined;
  return { wire: MESSAGES, request: body, problem: bedrock && checkName(body.model, bedrock.service) };
}

export const isChat = ({ wire }: Call): boolean => wire === CHAT;
