import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

/** What a result says in words; of pictures, sounds and files it says that they are there. */
export function textOf({ content, structuredContent }: CallToolResult): string {
  const parts = content.map((block) => {
    switch (block.type) {
      case 'text':
        return block.text;
      case 'image':
      case 'audio':
        return `[${block.type}, ${block.mimeType}, left out]`;
      case 'resource_link':
        return `[link: ${block.name}, ${block.uri}]`;
      case 'resource':
        return 'text' in block.resource ? block.resource.text : `[file: ${block.resource.uri}, left out]`;
    }
  });
  if (parts.length > 0) return parts.join('\n');
  return structuredContent === undefined ? '(It says nothing.)' : JSON.stringify(structuredContent);
}
