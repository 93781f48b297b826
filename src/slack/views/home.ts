import type { types } from '@slack/bolt';
import type { Incident } from '../../domain/incident.ts';
import { heading, link, list, paragraph, prose, type Span, words } from '../blocks/build.ts';
import { cut, oneLine } from '../blocks/text.ts';
import { mark, stateWords } from '../blocks/words.ts';

/** The app's Home: what is going on. `urlOf`: an incident's thread. */
export function homeView(
  status: readonly string[],
  open: readonly Incident[],
  urlOf: (incident: Incident) => string | null,
): types.HomeView {
  return {
    type: 'home',
    blocks: [
      heading('Sentry'),
      prose(...status.map((line) => paragraph(words(cut(oneLine(line), 300))))),
      heading(open.length === 0 ? 'No open incident' : `Open incidents (${open.length})`),
      ...(open.length > 0
        ? [prose(list(open.slice(0, 30).map((each) => incidentLine(each, urlOf(each)))))]
        : []),
    ],
  };
}

/** One incident in a list. */
export function incidentLine(incident: Incident, url: string | null): readonly Span[] {
  const name = `${incident.id} ${cut(oneLine(incident.title), 120)}`;
  return [
    words(`${mark(incident)} `),
    url ? link(url, name) : words(name),
    words(` · ${cut(oneLine(incident.target ?? 'unknown target'), 60)} · ${stateWords[incident.state]}`),
  ];
}
