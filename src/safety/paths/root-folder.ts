import { z } from 'zod';

/** Text without a character that nobody sees. */
export const plain = z
  .string()
  .regex(/^[^\p{Cc}\p{Cf}\p{Cs}]+$/u, 'holds a control or an invisible character');
/** An absolute path as an operator writes it. */
export const absolute = plain
  .max(1024)
  .refine(
    (path) => /^(?:\/(?!\.{1,2}(?:\/|$))[^/]+)+$/u.test(path),
    'expected an absolute path without "..", "//" or a slash at its end',
  );
/** A folder that may be read: not one of the system's own. */
export const folder = absolute.refine(
  (path) => !/^\/(?:proc|sys|dev|etc|run|boot|root)?$/u.test(path) && !/^\/(?:proc|sys|dev)\//u.test(path),
  'too wide, or no folder of files: name the folders of the application and of its logs',
);
/** Whether an operator could name it as a folder that may be read. */
export function mayBeRoot(path: string): boolean {
  return folder.safeParse(path).success;
}
