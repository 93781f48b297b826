const NOT_DRAWN = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]+/gu;

/** What another program wrote, for a log, a terminal or a model: without what those would obey, or nobody would see. */
export const plainWords = (text: string, max = 500): string =>
  text.replace(NOT_DRAWN, ' ').trim().slice(0, max);
