/** What a person has just said no to is not the next thing to do. Who said it stands before this. */
export const AFTER_A_NO =
  'Nothing more is done by itself. “Approve after all” on its card asks for the fix again; a hint in the thread has it looked at again.';

/** What to do when the problem stands, and what was to be acted on is not part of it any more. */
export const NOT_TO_BLAME =
  'It is still there, and not because of what was to be mended. Have it looked at again; nothing was run.';

/** Nothing was being worked on when it was stopped, so nothing goes on by itself. */
export const RESUMED_AT_REST =
  'Nothing comes by itself any more: a person decides. A hint in the thread has it looked at again.';

/** The limit is over, and nobody can tell whether there is anything left to do. */
export const LIMIT_OVER_UNREAD =
  'The limit is over, but whether the problem is still there could not be read, so I have not asked again. A hint in the thread has it looked at again.';

/** What a person should know when a problem went away before its fix ran. */
export const OVER_BY_ITSELF =
  'It is over by itself, and nothing was run. If it comes back, its alert has it looked at again.';

/** What was found is not there when it is looked at once more: nobody has fixed it, and nobody says that it is over. */
export const SEEN_NO_MORE =
  'What I found is no longer there. I have not seen it end, so I call it neither fixed nor over. If it comes back, its alert has it looked at again.';
