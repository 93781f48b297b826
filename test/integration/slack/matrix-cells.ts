import type { FormInput } from '../../../playground/slack/page-api.ts';
import { USERS } from '../../../playground/slack/seed.ts';
import { editView, handOverView } from '../../../src/slack/views/card-views.ts';
import { denyView } from '../../../src/slack/views/deny.ts';
import { digView } from '../../../src/slack/views/dig-deeper.ts';
import { grantView } from '../../../src/slack/views/grant.ts';
import { HOME } from '../../../src/slack/views/home.ts';
import { REPORT_TEXT, reportView } from '../../../src/slack/views/home-windows.ts';
import { editDocumentView, proposeView } from '../../../src/slack/views/memory-views.ts';
import { settingsView } from '../../../src/slack/views/onboarding.ts';
import { orderView } from '../../../src/slack/views/order-views.ts';
import { editPromotionView, rejectView } from '../../../src/slack/views/promotion-views.ts';
import { anAction, anIncident } from '../../support/incident-record.ts';
import type { Needs, Scene, State } from '../../support/matrix-scene.ts';
import { HERE } from '../../support/whole-slack.ts';

/** In the order of the cells of a row. A stranger is a member who is not on call; the guest is even in the group on call. */
export const ROLES = ['onCall', 'admin', 'stranger', 'guest'] as const;

/**
 * What one person meets: it is done, and stands on record; they are told this, and nothing changes; a window opens that says this;
 * or there is nothing for them, for a reason.
 */
export type Cell =
  | { readonly how: 'done' | 'told' | 'window'; readonly says: RegExp }
  | { readonly how: 'nothing'; readonly because: string };
type Cells = readonly [onCall: Cell, admin: Cell, stranger: Cell, guest: Cell];
/** A reason: no such case. */
type InState = Cells | string;

export interface Row {
  readonly kind: 'action' | 'view' | 'shortcut' | 'command';
  /** As it is registered, or as the command is called. */
  readonly on: string;
  readonly needs?: Needs | ((state: State) => Needs);
  /** A button's value, what is typed, or a window and what is entered in it. */
  readonly by: (scene: Scene) => string | { readonly view: unknown; readonly form: FormInput };
  /** What else on record changes by it. */
  readonly also?: readonly ('incidents' | 'mutes' | 'memory' | 'proposals' | 'switch')[];
  /** Chosen behind three dots. */
  readonly isMenu?: true;
  readonly cells: Readonly<Record<State, InState>>;
}

const done = (says = /(?:)/): Cell => ({ how: 'done', says });
const told = (says: RegExp): Cell => ({ how: 'told', says });
const window = (says: RegExp): Cell => ({ how: 'window', says });

const GUEST = told(/Guests cannot do that; members can/);
const NOT_SEEN = /in a channel that you may not see|There is no INC-\d+ that you may see/;
const HIDDEN = told(NOT_SEEN);
const ONCALL = told(/Only @oncall may approve (?:or deny )?this/);
const DENIERS = told(/Only @oncall may approve or deny this/);
const ADMINS = told(/Only admins (?:decide|change) what everybody’s memory says/);

const members = (cell: Cell): Cells => [cell, cell, cell, GUEST];
/** Of the private channel. */
const insiders = (cell: Cell): Cells => [cell, cell, HIDDEN, GUEST];
const approvers = (cell: Cell): Cells => [cell, ONCALL, ONCALL, GUEST];
const admins = (cell: Cell): Cells => [ADMINS, cell, ADMINS, GUEST];
const all = (cell: Cell): Cells => [cell, cell, cell, cell];

const OVER = told(/INC-\d+ is over/);
const NO_AGE = 'nothing of it grows old';
const NO_INCIDENT = 'it is of no incident';
const AGED = 'a proposal for memory waits until it is decided';

/** Anybody here may do it with an incident they may read of, until it is over. */
const ofMembers = (cell: Cell, over: Cell = OVER): Row['cells'] => ({
  ok: members(cell),
  expired: members(cell),
  elses: insiders(cell),
  closed: members(over),
});
/** A window of what is on record, for who may read of it. */
const ofReaders = (says: RegExp, gone: RegExp): Row['cells'] => ({
  ok: all(window(says)),
  expired: all(window(gone)),
  elses: [window(says), window(says), window(NOT_SEEN), window(NOT_SEEN)],
  closed: all(window(says)),
});
/** The same whatever the incident is: it is about none. */
const ofNone = (cells: Cells): Row['cells'] => ({
  ok: cells,
  expired: NO_INCIDENT,
  elses: NO_INCIDENT,
  closed: NO_INCIDENT,
});

type More = Omit<Row, 'kind' | 'on' | 'by' | 'cells'> & {
  /** Who is chosen in a field of people. */
  readonly person?: readonly [field: string, user: string];
};
const press = (on: string, by: (scene: Scene) => string, cells: Row['cells'], more: More = {}): Row => ({
  kind: 'action',
  on,
  by,
  cells,
  ...more,
});
const typed = (on: string, by: (scene: Scene) => string, cells: Row['cells'], more: More = {}): Row => ({
  kind: 'command',
  on,
  by,
  cells,
  ...more,
});
/** Behind the three dots of a message that stands in #alerts. */
const chosen = (on: string, cells: Row['cells'], more: More = {}): Row => ({
  kind: 'shortcut',
  on,
  by: () => 'shop-db answers slowly',
  cells,
  ...more,
});
const submit = (
  on: string,
  view: (scene: Scene) => unknown,
  entered: Readonly<Record<string, string>>,
  cells: Row['cells'],
  more: More = {},
): Row => ({
  kind: 'view',
  on,
  by: (scene) => ({
    view: view(scene),
    form: {
      ...Object.fromEntries(
        Object.entries(entered).map(([id, value]) => [id, { [id]: { kind: 'text', value } }]),
      ),
      ...(more.person
        ? { [more.person[0]]: { [more.person[0]]: { kind: 'id', value: more.person[1] } } }
        : {}),
    },
  }),
  cells,
  ...more,
});

const aged = (state: State): Needs => (state === 'expired' ? { deleted: true } : {});
const proposed = (state: State): Needs => ({ promotion: state === 'closed' ? 'decided' : 'pending' });
const where = { channel: HERE, threadTs: null };
const document = ({ document: id, documentSha: sha256 }: Scene) =>
  ({
    id,
    sha256,
    title: 'x',
    store: 'workspace_runbooks',
    path: 'p',
    content: 'End it, then ask.',
    docType: 'note',
  }) as never;
const promotion = ({ jobId, seen }: Scene) =>
  ({
    jobId,
    sha256: seen.split(':')[1],
    currentSha256AtProposal: null,
    current: null,
    title: 'x',
    content: 'End it, then ask.',
    target: { store: 'workspace_runbooks', path: 'p' },
  }) as never;

const DELETED = /details .* (?:were|are) deleted|not on record any more/is;
const GRADES = ['useful_yes', 'useful_no', 'cause_right_yes', 'cause_right_no'].map((each) =>
  press(`sentry_grade_${each}`, ({ id }) => id, ofMembers(done(), done()), {
    needs: { incident: 'reported' },
  }),
);
/** Of what is denied: who may say No may have it asked again. */
const changedMind = (on: string, closed: Cells): Row =>
  press(
    on,
    ({ plan }) => plan,
    { ok: approvers(done()), expired: approvers(done()), elses: approvers(done()), closed },
    { needs: { incident: 'reported', denied: true } },
  );
const settled = (on: string): Row =>
  press(
    on,
    ({ plan }) => plan,
    {
      ok: approvers(done()),
      expired: approvers(done()),
      elses: approvers(done()),
      closed: approvers(done()),
    },
    { needs: { incident: 'remediating', action: { state: 'unknown' } } },
  );

const membersSee = (says: RegExp): Cells => [window(says), window(says), window(says), window(/Guests/)];
const NO_SWITCH = told(/admin/);
const SETTERS = /Only admins|admin/;
const LOOKED_AT_CARD = (says: RegExp): Row['cells'] => ({
  ok: membersSee(says),
  expired: membersSee(says),
  elses: [window(says), window(says), window(NOT_SEEN), window(/./)],
  closed: membersSee(says),
});
const REPORTED: Row['cells'] = {
  ok: members(told(/is not over\. This is its report so far, for you alone/)),
  expired: members(told(/This is its report/)),
  elses: insiders(told(/This is its report so far/)),
  closed: members(told(/This is its report, for you alone/)),
};
const DRAFT = told(/A draft of a runbook.*an admin has promoted it/s);
const DRAFTED: Row['cells'] = {
  ok: members(DRAFT),
  expired: members(told(/A draft of a runbook|were deleted for their age/)),
  elses: insiders(DRAFT),
  closed: members(DRAFT),
};
const EDITED: Row['cells'] = {
  ok: [window(/./), window(/./), window(/./), window(/Guests/)],
  expired: [window(/./), window(/./), window(/./), window(/Guests/)],
  elses: [window(/./), window(/./), window(NOT_SEEN), window(/Guests/)],
  closed: [window(/./), window(/./), window(/./), window(/Guests/)],
};
const HANDED: Row['cells'] = {
  ok: members(told(/They cannot decide this/)),
  expired: members(told(/not open any more/)),
  elses: insiders(told(/They cannot decide this/)),
  closed: members(told(/not open any more/)),
};
const NOTHING_SET = {
  settings: {
    isFixed: () => true,
    version: 0,
    alertChannels: [],
    approvers: [],
    admins: [],
    oncallGroup: null,
    adminChannel: 'sentry-admin',
  },
  version: 0,
  values: {},
  groups: [],
  schedules: [],
  problem: null,
} as never;

export const ROWS: readonly Row[] = [
  press('sentry_approve', ({ plan }) => plan, {
    ok: approvers(done()),
    expired: approvers(told(/This approval has expired\. Nothing was run/)),
    elses: approvers(done()),
    closed: approvers(told(/This is void.*Nothing was run/)),
  }),
  press('sentry_deny', ({ plan }) => plan, {
    ok: approvers(window(/Why not\?/)),
    expired: approvers(window(/Why not\?/)),
    elses: [window(/Why not\?/), DENIERS, HIDDEN, GUEST],
    closed: approvers(window(/Why not\?/)),
  }),
  press(
    'sentry_undo',
    ({ plan }) => plan,
    {
      ok: members(told(/There is nothing here to undo by a click/)),
      expired: members(told(/There is nothing here to undo by a click/)),
      elses: members(told(/There is nothing here to undo by a click/)),
      closed: members(told(/There is nothing here to undo by a click/)),
    },
    { needs: { incident: 'escalated', action: { state: 'succeeded' } } },
  ),
  changedMind('sentry_after_all', approvers(OVER)),
  changedMind('sentry_take_back', members(told(/Nothing is on record that could be taken back/))),
  press(
    'sentry_rest',
    ({ plan }) => plan,
    { ok: approvers(done()), expired: approvers(done()), elses: approvers(done()), closed: approvers(OVER) },
    { needs: { incident: 'escalated', action: { state: 'succeeded' }, rest: true } },
  ),
  settled('sentry_ran'),
  settled('sentry_did_not_run'),
  press('sentry_output', ({ call }) => call, {
    ...ofReaders(/postgres_blocking_tree on shop-db/, /postgres_blocking_tree on shop-db/),
    expired: 'tool calls are deleted with their incident’s details: their row is not there then',
  }),
  ...(['next', 'back'] as const).map((way) =>
    press(`sentry_output_page_${way}`, ({ call }) => `${call}:${way === 'next' ? 1 : 0}`, {
      ok: all(window(/postgres_blocking_tree on shop-db/)),
      expired: 'tool calls are deleted with their incident’s details: their row is not there then',
      elses: [window(/blocking_tree/), window(/blocking_tree/), HIDDEN, HIDDEN],
      closed: all(window(/postgres_blocking_tree on shop-db/)),
    }),
  ),
  press('sentry_evidence', ({ actionId }) => actionId, ofReaders(/The exact command/, DELETED), {
    needs: aged,
  }),
  press('sentry_why', ({ id }) => id, ofReaders(/sessions are blocked/, /INC-\d+/), { needs: aged }),
  press('sentry_steps', ({ id }) => id, ofReaders(/who blocks whom/, DELETED), { needs: aged }),
  press('sentry_diagnosis', ({ id }) => `${id}:1`, ofReaders(/Cause found/, /Cause found/), { needs: aged }),
  press(
    'sentry_dig',
    ({ id }) => id,
    ofMembers(window(/Claude looks at INC-\d+ again/), told(/nothing to dig into/)),
    {
      needs: { incident: 'reported' },
    },
  ),
  ...['sentry_investigate', 'sentry_again'].map((on) =>
    press(on, ({ id }) => id, ofMembers(done()), { needs: { incident: 'reported' } }),
  ),
  press(
    'sentry_read_again',
    ({ read }) => read,
    {
      ok: [done(), done(), told(/Approvers, admins and who is on call may do that/), GUEST],
      expired: [done(), done(), told(/Approvers, admins and who is on call may do that/), GUEST],
      elses: [done(), done(), HIDDEN, GUEST],
      closed: [told(/has ended/), told(/has ended/), told(/Approvers, admins/), GUEST],
    },
    { needs: { incident: 'reported', failedRead: 'TIMEOUT' } },
  ),
  press(
    'sentry_grant',
    ({ read }) => read,
    {
      ok: [
        window(/Who may/),
        window(/Who may/),
        told(/Approvers, admins and who is on call may do that/),
        GUEST,
      ],
      expired: [window(/Who may/), window(/Who may/), told(/Approvers, admins/), GUEST],
      elses: [window(/Who may/), window(/Who may/), HIDDEN, GUEST],
      closed: [told(/has ended/), told(/has ended/), told(/Approvers, admins/), GUEST],
    },
    { needs: { incident: 'reported', failedRead: 'POSTGRES_42501' } },
  ),
  press('sentry_split', ({ id }) => id, ofMembers(done(), told(/is on its own already/)), {
    needs: { incident: 'open', mergedInto: 'another' },
  }),
  press('sentry_put_back', ({ id, another }) => `${id}:${another}`, ofMembers(done()), {
    needs: { incident: 'open', action: { state: 'void' } },
  }),
  press('sentry_take', ({ id }) => id, ofMembers(done())),
  press('sentry_page', ({ id }) => id, ofMembers(told(/Everybody who can be paged has been paged/))),
  press('sentry_stop', ({ id }) => id, ofMembers(done(/is stopped\. To go on/), told(/nothing to stop/))),
  press('sentry_resume', ({ id }) => id, ofMembers(done(/goes on/), told(/is not stopped/)), {
    needs: { incident: 'stopped' },
  }),
  press(
    'sentry_more',
    ({ id }) => `close:${id}`,
    {
      ok: [
        window(/is over because you say so/),
        window(/is over because/),
        window(/is over because/),
        window(/Guests/),
      ],
      expired: [
        window(/is over because/),
        window(/is over because/),
        window(/is over because/),
        window(/Guests/),
      ],
      elses: [
        window(/is over because/),
        window(/is over because/),
        window(NOT_SEEN),
        window(/Guests cannot/),
      ],
      closed: [
        window(/is over already/),
        window(/is over already/),
        window(/is over already/),
        window(/Guests/),
      ],
    },
    { isMenu: true },
  ),
  press('sentry_card_more', ({ plan }) => `why:${plan}`, LOOKED_AT_CARD(/Why this/), { isMenu: true }),
  press('sentry_report', ({ id }) => id, REPORTED),
  press('sentry_draft_runbook', ({ id }) => id, DRAFTED, { also: ['memory'] }),
  press('sentry_share', () => 'an answer of before', {
    ok: 'what they were told, each their own: share.test.ts',
    expired: all(told(/This answer is too old to be shared/)),
    elses: 'what may not be read where it is shared: share.test.ts',
    closed: NO_INCIDENT,
  }),
  press(
    'sentry_settings',
    () => 'x',
    ofNone([window(SETTERS), window(/Only admins change this/), window(SETTERS), window(/Guests/)]),
  ),
  press(
    'sentry_settings_test',
    () => 'x',
    ofNone([told(SETTERS), told(/is open as a test/), told(SETTERS), GUEST]),
    { also: ['incidents'] },
  ),
  press('sentry_tell_me', () => 'on', ofNone(members(told(/I write to you when an approval waits/)))),
  ...[HOME.incidents, HOME.incidentsOpen, HOME.incidentsToday].map((on) =>
    press(
      on,
      () => (on === HOME.incidentsToday ? 'today' : 'open'),
      ofNone(all(window(/sessions are blocked/))),
    ),
  ),
  press(HOME.incidentsResolved, () => 'resolved', ofNone(all(window(/Resolved/)))),
  press(HOME.incidentsOlder, ({ id }) => `open:${id}`, ofNone(all(window(/Open/)))),
  ...(
    [
      [HOME.report, /What do you see\?/],
      [HOME.gaps, /./],
      [HOME.layers, /./],
      [HOME.roles, /detective/i],
      [HOME.memory, /./],
      [HOME.tools, /./],
      [HOME.watched, /./],
    ] as const
  ).map(([on, says]) => press(on, () => 'x', ofNone(membersSee(says)))),
  press(
    HOME.watchSet,
    () => 'stop shop-db',
    ofNone([told(/Only admins/), told(/./), told(/Only admins/), GUEST]),
  ),
  press('sentry_link', ({ id }) => id, {
    ok: all({ how: 'nothing', because: 'the browser opens the link' }),
    expired: NO_AGE,
    elses: 'who may read what the link leads to is Slack’s to say',
    closed: NO_AGE,
  }),
  press(
    'sentry_promotion_approve',
    ({ seen }) => seen,
    {
      ok: admins(done()),
      expired: AGED,
      elses: admins(done()),
      closed: admins(told(/amara has approved this already\. It is decided once/)),
    },
    { needs: proposed, also: ['memory', 'proposals'] },
  ),
  ...(['edit', 'reject'] as const).map((way) =>
    press(
      `sentry_promotion_${way}`,
      ({ seen }) => seen,
      {
        ok: admins(window(way === 'edit' ? /will stand at/ : /Why not\?/)),
        expired: AGED,
        elses: admins(window(way === 'edit' ? /will stand at/ : /Why not\?/)),
        closed: admins(told(/has approved this already/)),
      },
      { needs: proposed },
    ),
  ),
  ...(['show', 'sources'] as const).map((way) =>
    press(
      `sentry_promotion_${way}`,
      ({ jobId }) => jobId,
      {
        ok: all(window(way === 'show' ? /What it says/ : /Proposed by/)),
        expired: AGED,
        elses: [
          window(way === 'show' ? /What it says/ : /Proposed by/),
          window(way === 'show' ? /What it says/ : /Proposed by/),
          window(NOT_SEEN),
          window(NOT_SEEN),
        ],
        closed: all(window(way === 'show' ? /What it says/ : /Proposed by/)),
      },
      { needs: proposed },
    ),
  ),
  press(
    'sentry_promotion_rehearse',
    ({ jobId }) => jobId,
    {
      ok: admins(told(/steps/)),
      expired: AGED,
      elses: admins(told(/steps/)),
      closed: admins(told(/steps/)),
    },
    { needs: proposed },
  ),
  press(
    'sentry_memory_propose',
    ({ document: id }) => id,
    {
      ok: members(window(/Why will it help others/)),
      expired: AGED,
      elses: [
        window(/Why will it/),
        window(/Why will it/),
        told(/no such document that you may read/),
        GUEST,
      ],
      closed: 'a draft may be proposed after its incident, as before',
    },
    { needs: { promotion: 'pending' } },
  ),
  press(
    'sentry_memory_document',
    ({ document: id }) => id,
    {
      ok: all(window(/the report job/)),
      expired: AGED,
      elses: [
        window(/the report/),
        window(/the report/),
        window(/no such document/),
        window(/no such document/),
      ],
      closed: all(window(/the report job/)),
    },
    { needs: { promotion: 'pending' } },
  ),
  press(
    'sentry_memory_document_edit',
    ({ document: id }) => id,
    ofNone([ADMINS, window(/Text \(Markdown\)/), ADMINS, ADMINS]),
    { needs: { workspace: true } },
  ),
  press(
    'sentry_memory_roll_back',
    ({ document: id }) => `${id}:1`,
    ofNone(admins(told(/It says again what version 1 said/))),
    { needs: { workspace: true } },
  ),
  press('sentry_memory_retire', ({ document: id }) => id, ofNone(admins(told(/Retired/))), {
    needs: { workspace: true },
    also: ['memory'],
  }),
  ...GRADES,

  submit(
    'sentry_deny_reason',
    ({ plan }) => denyView({ plan, ...where }, [anAction()]),
    { reason: 'not now' },
    {
      ok: approvers(done()),
      expired: approvers(told(/expired/)),
      elses: approvers(done()),
      closed: approvers(told(/void/)),
    },
  ),
  submit(
    'sentry_dig_deeper',
    ({ id: incidentId }) => digView({ incidentId, ...where }, { ok: true, usualUsd: 1, atMostUsd: 2 }),
    {},
    ofMembers(done(), told(/nothing to dig into/)),
    { needs: { incident: 'reported' } },
  ),
  submit(
    'sentry_grant',
    ({ read: value }) =>
      grantView(
        { value, ...where },
        { tool: 'x', target: 'shop-db', reason: 'x', who: 'x', what: 'x', exact: null, note: null },
      ),
    {},
    {
      ok: [done(), done(), told(/Approvers, admins and who is on call may do that/), GUEST],
      expired: [done(), done(), told(/Approvers, admins/), GUEST],
      elses: [done(), done(), HIDDEN, GUEST],
      closed: [told(/has ended/), told(/has ended/), told(/Approvers, admins/), GUEST],
    },
    { needs: { incident: 'reported', failedRead: 'POSTGRES_42501' } },
  ),
  submit(
    'sentry_order',
    ({ id }) => orderView({ verb: 'close', incidentId: id, ...where }, anIncident({ id })),
    { value: 'by hand' },
    ofMembers(done(/is closed/)),
  ),
  submit(
    'sentry_promotion_reject',
    (scene) => rejectView({ seen: scene.seen, ...where }, promotion(scene)),
    { reason: 'no' },
    {
      ok: admins(done()),
      expired: AGED,
      elses: admins(done()),
      closed: admins(told(/approved this already/)),
    },
    { needs: proposed, also: ['proposals'] },
  ),
  submit(
    'sentry_promotion_edit',
    (scene) => editPromotionView(where, promotion(scene)),
    {},
    {
      ok: [window(/Only admins/), done(), window(/Only admins/), window(/Guests cannot/)],
      expired: AGED,
      elses: [window(/Only admins/), done(), window(/Only admins/), window(/Guests cannot/)],
      closed: [
        window(/Only admins/),
        window(/approved this already/),
        window(/Only admins/),
        window(/Guests cannot/),
      ],
    },
    { needs: proposed, also: ['memory', 'proposals'] },
  ),
  submit(
    'sentry_memory_document_edit',
    (scene) => editDocumentView(where, document(scene)),
    {},
    ofNone([window(/Only admins/), window(/Saved/), window(/Only admins/), window(/Guests cannot/)]),
    { needs: { workspace: true }, also: ['memory'] },
  ),
  submit(
    'sentry_memory_propose',
    (scene) => proposeView(where, document(scene), 'postgres', ['postgres']),
    { why: 'x' },
    {
      ok: members(done()),
      expired: AGED,
      elses: [done(), done(), told(/no such document that you may read/), GUEST],
      closed: members(done()),
    },
    { needs: { promotion: 'pending' }, also: ['memory', 'proposals'] },
  ),

  submit(
    'sentry_edit_plan',
    ({ plan }) =>
      editView({ plan, ...where }, [anAction()], [{ step: 1, fields: [{ name: 'analyze', value: 'true' }] }]),
    { '1.analyze': 'false' },
    EDITED,
  ),
  submit('sentry_hand_over', ({ plan }) => handOverView({ plan, ...where }, [anAction()]), {}, HANDED, {
    // Who is a guest here: nobody hands a decision to somebody who cannot take it.
    person: ['to', USERS.onCall2],
  }),
  submit(
    'sentry_home_report',
    () => reportView(['shop-db']),
    { [REPORT_TEXT]: 'shop-db is slow' },
    ofNone([window(/is open/), window(/is open/), window(/is open/), window(/Guests/)]),
    { also: ['incidents'] },
  ),
  submit(
    'sentry_settings_view',
    () => settingsView(NOTHING_SET),
    {},
    ofNone([window(SETTERS), window(/./), window(SETTERS), window(/Guests/)]),
  ),

  typed('why', ({ id }) => `why ${id}`, {
    ok: all(told(/sessions are blocked/)),
    expired: all(told(/sessions are blocked/)),
    elses: [told(/sessions are blocked/), told(/sessions are blocked/), HIDDEN, HIDDEN],
    closed: all(told(/sessions are blocked/)),
  }),
  typed('incidents', () => 'incidents', ofNone(all(told(/sessions are blocked/)))),
  typed('status', () => 'status', ofNone(members(told(/Mode ACTIVE/)))),
  typed('cost', ({ id }) => `cost ${id}`, ofMembers(told(/INC-\d+: \$0\.00/), told(/INC-\d+: \$0\.00/))),
  typed('update', ({ id }) => `update ${id}`, {
    ok: all(told(/INC-\d+/)),
    expired: all(told(/INC-\d+/)),
    elses: [told(/INC-\d+/), told(/INC-\d+/), HIDDEN, HIDDEN],
    closed: all(told(/INC-\d+/)),
  }),
  typed('handoff', () => 'handoff', ofNone(members(told(/sessions are blocked/)))),
  typed('report', ({ id }) => `report ${id}`, REPORTED),
  typed('settings', () => 'settings', ofNone(members(told(/Approvers: /)))),
  typed('targets', () => 'targets', ofNone(members(told(/shop-db \(postgres, playground\): answers now/)))),
  typed('changes', () => 'changes', ofNone(members(told(/Nobody has told me of any change yet|^• /m)))),
  typed('oncall', () => 'oncall', ofNone(members(told(/@oncall: /)))),
  typed('runbooks', () => 'runbooks blocked-sessions', ofNone(members(told(/Sessions blocked by a lock/)))),
  typed('investigate', () => 'investigate shop-db is slow', ofNone(members(told(/on shop-db is open/))), {
    also: ['incidents'],
  }),
  typed('ack', ({ id }) => `ack ${id}`, ofMembers(done(/You have INC-\d+/))),
  typed('release', ({ id }) => `release ${id}`, ofMembers(told(/Nobody has INC-\d+/))),
  typed('assign', ({ id }) => `assign ${id} @olivia`, ofMembers(done(/ha(?:s|ve) INC-\d+/))),
  typed('severity', ({ id }) => `severity ${id} warning`, ofMembers(done(/is warning now/))),
  typed('close', ({ id }) => `close ${id} by hand`, ofMembers(done(/is closed/))),
  // With the marks that people leave after a name.
  typed(
    'stop',
    ({ id }) => `stop ${id}, it is noise`,
    ofMembers(done(/is stopped/), told(/nothing to stop/)),
  ),
  typed('resume', ({ id }) => `resume ${id}.`, ofMembers(done(/goes on/), told(/is not stopped/)), {
    needs: { incident: 'stopped' },
  }),
  typed('merge', ({ id, another }) => `merge ${id} into ${another}`, ofMembers(done(/is a part of/)), {
    needs: { incident: 'open', action: { state: 'void' } },
  }),
  typed('split', ({ id }) => `split ${id}`, ofMembers(done(/on its own again/), told(/on its own already/)), {
    needs: { incident: 'open', mergedInto: 'another' },
  }),
  typed('mute', () => 'mute alertname="x" 2h', ofNone(members(told(/Muted until/))), { also: ['mutes'] }),
  typed('mutes', () => 'mutes', ofNone(members(told(/alertname="x"/)))),
  typed('unmute', () => 'unmute M99', ofNone(members(told(/There is no mute M99 now/)))),
  typed('silence', ({ id }) => `silence ${id} 2h`, {
    ok: members(told(/Another plan of this incident waits/)),
    expired: members(told(/No Alertmanager is configured/)),
    elses: insiders(told(/Another plan of this incident waits/)),
    closed: members(OVER),
  }),
  typed('watch', () => 'watch', ofNone(members(told(/No log is watched/)))),
  typed('memory', () => 'memory', ofNone(members(told(/Documents: /)))),
  typed(
    'promotions',
    () => 'promotions',
    ofNone([
      told(/Only admins see and decide them/),
      told(/./),
      told(/Only admins see and decide them/),
      GUEST,
    ]),
  ),
  typed('help', () => 'help', ofNone(all(told(/What I can do/)))),

  press(HOME.stop, () => 'x', ofNone([NO_SWITCH, told(/Stopped/), NO_SWITCH, GUEST]), { also: ['switch'] }),
  press(HOME.resume, () => 'x', ofNone([NO_SWITCH, told(/Resumed|goes on/i), NO_SWITCH, GUEST]), {
    also: ['switch'],
  }),
  chosen('investigate_message', ofNone(members(told(/is open/))), { also: ['incidents'] }),
  chosen('remember_message', ofNone(members(told(/remember|kept/i))), { also: ['memory'] }),
  chosen('not_an_incident', ofNone(members(told(/No incident began with this message/)))),
];

/** What is not there, or not any more: said in words, and nothing is done. */
export const UNKNOWN: readonly Row[] = [
  press(
    'sentry_of_before',
    ({ id }) => id,
    ofNone(all(told(/I do not know this button any more\. Nothing was done/))),
  ),
  typed('incidnts', () => 'incidnts', ofNone(all(told(/Did you mean “incidents”/)))),
  typed('nonsense', () => 'nonsense', ofNone(all(told(/I do not know “nonsense”/)))),
  {
    kind: 'shortcut',
    on: 'sentry_of_before',
    by: () => '',
    cells: ofNone(all(told(/I know no such shortcut/))),
  },
];
