import { Command } from 'commander';
import { redact } from '../safety/screen/redact.ts';
import { redactPersonal } from '../safety/screen/redact-personal.ts';
import { findSecrets } from '../safety/secrets/find-secrets.ts';
import { mapJsonLines, NamedText } from './json-lines.ts';

export const redactCommand = new Command('redact')
  .description(
    'Redact texts: JSON lines {id,text} in, {id,text,redactions} out; redactions are {rule,category,start,end} in the text as given.',
  )
  .option('--personal', 'e-mail and public IP addresses too, as before a model sees it', false)
  .option('--private-ips', 'with --personal: private IP addresses too', false)
  .action(({ personal, privateIps }: { readonly personal: boolean; readonly privateIps: boolean }) =>
    mapJsonLines(NamedText, ({ id, text }) => {
      const shown = redact(text);
      return {
        id,
        text: personal ? redactPersonal(shown, { privateIps }) : shown,
        redactions: findSecrets(text),
      };
    }),
  );
