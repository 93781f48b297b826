import type { types } from '@slack/bolt';
import { type Block, plain } from './build.ts';
import { LIMITS } from './limits.ts';
import { cut, oneLine } from './text.ts';

/** One line of a plan. Slack takes plain text only: no link, person or moment in it. */
export interface Task {
  readonly title: string;
  readonly status: types.TaskCardBlock['status'];
}

/** What Slack takes in one plan. */
export const MAX_TASKS = 48;
/** Slack documents no limit of a title; what is longer is no title. */
const MAX_TITLE = 150;

const marks: Readonly<Record<Task['status'], string>> = {
  pending: '○',
  in_progress: '…',
  complete: '✓',
  error: '✗',
};

/** Slack's `plan` block; of too many tasks the last. */
export const planBlock = (title: string, tasks: readonly Task[]): Block => ({
  type: 'plan',
  title: lineOf(title),
  tasks: tasks.slice(-MAX_TASKS).map((task, at) => ({
    type: 'task_card',
    task_id: `task-${at + 1}`,
    title: lineOf(task.title),
    status: task.status,
  })),
});

/** The same for a Slack that draws no plan: a line each. */
export const planText = (title: string, tasks: readonly Task[]): Block => ({
  type: 'section',
  text: plain(
    cut(
      [
        lineOf(title),
        ...tasks.slice(-MAX_TASKS).map((task) => `${marks[task.status]} ${lineOf(task.title)}`),
      ].join('\n'),
      LIMITS.text,
    ),
  ),
});

const lineOf = (text: string): string => cut(oneLine(text), MAX_TITLE) || '(no title)';
