import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHANNELS, USERS } from '../../../playground/slack/seed.ts';
import type { View } from '../../../playground/slack/slack-shapes.ts';
import { ACTION_HANDLERS } from '../../../src/slack/inbound/actions/register.ts';
import { COMMANDS } from '../../../src/slack/inbound/commands/all-commands.ts';
import { SHORTCUTS } from '../../../src/slack/inbound/shortcuts/register.ts';
import { samplePayloads } from '../../../src/slack/outbound/sample-payloads.ts';
import { draw } from '../../../src/slack/views/blocks/draw.ts';
import {
  PRIVATE_WORD,
  recordNow,
  type Scene,
  STATES,
  type State,
  setScene,
} from '../../support/matrix-scene.ts';
import { recordAt, recordedIncidents } from '../../support/recorded-incidents.ts';
import { slackBot } from '../../support/slack-bot.ts';
import { eventually } from '../../support/slack-scene.ts';
import {
  HERE,
  noteRegistrations,
  type Shown,
  type WholeSlack,
  wholeSlack,
} from '../../support/whole-slack.ts';
import { type Cell, ROLES, ROWS, type Row, UNKNOWN } from './matrix-cells.ts';

const ACCOUNTS = {
  onCall: USERS.onCall,
  admin: USERS.admin,
  stranger: USERS.stranger,
  guest: USERS.onCall2,
} as const;

/** A regular expression stands for all that its own table names. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  'action /.*/': Object.keys(ACTION_HANDLERS).map((id) => `action ${id}`),
  'command /.*/': COMMANDS.map(({ name }) => `command ${name}`),
  'shortcut /.*/': Object.keys(SHORTCUTS).map((id) => `shortcut ${id}`),
};

/** Every surface, from what a bot registers when it is made. */
function surfaces(): readonly string[] {
  const noting = noteRegistrations();
  slackBot({ sql: {}, bus: {}, log: {}, executorId: 'matrix' } as never, {});
  noting.end();
  const registered = Object.entries(noting.registered).flatMap(([kind, names]) =>
    names.map((name) => `${kind} ${name}`),
  );
  return registered.flatMap((name) => TABLES[name] ?? [name]).toSorted();
}

describe('the list of surfaces', () => {
  it('is the list of expectations: none is without one, and none is of nothing', () => {
    expect(ROWS.map(({ kind, on }) => `${kind} ${on}`).toSorted()).toEqual(surfaces());
  });

  it('has every button and window that is drawn', () => {
    const drawn = [
      ...samplePayloads(),
      ...recordedIncidents.flatMap((recorded) =>
        recorded.events.map((_, at) => draw(recordAt(recorded, at + 1), DRAWN)),
      ),
    ];
    const found = JSON.stringify(drawn).matchAll(/"(action_id|callback_id)":"(sentry_[^"]*)"/g);
    const named = new Set(
      [...found].map(([, what, id = '']) =>
        what === 'action_id'
          ? `action ${id.replace(/(?<=roll_back|split|put_back|diagnosis)_\d+$/, '')}`
          : `view ${id}`,
      ),
    );
    expect(named.size).toBeGreaterThan(15);
    expect([...named].filter((each) => !surfaces().includes(each))).toEqual([]);
  });

  it('leaves no cell empty', () => {
    const cells = ROWS.flatMap(({ cells: of }) => STATES.map((state) => of[state]));
    expect(
      cells.every((each) => (typeof each === 'string' ? each !== '' : each?.length === ROLES.length)),
    ).toBe(true);
  });
});

const DRAWN = {
  threadUrl: () => null,
  approvers: 'everybody on call',
  mayDig: true,
  mayReadAgain: true,
  mayUndo: () => true,
  mayChangeMind: true,
  maySettle: true,
  pagersAfter: () => ['pagerduty'],
};

describe.sequential('what each role meets', () => {
  let at: WholeSlack;
  beforeAll(async () => {
    at = await wholeSlack();
    await at.client.control('channel-privacy', { channel: CHANNELS.admin, is_private: true });
    await at.client.control('guest', { userId: ACCOUNTS.guest, is_restricted: true });
  });
  afterAll(() => at?.close());

  /** Gives back what the person is told by Slack itself, and what was shown before the press. */
  async function drive(row: Row, scene: Scene, userId: string): Promise<{ since: number; told: string }> {
    const given = row.by(scene);
    const shownBefore = (): number => at.shown(userId).length;
    if (typeof given === 'object') {
      const { view } = (await at.client.control('open-view', { userId, view: given.view })) as {
        readonly view: View;
      };
      await eventually(() => expect(at.shown(userId).at(-1)?.how).toBe('window'));
      const since = shownBefore();
      const answer = await at.client.act('view.submit', { userId, viewId: view.id, form: given.form });
      expect(answer).toMatchObject({ ok: true });
      return { since, told: answer.ok && answer.errors ? Object.values(answer.errors).join(' ') : '' };
    }
    const since = shownBefore();
    const answer =
      row.kind === 'command'
        ? await at.client.act('command.run', { userId, channel: HERE, text: `/sentry ${given}` })
        : row.kind === 'shortcut'
          ? await chosen(row.on, given, userId)
          : await pressed(row, given, userId);
    expect(answer).toMatchObject({ ok: true });
    return { since, told: '' };
  }

  /** An unknown shortcut is of no message. */
  async function chosen(callback_id: string, text: string, userId: string) {
    if (text === '') return at.client.act('shortcut.global', { userId, callback_id });
    const { ts = '' } = await at.web.chat.postMessage({ channel: HERE, text });
    return at.client.act('shortcut.message', { userId, channel: HERE, ts, callback_id });
  }

  /** A button that stands in #alerts from before, whatever it is of. */
  async function pressed({ on, isMenu }: Row, value: string, userId: string) {
    const text = (words: string) => ({ type: 'plain_text', text: words.slice(0, 70) });
    const element = isMenu
      ? { type: 'overflow', options: [value, 'none'].map((each) => ({ text: text(each), value: each })) }
      : { type: 'button', text: text('Press'), value };
    const { ts = '' } = await at.web.chat.postMessage({
      channel: HERE,
      text: 'from before',
      blocks: [{ type: 'actions', block_id: 'row', elements: [{ ...element, action_id: on }] }] as never,
    });
    return at.client.act('block.action', {
      userId,
      container: { type: 'message', channel: HERE, ts },
      block_id: 'row',
      action_id: on,
      input: isMenu ? { kind: 'option', value } : { kind: 'press' },
    });
  }

  async function meet(row: Row, scene: Scene, userId: string, cell: Cell): Promise<void> {
    const before = await recordNow(at, [scene.id]);
    const { since, told } = await drive(row, scene, userId);
    if (cell.how === 'nothing') return;
    const shown = (): readonly Shown[] => [
      ...(told === '' ? [] : [{ how: 'told' as const, text: told, seen: told }]),
      ...at.shown(userId).slice(since),
    ];
    await eventually(async () => {
      if (cell.how === 'done')
        expect((await recordNow(at, [scene.id])).get(scene.id)).not.toBe(before.get(scene.id));
      const wanted = shown().filter(({ how }) => cell.how === 'done' || how === cell.how);
      if (cell.how !== 'done' || cell.says.source !== '(?:)')
        expect(wanted.map(({ text }) => text).filter((text) => cell.says.test(text))).not.toEqual([]);
    }, PATIENCE_MS).catch((error: unknown) => {
      const said = shown().map(({ how, text }) => `${how}: ${text.slice(0, 300)}`);
      throw new Error(
        `expected ${cell.how} ${String(cell.says)}; it was shown:\n${said.join('\n') || 'nothing'}`,
        {
          cause: error,
        },
      );
    });
  }

  /** All four at once; who only looks, or is told no, shares what they are told no to. */
  async function cellsOf(row: Row, state: State): Promise<void> {
    const cells = row.cells[state];
    if (typeof cells === 'string') return;
    const needs = typeof row.needs === 'function' ? row.needs(state) : row.needs;
    const [shared, ...own] = await inTurn([null, ...cells.filter(({ how }) => how === 'done')], () =>
      setScene(at, state, needs),
    );
    const changes = row.also ?? [];
    const before = await recordNow(
      at,
      [shared?.id, shared?.another].flatMap((id) => id ?? []),
    );
    const failed: string[] = [];
    await Promise.all(
      ROLES.map(async (role, n) => {
        const cell = cells[n] as Cell;
        const scene = cell.how === 'done' ? own.shift() : shared;
        await meet(row, scene as Scene, ACCOUNTS[role], cell).catch((error: Error) =>
          failed.push(`${state}, ${role}: ${error.message}`),
        );
      }),
    );
    expect(failed).toEqual([]);
    const after = await recordNow(
      at,
      [shared?.id, shared?.another].flatMap((id) => id ?? []),
    );
    // Of the switch every open incident's thread is told.
    const isTold = (of: string): boolean => changes.includes('switch') && of.startsWith('INC-');
    for (const [of, mark] of before)
      if (!changes.some((each) => each === of) && !isTold(of))
        expect(`${of} ${after.get(of)}`).toBe(`${of} ${mark}`);
  }

  it.each([...ROWS, ...UNKNOWN].map((row) => [`${row.kind} ${row.on}`, row] as const))(
    '%s',
    async (_, row) => {
      const since = { stranger: at.shown(ACCOUNTS.stranger).length, guest: at.shown(ACCOUNTS.guest).length };
      for (const state of STATES) await cellsOf(row, state);
      for (const role of ['stranger', 'guest'] as const)
        expect(
          at
            .shown(ACCOUNTS[role])
            .slice(since[role])
            .map(({ text }) => text)
            .filter((text) => text.includes(PRIVATE_WORD)),
        ).toEqual([]);
    },
  );
});

const PATIENCE_MS = 5_000;

async function inTurn<T, R>(each: readonly T[], work: (one: T) => Promise<R>): Promise<readonly R[] & R[]> {
  const made: R[] = [];
  for (const one of each) made.push(await work(one));
  return made;
}
