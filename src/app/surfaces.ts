import type { HttpServer } from '../http/server.ts';
import { type AnswerQuestion, createAnswering } from '../incidents/questions/answering.ts';
import type { Slack } from '../slack/slack.ts';
import { createHttpSide } from './http-side.ts';
import type { Services } from './services.ts';
import { createSlackSide } from './slack-side.ts';

/** Where people and machines meet the services. */
export interface Surfaces {
  readonly slack: Slack;
  readonly http: HttpServer;
  /** Answers grow where they were asked for. */
  readonly answering: AnswerQuestion;
}

export function createSurfaces(services: Services): Surfaces {
  const slack = createSlackSide(services);
  return {
    slack,
    http: createHttpSide(services, slack.handleHttp),
    answering: createAnswering(services.deps, slack.answers),
  };
}
