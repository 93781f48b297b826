import type { Container } from '../objects.ts';
import { quantity } from '../quantity.ts';

/** What a container uses, in bytes. */
export function memoryOf({ resources }: Container): number {
  return (quantity(resources?.requests?.['memory']) || 64 * 1024 ** 2) / 2;
}
