/**
 * Types shared by the page's modules; nothing runs here.
 *
 * @typedef {import('./dom.js').VNode} VNode
 * @typedef {import('./dom.js').Child} Child
 * @typedef {import('../../../page-api.ts').PageSnapshot} PageSnapshot
 * @typedef {import('../../../page-api.ts').PageDelta} PageDelta
 * @typedef {import('../../../page-api.ts').PageFrame} PageFrame
 * @typedef {import('../../../page-api.ts').PageActions} PageActions
 * @typedef {import('../../../page-api.ts').PageAnswer} PageAnswer
 * @typedef {import('../../../page-api.ts').ElementInput} ElementInput
 * @typedef {import('../../../page-api.ts').FormInput} FormInput
 * @typedef {import('../../../page-api.ts').ActionContainer} ActionContainer
 * @typedef {import('../../../page-api.ts').Fault} Fault
 * @typedef {import('../../../page-api.ts').RecordedFrame} RecordedFrame
 * @typedef {import('../../../slack-shapes.ts').Message} Message
 * @typedef {import('../../../slack-shapes.ts').Channel} Channel
 * @typedef {import('../../../slack-shapes.ts').User} User
 * @typedef {import('../../../slack-shapes.ts').UserGroup} UserGroup
 * @typedef {import('../../../slack-shapes.ts').View} View
 *
 * Blocks and elements come from apps: every field is checked where it is read.
 * @typedef {Record<string, any>} Block
 * @typedef {Record<string, any>} Element_
 *
 * What the workspace knows by id, for drawing mentions.
 * @typedef {{
 *   users: Map<string, User>,
 *   channels: Map<string, Channel>,
 *   groups: Map<string, UserGroup>,
 * }} Directory
 *
 * What a block needs around it. `scope` names the surface it stands on and keys its local state.
 * @typedef {{
 *   dir: Directory,
 *   viewer: string,
 *   scope: string,
 *   surface: 'message' | 'modal' | 'home',
 *   local: { get: (key: string) => any, set: (key: string, value: any) => void },
 *   form: {
 *     get: (blockId: string, actionId: string) => ElementInput | undefined,
 *     set: (blockId: string, actionId: string, input: ElementInput) => void,
 *   },
 *   errors: Readonly<Record<string, string>>,
 *   busy: (blockId: string, actionId: string) => boolean,
 *   act: (block: Block, element: Element_, input: ElementInput) => void,
 *   loadOptions: (block: Block, element: Element_, query: string) => Promise<Block[]>,
 *   openMenu: (anchor: Element, menu: Menu) => void,
 *   openLink: (url: string) => boolean,
 *   openUser?: (id: string) => void,
 *   openImage: (url: string, alt: string) => void,
 * }} Ctx
 *
 * A list that opens at an element: a select's options or an overflow menu.
 * @typedef {{
 *   label: string,
 *   groups: { label?: string, options: MenuOption[] }[],
 *   multi?: boolean,
 *   search?: boolean,
 *   load?: (query: string) => Promise<{ label?: string, options: MenuOption[] }[]>,
 *   chosen?: string[],
 *   max?: number,
 *   pick: (values: string[]) => void,
 * }} Menu
 * @typedef {{ value: string, text: string, description?: string, danger?: boolean, href?: string }} MenuOption
 */
export {};
