import { Command } from 'commander';
import { AnswerLine } from '../score/answer.ts';
import { readLines } from '../score/read-lines.ts';
import { scoreAnswers } from '../score/score-answers.ts';
import { table } from '../score/tables.ts';
import { loadScenarios } from './evals-inputs.ts';

interface ScoreOptions {
  readonly scenarios?: string;
  readonly answers: string;
  readonly json: boolean;
}

export const evalsScoreCommand = new Command('score')
  .description(
    'Score answers given from outside: JSON lines of {id, root_cause, …}; docs/evals.md has the fields.',
  )
  .option('--scenarios <file>', 'JSON lines; the incidents in evals/ when left out')
  .requiredOption('--answers <file>', 'JSON lines')
  .option('--json', 'one JSON document {summary, incidents}', false)
  .action(async ({ scenarios, answers, json }: ScoreOptions) => {
    const scored = scoreAnswers(await loadScenarios(scenarios), await readLines(answers, AnswerLine));
    for (const id of scored.unknownIds) process.stderr.write(`No scenario is called ${id}.\n`);
    if (json) {
      process.stdout.write(`${JSON.stringify(scored, null, 2)}\n`);
      return;
    }
    const rows = scored.incidents.map(({ id, outcome, score, notes }) => [
      id,
      outcome,
      score.toFixed(2),
      notes.join('; '),
    ]);
    const { summary } = scored;
    process.stdout.write(
      `${table([['incident', 'outcome', 'score', 'notes'], ...rows])}\n\n` +
        `${summary.incidents} incidents: score ${summary.score.toFixed(3)}, ${summary.correct} correct, ` +
        `${summary.abstained} abstained, ${summary.falseCauses} false causes.\n`,
    );
  });
