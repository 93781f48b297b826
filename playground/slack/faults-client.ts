import type { FaultPanel, FaultsAnswer, PageAnswer } from './page-api.ts';
import { asText, isRecord } from './validate/rules.ts';

const POLL_MS = 2000;
const LIST_TIMEOUT_MS = 5000;
/** Causing a fault may fill a table first. */
const ACT_TIMEOUT_MS = 120_000;

/** The panel's connection to the faults server: lists, causes, undoes, and notices changes by polling. */
export class FaultsClient {
  readonly #url: string | undefined;
  readonly #changed: (panel: FaultPanel) => void;
  #panel: FaultPanel;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(url: string | undefined, changed: (panel: FaultPanel) => void) {
    this.#url = url?.replace(/\/$/, '');
    this.#changed = changed;
    this.#panel = {
      available: false,
      reason:
        url === undefined
          ? 'No faults server was started with this workspace.'
          : 'Waiting for the faults server.',
      faults: [],
    };
  }

  panel(): FaultPanel {
    return this.#panel;
  }

  start(): void {
    if (this.#url !== undefined) void this.#poll();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  async act(id: string, what: 'cause' | 'undo'): Promise<PageAnswer> {
    if (this.#url === undefined)
      return { ok: false, error: 'no_faults_server', reason: this.#panel.reason ?? '' };
    const doing = what === 'cause' ? 'causing' : 'undoing';
    this.#set({
      ...this.#panel,
      faults: this.#panel.faults.map((fault) => (fault.id === id ? { ...fault, state: doing } : fault)),
    });
    try {
      const response = await fetch(`${this.#url}/faults/${encodeURIComponent(id)}/${what}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
        signal: AbortSignal.timeout(ACT_TIMEOUT_MS),
      });
      const answer: unknown = await response.json();
      if (response.ok && isRecord(answer) && answer['ok'] === true) return { ok: true };
      const reason = isRecord(answer) ? asText(answer['reason'] ?? answer['error']) : '';
      return { ok: false, error: 'fault_failed', reason: reason === '' ? `HTTP ${response.status}` : reason };
    } catch (error) {
      return {
        ok: false,
        error: 'fault_failed',
        reason: error instanceof Error ? error.message : String(error),
      };
    } finally {
      await this.#refresh();
    }
  }

  async #poll(): Promise<void> {
    await this.#refresh();
    if (this.#closed) return;
    this.#timer = setTimeout(() => void this.#poll(), POLL_MS);
    this.#timer.unref();
  }

  async #refresh(): Promise<void> {
    try {
      const response = await fetch(`${this.#url}/faults`, { signal: AbortSignal.timeout(LIST_TIMEOUT_MS) });
      const { faults } = (await response.json()) as FaultsAnswer;
      this.#set({ available: true, faults });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#set({
        available: false,
        reason: `The faults server does not answer: ${why}`,
        faults: this.#panel.faults,
      });
    }
  }

  #set(panel: FaultPanel): void {
    if (JSON.stringify(panel) === JSON.stringify(this.#panel)) return;
    this.#panel = panel;
    this.#changed(panel);
  }
}
