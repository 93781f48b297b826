/** A runbook file cut into its parts. Lines count from 1. */
export interface MarkdownParts {
  /** Null when the file does not begin with `---`. */
  readonly frontMatter: YamlPart | null;
  readonly blocks: readonly MachineBlock[];
  readonly body: string;
  readonly sections: readonly Section[];
  /** A fence or front matter that is opened and never closed. */
  readonly unclosed: { readonly line: number; readonly what: string } | null;
}

export interface YamlPart {
  readonly text: string;
  /** The line of the file on which `text` begins. */
  readonly line: number;
}

/** A fenced block whose info string is `yaml step` or `yaml verify`. */
export interface MachineBlock extends YamlPart {
  /** The second word after the fence, as written. */
  readonly kind: string;
  /** The nearest heading above. */
  readonly heading: string;
}

/** The prose under one heading, without the machine-readable blocks. */
export interface Section {
  /** From the top down: `['Blocked sessions', 'What to do']`. */
  readonly trail: readonly string[];
  readonly text: string;
}

/** Headings, fences and front matter, as in CommonMark; everything else is text. */
export function splitMarkdown(source: string): MarkdownParts {
  const lines = source.split(/\r?\n/);
  const top = frontMatterOf(lines);
  const blocks: MachineBlock[] = [];
  const sections: { trail: readonly string[]; lines: string[] }[] = [{ trail: [], lines: [] }];
  let unclosed = top.unclosed;
  let trail: { level: number; text: string }[] = [];
  const write = (line: string) => sections.at(-1)?.lines.push(line);

  for (let at = top.end; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const heading = /^(#{1,6})\s+(.+?)\s*#*$/.exec(line);
    const fence = /^(`{3,}|~{3,})\s*(.*)$/.exec(line);
    if (heading !== null) {
      const level = heading[1]?.length ?? 1;
      trail = [...trail.filter((above) => above.level < level), { level, text: heading[2] ?? '' }];
      sections.push({ trail: trail.map((above) => above.text), lines: [] });
    } else if (fence !== null) {
      const end = fenceEnd(lines, at, fence[1] ?? '```');
      if (end === -1) {
        unclosed ??= { line: at + 1, what: 'code block' };
        break;
      }
      const [language = '', kind = ''] = (fence[2] ?? '').split(/\s+/);
      const text = lines.slice(at + 1, end).join('\n');
      if (language === 'yaml' && kind !== '')
        blocks.push({ kind, text, line: at + 2, heading: trail.at(-1)?.text ?? '' });
      else lines.slice(at, end + 1).forEach(write);
      at = end;
    } else write(line);
  }
  return {
    frontMatter: top.frontMatter,
    blocks,
    body: lines.slice(top.end).join('\n').trim(),
    sections: sections
      .map((section) => ({ trail: section.trail, text: section.lines.join('\n').trim() }))
      .filter((section) => section.text !== ''),
    unclosed,
  };
}

function frontMatterOf(lines: readonly string[]) {
  if (lines[0] !== '---') return { frontMatter: null, end: 0, unclosed: null };
  const close = lines.indexOf('---', 1);
  if (close === -1) return { frontMatter: null, end: 1, unclosed: { line: 1, what: 'front matter' } };
  return { frontMatter: { text: lines.slice(1, close).join('\n'), line: 2 }, end: close + 1, unclosed: null };
}

function fenceEnd(lines: readonly string[], open: number, fence: string): number {
  const closing = new RegExp(`^${fence.charAt(0)}{${fence.length},}\\s*$`);
  return lines.findIndex((line, at) => at > open && closing.test(line));
}
