/** What an encoder would have escaped in a file's name and what does no harm there. */
const benign = /^[ ()[\]{},'+@&=!#:]$|^[^\p{ASCII}]$/u;

/**
 * What the percent escapes of a path's text stand for, read once. `undefined` when an escape is malformed, is not
 * UTF-8 (overlong forms), or hides something that needs no escape in a file's name: a letter, a dot, a separator, a
 * percent sign (double encoding), a control. Nobody decodes the path after this check; it is refused because a caller
 * who encodes a dot wants the check to miss it.
 */
export function unescapePath(text: string): string | undefined {
  let hidden = false;
  const shown = text.replaceAll(/(?:%[0-9a-f]{2})+/giu, (run) => {
    const decoded = decode(run);
    if (decoded === undefined || Array.from(decoded).some((character) => !benign.test(character)))
      hidden = true;
    return decoded ?? '';
  });
  if (hidden) return undefined;
  // What is left of a percent sign before a letter, a digit or another percent sign is a broken or a %u escape.
  return /%(?=[\p{L}\p{N}%])/u.test(shown) ? undefined : shown;
}

function decode(run: string): string | undefined {
  const bytes = Buffer.from(run.replaceAll('%', ''), 'hex');
  const text = bytes.toString('utf8');
  return Buffer.from(text, 'utf8').equals(bytes) ? text : undefined;
}
