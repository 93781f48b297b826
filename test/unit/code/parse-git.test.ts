import { expect, test } from 'vitest';
import { changedFiles, commitsIn } from '../../../src/code/git/parse-git.ts';

test('commits without a title, an author or files are read as such', () => {
  expect(commitsIn('')).toEqual([]);
  expect(commitsIn('aa\x00t1\x00\x00\x00\x00bb\x00t2\x00noah\x00Two\x00\na.ts\x00b\nc.ts\x00\x00')).toEqual([
    { sha: 'aa', at: 't1', by: '', title: '', files: [] },
    { sha: 'bb', at: 't2', by: 'noah', title: 'Two', files: ['a.ts', 'b\nc.ts'] },
  ]);
});

test('names of files that look like heads are names', () => {
  const raw = ':100644 100644 a b M\x00:evil\x00:100644 100644 a b R090\x001\t2\told\x00new\x00';
  expect(changedFiles(`${raw}1\t2\t:evil\x003\t4\t\x001\t2\told\x00new\x00`)).toEqual([
    { path: ':evil', status: 'changed', added: 1, removed: 2 },
    { path: 'new', was: '1\t2\told', status: 'renamed', added: 3, removed: 4 },
  ]);
});
