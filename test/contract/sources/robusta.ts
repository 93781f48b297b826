import type { SourceFixtures } from './fixtures.ts';

// Lines as Robusta's webhook sink puts them: the title, the links, the cluster, then what it found.
const text = (title: string, cluster = 'prod-1'): string =>
  [title, 'Investigate: https://platform.robusta.dev/f/1', `Source: ${cluster}`, 'Back-off restarting web']
    .map((line) => `\n${line}\n`)
    .join('');

export const fixtures: SourceFixtures = {
  firing: text('Crashing pod web-1 in namespace shop'),
  alert: {
    name: 'Crashing pod web-1 in namespace shop',
    title: 'Crashing pod web-1 in namespace shop',
    severity: 'unknown',
    target: 'prod-1',
    labels: { cluster: 'prod-1' },
    url: 'https://platform.robusta.dev/f/1',
  },
  resolved: null,
  otherThing: text('Crashing pod web-1 in namespace shop', 'prod-2'),
  carrying: (hostile) => text(`a${hostile}`),
  bad: [
    { payload: null, field: '', says: 'expected a JSON object' },
    { payload: '', field: 'title', says: 'expected a text' },
  ],
};
