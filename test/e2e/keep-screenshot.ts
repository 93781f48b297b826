import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { repository } from '../support/product.ts';

/** Where CI collects what people should look at; not in the repository. */
const folder = join(repository, 'test-results', 'screenshots');

/** Keeps what the page shows now as `test-results/screenshots/<name>.png`. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await page.evaluate('document.fonts.ready.then(() => true)');
  await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' });
}
