import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { defined } from '../../src/core/defined.ts';
import { messageOf } from '../../src/core/errors.ts';
import type { Log } from '../../src/core/log.ts';
import { readStateFile, writeStateFile } from '../../src/infra/process/state-file.ts';
import type { Fault } from '../slack/page-api.ts';
import type { Alerter } from './alerter.ts';
import type { HeldFault, Reading, ShopFault } from './fault.ts';

export type FaultAnswer =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly code: 'unknown_fault' | 'impossible' | 'busy' | 'already' | 'failed';
      readonly reason: string;
    };

interface Live {
  state: Fault['state'];
  detail: string | undefined;
  held: HeldFault | undefined;
  /** The condition has been true since it was caused: from then on, its end means that somebody fixed it. */
  seen: boolean;
  quiet: number;
  /** What its alert's expression saw last. */
  holds: boolean;
}

const everyMs = 1_000;
/** So many quiet looks in a row mean that it is over. */
const quietLooks = 3;

interface PanelParts {
  readonly faults: readonly ShopFault[];
  readonly alerter: Alerter;
  /** Where it is kept which are in place. */
  readonly path: string;
  readonly log: Log;
}

/** The faults, what state they are in, and the eye that watches their systems for the alerter. */
export class FaultPanel {
  readonly #parts: PanelParts;
  readonly #live = new Map<string, Live>();
  #watching: Promise<void> | undefined;
  #stopped = false;

  constructor(parts: PanelParts) {
    this.#parts = parts;
    const text = readStateFile(parts.path);
    const before = new Set(text === undefined ? [] : z.array(z.string()).parse(JSON.parse(text)));
    for (const { id } of parts.faults)
      this.#live.set(id, {
        state: before.has(id) ? 'active' : 'idle',
        detail: undefined,
        held: undefined,
        seen: false,
        quiet: 0,
        holds: false,
      });
  }

  get #possible(): readonly ShopFault[] {
    return this.#parts.faults.filter(({ impossible }) => impossible === null);
  }

  /** Learns first what survived a kill of this process: sessions did not, a bloated table did. */
  async start(): Promise<void> {
    for (const fault of this.#possible) {
      const live = this.#of(fault.id);
      if (live.state !== 'active') continue;
      const reading = await fault.read();
      if (reading.holds) Object.assign(live, { seen: true, detail: reading.says });
      else
        this.#over(
          fault,
          'It ended when the playground was restarted: the sessions that made it were part of that process.',
        );
    }
    this.#watching = this.#watch();
  }

  list(): readonly Fault[] {
    return this.#parts.faults.map((fault) => {
      const { id, system, title, description, impossible, needsPeople = false, rule } = fault;
      const { state, detail, holds } = this.#of(id);
      const fires = this.#parts.alerter.isFiring(id);
      return {
        id,
        system,
        title,
        description,
        impossible,
        needsPeople,
        alertname: rule.alertname,
        state,
        holds,
        fires,
        ...defined({ detail }),
      };
    });
  }

  cause(id: string): Promise<FaultAnswer> {
    return this.#change(id, 'causing', async (fault, live) => {
      live.held = await fault.cause();
      Object.assign(live, {
        state: 'active',
        seen: false,
        quiet: 0,
        detail: 'In place; the alert follows when it has lasted some seconds.',
      });
    });
  }

  /** Also of a fault that is not there: what is left of it is removed. */
  undo(id: string): Promise<FaultAnswer> {
    return this.#change(id, 'undoing', async (fault, live) => {
      await live.held?.release();
      live.held = undefined;
      await fault.undo();
      Object.assign(live, { state: 'idle', detail: undefined });
    });
  }

  /** Sessions end with it, as they do with a kill. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#watching;
    for (const live of this.#live.values()) await live.held?.release();
  }

  async #change(
    id: string,
    doing: 'causing' | 'undoing',
    work: (fault: ShopFault, live: Live) => Promise<void>,
  ): Promise<FaultAnswer> {
    const fault = this.#parts.faults.find((each) => each.id === id);
    if (fault === undefined)
      return { ok: false, code: 'unknown_fault', reason: `There is no fault "${id}".` };
    if (fault.impossible !== null) return { ok: false, code: 'impossible', reason: fault.impossible };
    const live = this.#of(id);
    if (doing === 'causing' && live.state === 'active')
      return { ok: false, code: 'already', reason: `${fault.title} is in place already.` };
    if (live.state === 'causing' || live.state === 'undoing')
      return {
        ok: false,
        code: 'busy',
        reason: `${fault.title} is being ${live.state === 'causing' ? 'caused' : 'undone'}.`,
      };
    Object.assign(live, { state: doing, detail: undefined });
    try {
      await work(fault, live);
      this.#save();
      return { ok: true };
    } catch (error) {
      Object.assign(live, { state: 'failed', detail: messageOf(error) });
      this.#parts.log.warn({ fault: fault.id, error: messageOf(error) }, `a fault failed while ${doing}`);
      return { ok: false, code: 'failed', reason: messageOf(error) };
    }
  }

  async #watch(): Promise<void> {
    while (!this.#stopped) {
      for (const fault of this.#possible) {
        try {
          const reading = await fault.read();
          this.#of(fault.id).holds = reading.holds;
          this.#parts.alerter.evaluate(fault, reading, Date.now());
          this.#follow(fault, reading);
        } catch (error) {
          // Not being able to look says nothing: nothing fires and nothing is resolved by it.
          if (!this.#stopped)
            this.#parts.log.warn(
              { fault: fault.id, error: messageOf(error) },
              `${fault.system} could not be read`,
            );
        }
      }
      this.#parts.alerter.deliver(Date.now());
      await sleep(everyMs);
    }
  }

  #follow(fault: ShopFault, reading: Reading): void {
    const live = this.#of(fault.id);
    if (live.state !== 'active') return;
    if (reading.holds) {
      const firing = this.#parts.alerter.isFiring(fault.id) ? ' The alert is firing.' : '';
      Object.assign(live, { seen: true, quiet: 0, detail: `${reading.says}.${firing}` });
      return;
    }
    live.quiet += 1;
    if (live.seen && live.quiet >= quietLooks) this.#over(fault, 'It is over: somebody fixed it.');
    // It never came to be: 30 s after it was caused nothing is to be seen of it.
    else if (!live.seen && live.quiet >= 30) this.#over(fault, 'It ended by itself before its alert fired.');
  }

  #over(fault: ShopFault, detail: string): void {
    const live = this.#of(fault.id);
    const { held } = live;
    Object.assign(live, { state: 'idle', held: undefined, detail });
    this.#save();
    void held
      ?.release()
      .catch((error: unknown) =>
        this.#parts.log.warn({ fault: fault.id, error: messageOf(error) }, 'could not release'),
      );
  }

  #of(id: string): Live {
    const live = this.#live.get(id);
    if (live === undefined) throw new Error(`no state for fault ${id}`);
    return live;
  }

  #save(): void {
    const active = [...this.#live].filter(([, { state }]) => state === 'active').map(([id]) => id);
    writeStateFile(this.#parts.path, JSON.stringify(active));
  }
}
