import { nothingHeld } from '../fault.ts';
import { type ContainerFault, containerRule, isDown } from './container-fault.ts';
import { service, told } from './shop-containers.ts';

const CART = 'shop-cart';

export const containerDown: ContainerFault = {
  id: 'container_down',
  title: 'Container down',
  description: 'The shop’s cart ends with an error, and nothing starts it again.',
  rule: containerRule('ContainerDown', CART, 'is not running'),
  async cause({ make, atWork, tell, ends }) {
    await make(CART, service(CART, told('/fail', 'exit 2')));
    await atWork(CART);
    await tell(CART, '/fail');
    await ends(CART);
    return nothingHeld;
  },
  undo: ({ remove }) => remove(CART),
  read: (shop) => isDown(shop, CART),
};
