import { Command } from 'commander';
import { postIncidentReport } from '../incidents/reports/post-incident.ts';
import { peopleIn, reportMarkdown } from '../incidents/reports/report-text.ts';
import { loadIncident } from './load-incident.ts';
import { namesOf } from './terminal-story.ts';

export const reportCommand = new Command('report')
  .description('Print the post-incident report of one incident as Markdown, from the record alone.')
  .argument('<id>', 'INC-7, or just 7')
  .action(async (id: string) => {
    const { record, config } = await loadIncident(id);
    const report = postIncidentReport(record, { now: new Date(), threadUrl: null });
    const names = await namesOf(peopleIn(report), config.slack);
    process.stdout.write(reportMarkdown(report, (person) => names?.get(person) ?? 'somebody in Slack'));
  });
