import type { Resource } from './resources.ts';

export const wantsTable = (_accept: string): boolean => false;
export const asTable = (_resource: Resource, body: object): object => body;
