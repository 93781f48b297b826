import type { RotationConfig } from '../../escalation-config.ts';
import type { OnCallPerson, OnCallSchedule } from '../../ports.ts';
import { whoHasIt } from './who-has-it.ts';

/** A rotation that `sentry.yaml` describes: it asks nobody. */
export function createRotation(config: RotationConfig): OnCallSchedule {
  return {
    name: config.name,
    onCall: (at) => {
      const person = whoHasIt(config, at);
      return Promise.resolve(person === null ? [] : [asPerson(person)]);
    },
  };
}

function asPerson(written: string): OnCallPerson {
  const isAddress = written.includes('@');
  return { name: written, email: isAddress ? written : null, slackUser: isAddress ? null : written };
}
