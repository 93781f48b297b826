import { AssertionError } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  ControlName,
  ControlRequests,
  Counters,
  DeliveryRecord,
} from '../../playground/slack/control-api.ts';
import type {
  ElementInput,
  FormInput,
  PageActionName,
  PageActions,
  PageAnswer,
  PageSnapshot,
} from '../../playground/slack/page-api.ts';
import type { Block, Message, View } from '../../playground/slack/slack-shapes.ts';
import { patience } from './patience.ts';

/** A message, or the blocks of a view, and what is pressed in it. */
export interface Pressable {
  readonly actionId: string;
  /** The button's text or value, when several share the action id. */
  readonly labelled?: string;
  readonly input?: ElementInput;
  readonly form?: FormInput;
}

const POLL_MS = 25;
const DEFAULT_WAIT_MS = 20_000;

/** Talks to a local Slack by its URL, as the test's hands and eyes. */
export class LocalSlackClient {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  /** One request of the control API; throws when it is refused. */
  async control<Name extends ControlName>(
    name: Name,
    body: ControlRequests[Name],
  ): Promise<Record<string, unknown>> {
    const answer = await this.#post(`/control/${name}`, body);
    if (answer['ok'] !== true)
      throw new Error(`control ${name}: ${String(answer['error'])} ${String(answer['reason'])}`);
    return answer;
  }

  /** One action of a person; a refusal is returned, not thrown. */
  async act<Name extends PageActionName>(name: Name, body: PageActions[Name]): Promise<PageAnswer> {
    return (await this.#post(`/control/act/${name}`, body)) as PageAnswer;
  }

  asUser(userId: string): Person {
    return new Person(this, userId);
  }

  async messages(where: ControlRequests['messages'] = {}): Promise<Message[]> {
    return (await this.control('messages', where))['messages'] as Message[];
  }

  async snapshot(): Promise<PageSnapshot> {
    return (await this.control('snapshot', {}))['snapshot'] as PageSnapshot;
  }

  async counters(): Promise<Counters> {
    return (await this.control('counters', {}))['counters'] as Counters;
  }

  async deliveries(): Promise<DeliveryRecord[]> {
    return (await this.control('deliveries', {}))['deliveries'] as DeliveryRecord[];
  }

  /** The first message that fits, as soon as there is one. Throws after `timeoutMs` with what there was. */
  async waitForMessage(fits: (message: Message) => boolean, timeoutMs = DEFAULT_WAIT_MS): Promise<Message> {
    let seen: Message[] = [];
    const found = await waitFor(async () => {
      seen = await this.messages();
      return seen.find(fits);
    }, timeoutMs);
    if (found !== undefined) return found;
    const texts = seen.map((each) => `  ${each.ts} ${each.thread_ts ?? ''} ${textOf(each).slice(0, 200)}`);
    throw missed(`no such message within ${timeoutMs} ms; there were:\n${texts.join('\n')}`);
  }

  /** The modal on top for a person, once there is one that fits. */
  async waitForView(
    userId: string,
    fits: (view: View) => boolean = () => true,
    timeoutMs = DEFAULT_WAIT_MS,
  ): Promise<View> {
    const found = await waitFor(async () => {
      const top = (await this.snapshot()).views[userId]?.at(-1);
      return top !== undefined && fits(top) ? top : undefined;
    }, timeoutMs);
    if (found === undefined) throw missed(`no such view for ${userId} within ${timeoutMs} ms`);
    return found;
  }

  /** An ephemeral message to a person. */
  async waitForEphemeral(
    userId: string,
    fits: (message: Message) => boolean = () => true,
    timeoutMs = DEFAULT_WAIT_MS,
  ): Promise<Message> {
    const found = await waitFor(async () => {
      const { ephemerals } = await this.snapshot();
      return ephemerals.find((each) => each.userId === userId && fits(each.message))?.message;
    }, timeoutMs);
    if (found === undefined) throw missed(`no such ephemeral message to ${userId} within ${timeoutMs} ms`);
    return found;
  }

  /** Resolves when the bot has this many Socket Mode connections open. */
  async waitForBot(connections = 1, timeoutMs = DEFAULT_WAIT_MS): Promise<void> {
    const there = await waitFor(async () => {
      const { bot } = await this.snapshot();
      return bot.connections >= connections ? true : undefined;
    }, timeoutMs);
    if (there === undefined) throw new Error(`the bot did not connect within ${timeoutMs} ms`);
  }

  async #post(path: string, body: unknown): Promise<Record<string, unknown>> {
    const response = await fetch(`${this.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await response.json()) as Record<string, unknown>;
  }
}

/** One person at the keyboard. */
export class Person {
  readonly #slack: LocalSlackClient;
  readonly userId: string;

  constructor(slack: LocalSlackClient, userId: string) {
    this.#slack = slack;
    this.userId = userId;
  }

  say(channel: string, text: string, threadTs?: string): Promise<PageAnswer> {
    const thread = threadTs === undefined ? {} : { thread_ts: threadTs };
    return this.#slack.act('message.post', { userId: this.userId, channel, text, ...thread });
  }

  /** `text` with the command: "/sentry help". */
  command(channel: string, text: string): Promise<PageAnswer> {
    return this.#slack.act('command.run', { userId: this.userId, channel, text });
  }

  /** Presses (or chooses in) an element of a message. */
  press(message: Message, what: Pressable): Promise<PageAnswer> {
    const blocks = [
      ...(message.blocks ?? []),
      ...(message.attachments ?? []).flatMap((each) => each.blocks ?? []),
    ];
    return this.#act({ type: 'message', channel: message.channel, ts: message.ts }, blocks, what);
  }

  /** The same in a modal or the home view. */
  pressIn(view: View, what: Pressable): Promise<PageAnswer> {
    return this.#act({ type: 'view', viewId: view.id }, view.blocks, what);
  }

  submit(view: View, form: FormInput = {}): Promise<PageAnswer> {
    return this.#slack.act('view.submit', { userId: this.userId, viewId: view.id, form });
  }

  close(view: View): Promise<PageAnswer> {
    return this.#slack.act('view.close', { userId: this.userId, viewId: view.id });
  }

  openHome(): Promise<PageAnswer> {
    return this.#slack.act('home.open', { userId: this.userId });
  }

  shortcut(message: Message, callbackId: string): Promise<PageAnswer> {
    const { channel, ts } = message;
    return this.#slack.act('shortcut.message', { userId: this.userId, channel, ts, callback_id: callbackId });
  }

  react(message: Message, name: string): Promise<PageAnswer> {
    return this.#slack.act('reaction.toggle', {
      userId: this.userId,
      channel: message.channel,
      ts: message.ts,
      name,
    });
  }

  #act(
    container: PageActions['block.action']['container'],
    blocks: readonly Block[],
    what: Pressable,
  ): Promise<PageAnswer> {
    const found = locate(blocks, what);
    if (found === undefined)
      throw new Error(`no element ${what.actionId} ${what.labelled ?? ''} in ${JSON.stringify(blocks)}`);
    return this.#slack.act('block.action', {
      userId: this.userId,
      container,
      block_id: found,
      action_id: what.actionId,
      input: what.input ?? { kind: 'press' },
      ...(what.form === undefined ? {} : { form: what.form }),
    });
  }
}

/** All words of a message, wherever they stand. */
export function textOf(message: Pick<Message, 'text' | 'blocks' | 'attachments'>): string {
  return [message.text, ...words(message.blocks), ...words(message.attachments)].join('\n');
}

function words(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(words);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) =>
    typeof each === 'string' && ['text', 'title', 'value', 'fallback', 'pretext'].includes(name)
      ? [each]
      : words(each),
  );
}

/** The block_id that holds the element. */
function locate(blocks: readonly Block[], what: Pressable): string | undefined {
  for (const block of blocks) {
    const all = [block['accessory'], block['element'], ...list(block['elements']), ...list(block['actions'])];
    const fits = all.some((element) => {
      if (typeof element !== 'object' || element === null) return false;
      if (!('action_id' in element) || element.action_id !== what.actionId) return false;
      if (what.labelled === undefined) return true;
      const value = 'value' in element ? element.value : undefined;
      return value === what.labelled || words(element).includes(what.labelled);
    });
    if (fits) return block.block_id;
    const inside = locate(list(block['child_blocks']) as Block[], what);
    if (inside !== undefined) return inside;
  }
  return undefined;
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

async function waitFor<T>(probe: () => Promise<T | undefined>, timeoutMs: number): Promise<T | undefined> {
  const end = performance.now() + timeoutMs * patience;
  for (;;) {
    const found = await probe();
    if (found !== undefined || performance.now() > end) return found;
    await sleep(POLL_MS);
  }
}

/** What was waited for and did not come is what a test found out, and no fault of the test's own. */
const missed = (message: string): AssertionError => new AssertionError({ message });
