import { expect, test } from 'vitest';
import { repositoriesOf } from '../../../src/code/open-repositories.ts';
import type { Repository } from '../../../src/code/repository.ts';
import type { ChangesScope } from '../../../src/core/what-changed.ts';

const repository = (name: string, ...of: readonly string[]) => ({ name, of }) as unknown as Repository;
const all = [
  repository('shop', 'shop'),
  repository('checkout', 'checkout'),
  repository('billing', 'billing', 'checkout'),
  repository('cart', 'cart-db'),
];

test.each<[string, ChangesScope, readonly string[]]>([
  ['its own', { target: 'Shop', neighbours: [], names: ['shop'] }, ['shop']],
  ['a neighbour’s', { target: 'shop', neighbours: ['cart-db'], names: [] }, ['shop', 'cart']],
  [
    'a service’s, and not what is of another system',
    { target: 'shop', neighbours: [], names: ['checkout'], others: ['billing'] },
    ['shop', 'checkout'],
  ],
  [
    'a service’s, where the incident has no system',
    { target: null, neighbours: [], names: ['checkout'], others: ['billing'] },
    ['checkout', 'billing'],
  ],
])('code is opened: %s', (_, scope, names) => {
  expect(repositoriesOf(all, scope).map(({ name }) => name)).toEqual(names);
});
