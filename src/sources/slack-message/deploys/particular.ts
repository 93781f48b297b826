import { commitOf } from '../../../core/change.ts';
import { timeOf } from '../../time-of.ts';
import { plainText, withoutMarks } from '../mrkdwn.ts';
import type { Content } from '../schema.ts';
import { namesOf } from './any-deploy.ts';
import type { DeploySender } from './deploy.ts';
import { kindOf, personOf } from './words.ts';

const nothing = { environment: null, by: null, to: null, commits: [] } as const;

/** A field of an attachment by its title. */
const fieldOf = ({ attachments }: Content, title: RegExp): string | null => {
  const fields = (attachments ?? []).flatMap(({ fields: each }) => each ?? []);
  const value = fields.find(({ title: name }) => title.test(name ?? ''))?.value;
  return value === null || value === undefined || value === '' ? null : plainText(String(value)).trim();
};

const matched = (raw: readonly string[], pattern: RegExp): RegExpExecArray | null =>
  raw.map((text) => pattern.exec(withoutMarks(plainText(text)))).find((found) => found !== null) ?? null;

/** Argo CD's catalogue of notifications (docs/operator-manual/notifications/catalog.md), and Argo Rollouts' beside it. */
export const argo: DeploySender = {
  read(message, { raw, url }) {
    const synced = matched(
      raw,
      /\bApplication (\S+) has been successfully (synced) at (\S+?)\.?(?:\s|$)|\bsync operation of application (\S+) has (started|failed) at (\S+?)\.?(?:\s|$)|\bApplication (\S+) is now running (new version)\b/,
    );
    const rolled = synced ? null : matched(raw, /\bRollout (\S+) has been (updated|completed|aborted)\b/);
    const found = synced ?? rolled;
    if (!found) return null;
    const [, ...said] = found;
    const [name = '', word = '', at = null] = said.filter((each) => each !== undefined);
    const revision = fieldOf(message, /^revision$/i);
    return {
      ...nothing,
      sender: 'argo',
      kind: 'deployment',
      state: /failed|aborted/.test(word) ? 'failed' : /started|updated/.test(word) ? 'started' : 'succeeded',
      names: namesOf(name),
      to: revision,
      commits: revision === null ? [] : [commitOf(revision)],
      at: timeOf(at),
      url,
    };
  },
};

/** Flux (notification-controller, internal/notifier/slack.go): whose object it is stands as the author, the revision in a field. */
export const flux: DeploySender = {
  read(message) {
    const attachment = message.attachments?.find(({ author_name: name }) =>
      /^(?:kustomization|helmrelease)\/\S+\.[\w-]+$/.test(name ?? ''),
    );
    const [, object = '', name = ''] = /^(\w+)\/(\S+)\.[\w-]+$/.exec(attachment?.author_name ?? '') ?? [];
    const revision = fieldOf(message, /(?:^|\/)revision$/i);
    if (name === '' || revision === null) return null;
    const text = attachment?.text ?? '';
    return {
      ...nothing,
      sender: `flux ${object}`,
      kind: /rollback/i.test(text) ? 'rollback' : 'deployment',
      state: attachment?.color === 'danger' ? 'failed' : 'succeeded',
      names: [name],
      to: revision,
      by: 'Flux',
    };
  },
};

/** GitLab (app/models/integrations/chat_message/deployment_message.rb), and as it was before 13.12. */
export const gitlab: DeploySender = {
  read(_message, { raw }) {
    const head = matched(raw, /^(?:Starting deploy|Deploy) to (\S+)(?: (succeeded|failed))?$/m);
    if (!head) return null;
    const [, environment = '', word] = head;
    const body = raw
      .map((text) => /^<[^<>|]+\|([^<>]+)>(?: with job|\n)\s*<([^<>|]+)\|(?:Job )?#(\d+)>/.exec(text))
      .find((found) => found !== null);
    if (!body || (word === undefined && !head[0].startsWith('Starting'))) return null;
    const [, project = '', url = '', job = ''] = body;
    const text = plainText(body.input);
    const by = personOf(/ by ([^\n]{1,100})/.exec(text)?.[1]);
    const commit = /(?:SHA |\n)([0-9a-f]{7,40})(?:: ([^\n]+))?/.exec(text);
    const commits = commit ? [commitOf(`${commit[1]} ${commit[2] ?? ''}`)] : [];
    return {
      sender: 'gitlab',
      kind: 'deployment',
      state: word === 'failed' ? 'failed' : word === undefined ? 'started' : 'succeeded',
      names: namesOf(project.replaceAll(' ', '')),
      environment,
      by,
      to: commit?.[1] ?? null,
      commits,
      run: `${project} ${job}`,
      url,
    };
  },
};

/** GitHub's app (integrations/slack, lib/messages/deployment-status.js): its repository stands in the footer, who deployed as the author. */
export const github: DeploySender = {
  read(message) {
    for (const { text, footer, author_name: author } of message.attachments ?? []) {
      const [, repository = ''] = /^<[^<>|]+\|([\w.-]+\/[\w.-]+)>$/.exec(footer ?? '') ?? [];
      const said = withoutMarks(plainText(text ?? ''));
      const [, word = '', sha = '', environment = null, failed] =
        /^(Successfully deployed|Deploying|Error when deploying) ([0-9a-f]{7,40})(?: to (\S+))?( failed)?$/.exec(
          said,
        ) ?? [];
      if (repository === '' || sha === '') continue;
      const state =
        failed || word.startsWith('Error') ? 'failed' : word === 'Deploying' ? 'started' : 'succeeded';
      const url = /<(https?:[^<>|]+)\|[^<>]*>[^<>]*$/.exec(text ?? '')?.[1] ?? null;
      return {
        sender: 'github',
        kind: 'deployment',
        state,
        names: namesOf(repository),
        environment,
        by: personOf(author),
        to: sha,
        commits: [commitOf(sha)],
        url,
      };
    }
    return null;
  },
};

const deploys = /deploy|release|roll-?(?:out|back)|migrat|terraform/i;

/** Jenkins' Slack plugin (ActiveNotifier.java): “deploy-shop - #18 Success after 1 min 30 sec (Open)”. Of jobs that deploy, by their name. */
export const jenkins: DeploySender = {
  read(_message, { raw, url }) {
    const [, job = '', number = '', word = '', by] =
      matched(
        raw,
        /^(.{1,200}?) - #(\d+) (Started by (?:user (.{1,60}?)|.{1,60}?)|Starting\.\.\.|Success|Back to normal|Failure|Still Failing)(?: after |\s*\(Open\)|\s*$)/,
      ) ?? [];
    if (job === '' || !deploys.test(job)) return null;
    const name = job.split(/ » |\//).at(-1) ?? job;
    return {
      ...nothing,
      sender: 'jenkins',
      kind: kindOf(job),
      state: word.startsWith('Start') ? 'started' : /^(?:Success|Back)/.test(word) ? 'succeeded' : 'failed',
      names: [...new Set([name, job])],
      by: personOf(by),
      run: `${job} ${number}`,
      url,
    };
  },
};

/** Spinnaker (echo, SlackNotificationAgent.groovy): “Shop's <link|Deploy to prod> pipeline has completed successfully”. */
export const spinnaker: DeploySender = {
  read(_message, { raw }) {
    for (const text of raw) {
      const [, application = '', url = '', pipeline = '', word = ''] =
        /^([\w.-]{1,100})'s <([^<>|]+)\|([^<>]{1,200})>[^\n]{0,100}? pipeline (is starting|has (?:completed successfully|failed))/.exec(
          text,
        ) ?? [];
      if (application === '' || !/deploy|release|roll|prod|promot/i.test(pipeline)) continue;
      return {
        ...nothing,
        sender: 'spinnaker',
        kind: kindOf(pipeline),
        state: word.endsWith('failed') ? 'failed' : word === 'is starting' ? 'started' : 'succeeded',
        names: [application],
        run: /\/([\w-]+)$/.exec(url)?.[1] ?? url,
        url,
      };
    }
    return null;
  },
};
