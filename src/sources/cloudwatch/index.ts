import { join } from 'node:path';
import { loadMapping } from '../declared/load-mapping.ts';
import type { AlertSource } from '../ports.ts';
import { receiveSns } from './sns.ts';

export const cloudwatch: AlertSource = {
  ...loadMapping(join(import.meta.dirname, 'mapping.yaml')),
  receive: (payload) => receiveSns(payload, fetch),
};
