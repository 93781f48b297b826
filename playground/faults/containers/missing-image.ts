import { nothingHeld } from '../fault.ts';
import { type ContainerFault, containerRule, isDown } from './container-fault.ts';
import { service } from './shop-containers.ts';
import type { ShopEngine } from './shop-engine.ts';

const SEARCH = 'shop-search';

export const missingImage: ContainerFault = {
  id: 'missing_image',
  title: 'Image that cannot be pulled',
  description: 'A deployment stopped the shop’s search and could not get the image of the new one.',
  rule: containerRule('ContainerImagePullFailed', SEARCH, 'could not be deployed'),
  async cause({ make, atWork, stop }) {
    await make(SEARCH, service(SEARCH, ':'));
    await atWork(SEARCH);
    await stop(SEARCH);
    return nothingHeld;
  },
  undo: ({ remove }) => remove(SEARCH),
  async read(shop) {
    const { holds, says } = await isDown(shop, SEARCH);
    return { holds, says: holds ? await refusalOf(shop.engine, 'shop/search:43') : says };
  },
};

/** What the engine answers a deployment of an image that is nowhere; no registry is asked. */
const refusalOf = ({ api }: ShopEngine, image: string): Promise<string> =>
  api.createContainer({ Image: image }).then(
    () => `${image} is there`,
    (error: { readonly json?: { readonly message?: string } }) => error.json?.message ?? String(error),
  );
