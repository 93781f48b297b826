import { LIMITS } from '../limits.ts';
import { anything, boolean, byType, fields, list, type Rule, string, url } from './rules.ts';

/** Composition objects: text, confirm, options. */
export function plainText(max: number, min = 1): Rule {
  return byType(() => ({
    plain_text: fields({ type: anything, text: string(max, min) }, { emoji: boolean }),
  }));
}

export function mrkdwn(max: number): Rule {
  return byType(() => ({ mrkdwn: fields({ type: anything, text: string(max) }, { verbatim: boolean }) }));
}

export function anyText(max: number): Rule {
  return byType(() => ({
    plain_text: fields({ type: anything, text: string(max) }, { emoji: boolean }),
    mrkdwn: fields({ type: anything, text: string(max) }, { verbatim: boolean }),
  }));
}

export const confirm: Rule = fields(
  { text: anyText(LIMITS.confirm.text) },
  {
    title: plainText(LIMITS.confirm.title),
    confirm: plainText(LIMITS.confirm.button),
    deny: plainText(LIMITS.confirm.button),
    style: string(20),
  },
);

function optionWith(text: Rule): Rule {
  return fields(
    { text, value: string(LIMITS.option.value) },
    { description: anyText(LIMITS.option.description), url: url(LIMITS.option.url) },
  );
}

/** Options of selects and overflows are plain text; radio buttons and checkboxes may have markdown. */
export const plainOption: Rule = optionWith(plainText(LIMITS.option.text));
export const anyOption: Rule = optionWith(anyText(LIMITS.option.text));

export const optionGroup: Rule = fields({
  label: plainText(LIMITS.select.groupLabel),
  options: list(plainOption, LIMITS.select.options),
});

export const placeholder: Rule = plainText(LIMITS.select.placeholder);
