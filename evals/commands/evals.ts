import { Command } from 'commander';
import { evalsCorrelationCommand } from './evals-correlation.ts';
import { evalsNormalizeCommand } from './evals-normalize.ts';
import { evalsReportCommand } from './evals-report.ts';
import { evalsRunCommand } from './evals-run.ts';
import { evalsScoreCommand } from './evals-score.ts';

export const evalsCommand = new Command('evals')
  .description('Measure investigators on recorded incidents, and read what people thought of real ones.')
  .addCommand(evalsRunCommand)
  .addCommand(evalsScoreCommand)
  .addCommand(evalsReportCommand)
  .addCommand(evalsCorrelationCommand)
  .addCommand(evalsNormalizeCommand);
