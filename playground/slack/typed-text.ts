import type { Block } from './slack-shapes.ts';
import type { Workspace } from './workspace.ts';

const TOKEN =
  /<(?:@[UW][A-Z0-9]+|#C[A-Z0-9]+|!here|!channel|!subteam\^[A-Z0-9]+|https?:\/\/[^>\s]+)(?:\|[^>]*)?>/;

/**
 * What somebody typed, as Slack sends it: `@name` and `#channel` become `<@U…>` and `<#C…>` (with `|name` in
 * commands), links are wrapped, and `&`, `<`, `>` are escaped. Slack's own tokens pass as they are.
 */
export function escapeTyped(workspace: Workspace, typed: string, inCommand = false): string {
  const parts = typed.split(new RegExp(`(${TOKEN.source})`));
  return parts.map((part) => (TOKEN.test(part) ? part : escapePart(workspace, part, inCommand))).join('');
}

function escapePart(workspace: Workspace, text: string, inCommand: boolean): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return escaped
    .replace(/https?:\/\/[^\s]+/g, (link) => `<${link}>`)
    .replace(/(^|\s)@([\w.-]+)/g, (whole, before: string, name: string) => {
      const user = workspace.users().find((each) => each.name === name.toLowerCase());
      if (user !== undefined) return `${before}<@${user.id}${inCommand ? `|${user.name}` : ''}>`;
      const group = workspace.userGroups().find((each) => each.handle === name.toLowerCase());
      return group === undefined ? whole : `${before}<!subteam^${group.id}>`;
    })
    .replace(/(^|\s)#([\w-]+)/g, (whole, before: string, name: string) => {
      const channel = workspace.channels().find((each) => !each.is_im && each.name === name.toLowerCase());
      return channel === undefined ? whole : `${before}<#${channel.id}|${channel.name}>`;
    });
}

/** The `rich_text` block that Slack's client sends along with a typed message. */
export function richTextOf(text: string): Block {
  const elements = text
    .split(new RegExp(`(${TOKEN.source})`))
    .filter((part) => part !== '')
    .map(inline);
  return {
    type: 'rich_text',
    block_id: Math.random().toString(36).slice(2, 7),
    elements: [{ type: 'rich_text_section', elements }],
  };
}

function inline(part: string): Block {
  if (!TOKEN.test(part)) return { type: 'text', text: unescape(part) };
  const [target = '', label] = part.slice(1, -1).split('|');
  if (target.startsWith('@')) return { type: 'user', user_id: target.slice(1) };
  if (target.startsWith('#')) return { type: 'channel', channel_id: target.slice(1) };
  if (target.startsWith('!subteam^')) return { type: 'usergroup', usergroup_id: target.slice(9) };
  if (target.startsWith('!')) return { type: 'broadcast', range: target.slice(1) };
  return { type: 'link', url: unescape(target), ...(label === undefined ? {} : { text: unescape(label) }) };
}

function unescape(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
