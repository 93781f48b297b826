import type { SessionOptions } from '../../../tools/ports.ts';
import { composeOf } from '../describe.ts';
import type { Container, Engine } from '../engine.ts';
import { dependsOn, portsOf } from '../read/inspect.ts';

/** Who feels it when this container is away, as far as the engine knows: a sentence or two for the card. */
export async function feltBy(engine: Engine, container: Container, options: SessionOptions): Promise<string> {
  const { project, service } = composeOf(container);
  const listed = service === null ? null : await engine.containers(options);
  const others = (listed?.found ?? []).filter(
    (each) => composeOf(each).project === project && dependsOn(each).includes(service ?? ''),
  );
  const ports = portsOf(container).map(({ host }) => host);
  return [
    ...(others.length > 0 ? [`${others.map(({ name }) => name).join(', ')} need it.`] : []),
    ...(listed !== null && listed.unread.length + listed.beyond > 0
      ? ['Of some containers it could not be read whether they need it.']
      : []),
    ...(ports.length > 0 ? [`Whoever uses ${ports.join(', ')} on the host feels it.`] : []),
  ].join(' ');
}
