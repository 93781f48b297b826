import type { WebClient } from '@slack/web-api';
import type { Log } from '../../../core/log.ts';
import { codeOf, isUnknownMethod } from '../../outbound/web-errors.ts';
import { cut, oneLine } from '../../views/blocks/text.ts';
import type { DirectPlace } from './direct-messages.ts';

const TITLE = 200;
const PROMPT_TITLE = 60;
/** Slack shows at most four. */
const PROMPTS = 4;
/** A server that does not know a method is not asked for it again for this long: its app may be changed meanwhile. */
const UNKNOWN_MS = 10 * 60_000;

export interface SuggestedPrompt {
  /** What the button says. */
  readonly title: string;
  /** What is sent as the person's message. */
  readonly message: string;
}

/** What Slack's agent pane shows besides messages. Only for watching: none of it ever throws. */
export interface AgentSessions {
  /** Working on an answer in this thread; `title` names the session when it begins. */
  working(place: DirectPlace, session: { readonly title: string; readonly by: string }): Promise<void>;
  /** Nothing is under way there any more; `waits`: but for an approval that this person may give. */
  idle(place: DirectPlace, waits?: boolean): Promise<void>;
  suggest(channel: string, title: string, prompts: readonly SuggestedPrompt[]): Promise<void>;
}

/** `agents.sessions.*` where Slack has it, else the older `assistant.threads.*`, else nothing: the messages say all. */
export function createAgentSessions(client: WebClient, log: Log): AgentSessions {
  const unknown = new Map<string, number>();

  /** False: Slack does not know the method; nothing else is told apart, since nothing depends on it. */
  async function known(method: string, call: () => Promise<unknown>): Promise<boolean> {
    if ((unknown.get(method) ?? Number.NEGATIVE_INFINITY) > performance.now()) return false;
    try {
      await call();
      return true;
    } catch (error) {
      log.debug({ method, code: codeOf(error) }, 'Slack does not show what the agent is doing');
      if (!isUnknownMethod(error) && codeOf(error) !== 'missing_scope') return true;
      unknown.set(method, performance.now() + UNKNOWN_MS);
      return false;
    }
  }

  const at = ({ channel, threadTs }: DirectPlace) => ({ channel_id: channel, thread_ts: threadTs });

  async function legacy(place: DirectPlace, status: string): Promise<void> {
    await known('assistant.threads.setStatus', () =>
      client.assistant.threads.setStatus({ ...at(place), status }),
    );
  }

  return {
    async working(place, { title: given, by }) {
      const title = cut(oneLine(given), TITLE);
      const told = await known('agents.sessions.setStatus', () =>
        client.agents.sessions.setStatus({
          ...at(place),
          status: 'processing',
          title,
          initiator_user_id: by,
        }),
      );
      if (told) return;
      await legacy(place, 'is looking into it…');
      await known('assistant.threads.setTitle', () =>
        client.assistant.threads.setTitle({ ...at(place), title }),
      );
    },
    async idle(place, waits = false) {
      const told = await known('agents.sessions.setStatus', () =>
        client.agents.sessions.setStatus({ ...at(place), status: waits ? 'suspended' : 'active' }),
      );
      if (!told) await legacy(place, '');
    },
    async suggest(channel, title, given) {
      const prompts = given
        .slice(0, PROMPTS)
        .map((prompt) => ({ title: cut(oneLine(prompt.title), PROMPT_TITLE), message: prompt.message }));
      await known('assistant.threads.setSuggestedPrompts', () =>
        client.assistant.threads.setSuggestedPrompts({ channel_id: channel, title, prompts }),
      );
    },
  };
}
