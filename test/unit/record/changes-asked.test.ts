import { describe, expect, it } from 'vitest';
import { asksInShort } from '../../../src/incidents/questions/asks-in-short.ts';
import { asksForChanges, readChangesAsked } from '../../../src/incidents/questions/changes-asked.ts';
import { aChange, changesLooked } from '../../support/changes.ts';
import { anIncident, aRecord, eventsOf } from '../../support/incident-record.ts';

const opened = { type: 'incident.opened', source: 'alertmanager', title: 'x' } as const;
const incident = anIncident({ target: 'shop-db', labels: { service: 'shop-api' } });
const looked = aRecord({
  incident,
  events: eventsOf(opened, changesLooked({ suspects: [aChange({ through: 'orders-db' })] })),
});
const asked = (text: string) => readChangesAsked(text, looked);

describe('a question for what was changed', () => {
  it.each([
    'what changed?',
    'What changed before this?',
    'what has changed recently',
    'what was changed on shop-db',
    'what’s new',
    'any deploys?',
    'any deployments of shop-api around that time?',
    'was something deployed',
    'has anything been deployed since then?',
    'was there a deploy',
    'were there any releases today',
    'who deployed?',
    'who deployed shop-api',
    'who changed it?',
    'who made the last change',
    'did anyone change anything?',
    'did somebody push something',
    'did we deploy anything before it started?',
    'what got deployed',
    'what did we change',
    'when was shop-api deployed',
    'when was the last deploy',
    'and which changes were made?',
    'was the config changed',
    'any config changes on orders-db?',
    'changes',
    'recent changes?',
    'have there been any rollbacks',
    'which feature flags were changed',
  ])('“%s” is one', (text) => {
    expect(asked(text)?.asks).toBe('what');
  });

  it.each([
    'did that deploy cause it?',
    'did a release cause this',
    'is it my deploy',
    'was it the last deployment',
    'was it the deploy?',
    'is the deploy to blame',
    'could my commit have done this',
    'is this because of the config change?',
    'was it caused by a migration',
    'could it be the new version',
    'is it related to the release?',
    'which commit broke it',
    'what deploy caused it?',
    'is it deploy related',
    'did the migration break shop-db',
  ])('“%s” asks whether one of them caused it', (text) => {
    expect(asked(text)?.asks).toBe('blame');
  });

  it.each([
    'what did you change?',
    'have you changed anything',
    'did you run that',
    'who did it?',
    'what happened',
    'is it new',
    'any updates?',
    'any news?',
    'did it help',
    'did it change anything',
    'what is it now',
    'has it changed',
    'what would change your mind',
    'who approved the change',
    'can we roll back the deploy?',
    'should I deploy now',
    'when is the next release',
    'what changed in the network of our provider?',
    'any deploys of billing?',
    'is the deploy finished',
    'is shop-db slow',
    'did the deploy fail',
    'how do I deploy',
  ])('“%s” is another', (text) => {
    expect(asked(text)).toBeNull();
  });

  it.each([
    ['any deploys?', 'deployment'],
    ['was there a migration?', 'migration'],
    ['did anyone change the config', 'change of a setting'],
    ['what changed?', 'change'],
    ['any rollbacks', 'rollback'],
  ])('“%s” asks for each %s', (text, noun) => {
    expect(asked(text)?.noun).toBe(noun);
  });

  it('is nobody’s before somebody has looked', () => {
    expect(readChangesAsked('what changed?', aRecord({ incident, events: eventsOf(opened) }))).toBeNull();
  });

  it('may be of no incident, and may name one of the systems', () => {
    expect(asksForChanges('any deploys of shop-api?', ['shop-api'])?.asks).toBe('what');
    expect(asksForChanges('any deploys of billing?', ['shop-api'])).toBeNull();
  });

  it('needs no question mark where it begins with “any”; what somebody tells is none', () => {
    expect(asksInShort('any deploys')).toBe(true);
    expect(asksInShort('changes')).toBe(true);
    expect(asksInShort('bad deploy of shop-api')).toBe(false);
    expect(asksInShort('any ideas')).toBe(false);
  });

  it.each([' here', ' new', ' the', ' before it', ' changed', ' been'])(
    'of any length with “%s” again and again is read at once',
    (word) => {
      expect(asked(`what changed${word.repeat(30)} xyz`)).toBeNull();
      expect(asked(`any${word.repeat(400)}`)).toBeNull();
    },
  );
});
