import { Counter, Gauge, type Registry } from 'prom-client';
import { cacheAnswers } from '../core/cache-answers.ts';
import type { Sql } from '../core/sql.ts';
import { countPaged } from '../escalation/count-paged.ts';
import { countWaitingPages } from '../escalation/deliver-pages.ts';
import type { EscalationDeps } from '../escalation/escalation.ts';

const FRESH_MS = 5_000;

/** Counts what paging services are told, and what waits to be told. */
export function pageCounter(metrics: Registry, sql: Sql): EscalationDeps['counted'] {
  const registers = [metrics];
  const waiting = cacheAnswers(() => countWaitingPages(sql), FRESH_MS);
  new Gauge({
    name: 'sentry_pages_waiting',
    help: 'Pages that a paging service has not been told of yet, or of whose end.',
    registers,
    async collect() {
      this.set(await waiting(''));
    },
  });
  const ended = cacheAnswers(() => countPaged(sql), FRESH_MS);
  new Gauge({
    name: 'sentry_incidents_ended',
    help: 'Incidents that ended in the last seven days, by whether somebody was paged for them.',
    labelNames: ['paged'],
    registers,
    async collect() {
      const counts = await ended('');
      this.set({ paged: 'no' }, counts.unpaged);
      this.set({ paged: 'yes' }, counts.ended - counts.unpaged);
    },
  });
  const told = new Counter({
    name: 'sentry_pages_total',
    help: 'What paging services were told, by word (trigger, acknowledge, resolve) and outcome (sent, failed).',
    labelNames: ['word', 'outcome'],
    registers,
  });
  return (word, ok) => told.inc({ word, outcome: ok ? 'sent' : 'failed' });
}
