import { z } from 'zod';
import { toolsOf } from '../../tools/define.ts';
import { labelValues } from '../prometheus/tool.ts';
import type { Alertmanager } from './alertmanager.ts';

/** Offered in incidents of every domain: it knows of the alerts of all. */
export const alertmanagerTool = toolsOf<Alertmanager>('alertmanager', 'any');

/** Which alerts: each of these labels has exactly this value. Empty: they do not carry the label. */
export const someLabels = labelValues
  .optional()
  .describe('Only of alerts that carry exactly these labels; an empty value: they do not carry it.');

export const silenceId = z
  .string()
  .regex(/^[\w-]{1,64}$/, 'expected the id of a silence')
  .describe('The id of a silence.');
