/** What a person has just said no to is not the next thing to do. */
export const AFTER_A_NO =
  'Somebody said no to the fix. “Approve after all” on its card asks for it again; a hint in the thread has it looked at again.';

/** What to do when the problem stands, and what was to be acted on is not part of it any more. */
export const NOT_TO_BLAME =
  'It is still there, and not because of what was to be mended. Have it looked at again; nothing was run.';

/** What a person should know when a problem went away before its fix ran. */
export const OVER_BY_ITSELF =
  'It is over by itself, and nothing was run. If it comes back, its alert has it looked at again.';
