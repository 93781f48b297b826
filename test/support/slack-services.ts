import type { SlackDeps, SlackMemory } from '../../src/slack/ports.ts';
import { domains } from './targets.ts';

const refused = { ok: false, code: 'NOT_HERE', reason: 'Nothing of that is here.' } as const;
const refuse = async () => refused;

/** Memory that holds nothing. */
export const noMemory: SlackMemory = {
  adminChannel: 'sentry-admin',
  admins: [],
  isAdmin: async () => false,
  domains,
  promotions: {
    propose: refuse,
    decide: refuse,
    get: async () => null,
    review: async () => null,
    rehearse: async () => undefined,
    list: async () => [],
  },
  documents: {
    write: async () => ({ ...refused, findings: [] }),
    read: async () => null,
    list: async () => [],
    history: async () => [],
    ensureUserStore: async () => undefined as never,
    retire: refuse,
  },
  workspace: {
    list: async () => [],
    read: async () => null,
    history: async () => [],
    edit: refuse,
    rollBack: refuse,
    retire: refuse,
  },
  search: async () => ({ found: [], missing: null }),
  summary: async () => ({
    episodes: { total: 0, succeeded: 0, failed: 0, unknown: 0, archived: 0 },
    documents: [],
    versions: 0,
    proposalsWaiting: 0,
    systems: [],
    outbox: 0,
  }),
};

/** Everything about who decides is said in the environment, and nobody may change it. */
export const noSetUp: SlackDeps['setUp'] = {
  settings: {
    alertChannels: ['alerts'],
    approvers: [{ kind: 'group', name: 'oncall' }],
    admins: [{ kind: 'user', id: 'U0ADMIN' }],
    oncallGroup: 'oncall',
    adminChannel: 'sentry-admin',
    isFixed: () => true,
    version: 0,
    setBy: null,
    isOfAnother: false,
    isForged: false,
    refresh: async () => undefined,
    save: refuse,
    start: () => undefined,
    stop: async () => undefined,
  },
  isAdmin: async () => false,
  mayApprove: async () => false,
  schedules: [],
  examine: async () => [],
  raiseTest: refuse,
};

/** Questions that no model answers. */
export const noQuestions: SlackDeps['questions'] = {
  hasModel: false,
  readNow: async () => null,
  readable: () => null,
  before: async () => [],
  note: async () => undefined,
  ask: refuse,
  stop: async () => false,
  lastOf: async () => null,
};

/** What App Home is made of where nothing is set up. */
export const noHome: SlackDeps['home'] = {
  facts: async () => ({
    isAdmin: false,
    isStopped: false,
    state: [],
    cost: { says: '$0.00 of $100.00 today.', days: [] },
    onCall: null,
    targets: [],
    gaps: [],
    approvals: [],
    holders: new Map(),
    layers: [],
  }),
  layers: async () => [],
  access: async () => [],
  tools: () => [],
  watched: async () => [],
  gaps: async () => [],
  tried: async () => ({ incidents: 0, total: 0, succeeded: 0, failed: 0, words: [] }),
  targets: () => [],
};

/** The services behind Slack where a test is about something else: each refuses, or has nothing. */
export const noServices = {
  afterwards: {
    mayUndo: () => false,
    undo: refuse,
    askAgain: refuse,
    takeNoBack: refuse,
    runRest: refuse,
    settle: refuse,
  },
  plans: { fieldsOf: () => [], save: refuse, mayDecide: async () => undefined },
  hint: refuse,
  steer: { stop: refuse, resume: refuse, close: refuse, setSeverity: refuse },
  grade: async () => ({ ok: true }),
  questions: noQuestions,
  mutes: { hold: async () => new Set(), read: async () => null },
  correlation: { hold: async () => new Set(), split: refuse, merge: refuse },
  digDeeper: null,
  investigate: refuse,
  retryRead: { ask: refuse, grant: refuse },
  escalation: {
    take: refuse,
    assign: refuse,
    pageNow: refuse,
    wrote: async () => undefined,
    pagersAfter: () => [],
    calls: 'never',
    isQuiet: () => false,
  },
  measured: () => null,
  createManualIncident: refuse,
  memory: noMemory,
  handoff: async () => 'Nothing to hand over.',
  reports: { claim: async () => ({ kind: 'yours' }), made: async () => undefined },
  setUp: noSetUp,
  commands: {},
  statusLines: async () => [],
  home: noHome,
  approvalsChannel: null,
} satisfies Partial<SlackDeps>;
