/** Stands where a text was that was forgotten: as an incident's title, it says that all of its words were. */
export const FORGOTTEN = '(forgotten)';
