import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { boundedChange, boundedPush } from '../core/change.ts';
import { OpsError } from '../core/errors.ts';
import type { PageNews } from '../core/page-news.ts';
import { storableJson } from '../core/storable.ts';
import { whyNot } from '../core/system-fault.ts';
import { alertmanager } from './alertmanager/index.ts';
import { bounded } from './bounded.ts';
import { cloudwatch } from './cloudwatch/index.ts';
import { containerEvents } from './container-events/index.ts';
import { loadMapping } from './declared/load-mapping.ts';
import { logLines } from './log-lines/index.ts';
import { readOpsgenieNews } from './opsgenie/page-news.ts';
import { readPagerDutyNews } from './pagerduty/page-news.ts';
import type { AlertSource, ReadContext } from './ports.ts';
import { slackMessage } from './slack-message/index.ts';
import { readSlackPageNews } from './slack-message/page-news.ts';

const here = import.meta.dirname;

const shipped = [alertmanager, cloudwatch, ...declared(), containerEvents, logLines, slackMessage];
const sources = shipped.map(storable);

/**
 * Every alert source, with those that `addMappings` added. Its line here, or its mapping, makes its webhook's route,
 * `--source`, label in the metrics and row in the docs.
 */
export const alertSources: readonly AlertSource[] = sources;

/** Those of which a folder beside this file holds nothing but a mapping. */
function declared(): AlertSource[] {
  return readdirSync(here)
    .toSorted()
    .filter((name) => !existsSync(join(here, name, 'index.ts')))
    .map((name) => join(here, name, 'mapping.yaml'))
    .filter((file) => existsSync(file))
    .map(loadMapping);
}

/**
 * PostgreSQL cannot store every text: what no source is shown, none can let through. And whatever a source reads, of any length
 * or depth, is an alert of bounds.
 */
function storable(source: AlertSource): AlertSource {
  return {
    ...source,
    async read(payload, context) {
      try {
        const read = await source.read(storableJson(payload), context);
        if (!read.ok) return read;
        const changes = read.changes?.map((change) => boundedChange(change, context.receivedAt));
        const pushes = read.pushes?.map(boundedPush);
        return {
          ...read,
          alerts: read.alerts.map(bounded),
          ...(changes ? { changes } : {}),
          ...(pushes ? { pushes } : {}),
        };
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        return { ok: false, field: '', reason: 'nested more deeply than anything that is read' };
      }
    },
  };
}

/**
 * Takes in an operator's own mapping files (`<folder>/*.yaml`), in place of those it took in before. Null: there are none.
 * @throws OpsError MAPPING
 */
export function addMappings(folder: string | null): void {
  sources.length = shipped.length;
  for (const file of folder === null ? [] : filesIn(folder)) {
    if (!/\.ya?ml$/.test(file)) continue;
    const source = loadMapping(join(folder as string, file));
    if (sources.some(({ name }) => name === source.name))
      throw new OpsError('MAPPING', `${file}: there is an alert source ${source.name} already`, {
        hint: 'Give it another name.',
      });
    sources.push(storable(source));
  }
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch (error) {
    throw new OpsError('MAPPING', `SENTRY_SOURCES_DIR: ${folder}: ${whyNot(error)}`, {
      hint: 'It names a folder of mapping files: docs/recipes/alert-source.md.',
    });
  }
}

const newsOf: ReadonlyMap<string, (payload: unknown, context: ReadContext) => PageNews | null> = new Map([
  ['pagerduty', readPagerDutyNews],
  ['opsgenie', readOpsgenieNews],
  ['slack', readSlackPageNews],
]);

/**
 * What a delivery to a source tells of a page that is ours by its key; null: nothing. Where the record has the page, the delivery is no
 * alert, whatever else it says; where it has not, it is read as any other. Never throws.
 */
export function readPageNews(source: string, payload: unknown, context: ReadContext): PageNews | null {
  return newsOf.get(source)?.(payload, context) ?? null;
}

/** The one that is meant where none is named, and that the playground speaks as. */
export const defaultSource: AlertSource = alertmanager;

export function alertSource(name: string): AlertSource {
  const found = alertSources.find((source) => source.name === name);
  if (found) return found;
  throw new OpsError('USAGE', `There is no alert source ${JSON.stringify(name)}.`, {
    hint: `There are: ${alertSources.map((source) => source.name).join(', ')}.`,
  });
}

/** Those that call us. */
export function webhookSources(): readonly AlertSource[] {
  return alertSources.filter(({ arrives }) => arrives === 'webhook');
}

/** Where a source posts its alerts. */
export function webhookPath({ name }: AlertSource): string {
  return `/webhooks/${name}`;
}

/** Those that send the end of every alert as well, name and title. */
export function endSenders(): ReadonlyMap<string, string> {
  return new Map(alertSources.filter(({ sendsEnds }) => sendsEnds).map(({ name, title }) => [name, title]));
}

/** The names of those that tell again of what still fires. */
export function repeaters(): ReadonlySet<string> {
  return new Set(alertSources.filter(({ repeats }) => repeats).map(({ name }) => name));
}
