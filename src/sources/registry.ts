import { OpsError } from '../core/errors.ts';
import { storableJson } from '../core/storable.ts';
import { alertmanager } from './alertmanager/index.ts';
import { containerEvents } from './container-events/index.ts';
import { logLines } from './log-lines/index.ts';
import type { AlertSource } from './ports.ts';
import { slackMessage } from './slack-message/index.ts';

/** Every alert source. Its line makes its webhook's route, `--source`, label in the metrics and row in the docs. */
export const alertSources: readonly AlertSource[] = Object.values({
  alertmanager,
  containerEvents,
  logLines,
  slackMessage,
}).map((source) => ({
  ...source,
  // PostgreSQL cannot store every text. What no source is shown, none can let through.
  read: (payload, context) => source.read(storableJson(payload), context),
}));

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
export const webhookSources: readonly AlertSource[] = alertSources.filter(
  ({ arrives }) => arrives === 'webhook',
);

/** Where a source posts its alerts. */
export function webhookPath({ name }: AlertSource): string {
  return `/webhooks/${name}`;
}

/**
 * Those that send the end of every alert as well, name and title: a chat message alone may never be followed by one, nor
 * may the death of a container, or a line of a log.
 */
export const endSenders: ReadonlyMap<string, string> = new Map(
  webhookSources.map(({ name, title }) => [name, title]),
);
