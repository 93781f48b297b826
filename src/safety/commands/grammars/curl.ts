import { isIPv4 } from 'node:net';
import type { Grammar, ValueType } from '../grammar.ts';
import type { CommandPolicy } from '../policy.ts';
import { integer, matching, oneOf } from '../values.ts';
import { switches } from './flags.ts';

/**
 * Strict on purpose: no user, no fragment, no escapes beyond %20 and their like. Braces and brackets only in the query, where
 * PromQL has them: `--globoff` keeps curl from reading them as globs.
 */
const urlForm =
  /^(?:(https?):\/\/)?([a-z0-9][a-z0-9.-]{0,252}|\[[0-9a-f:]+\])(?::(\d{1,5}))?(\/[\w\-.~%+,:@*/=&]*)?(\?[\w\-.~%+,:@*/=&?{}()[\]!"]*)?$/iu;

/** `http://localhost:9200/_cat/health?v`; a URL without a scheme means http, as curl itself would guess. */
const url: ValueType = (text, policy) => {
  const [whole, scheme = 'http', host = '', port, path = '/', query = ''] = urlForm.exec(text) ?? [];
  if (whole === undefined || /(?:^|\/)\.\.?(?:\/|$)|%2e|%2f|%00/iu.test(path)) return undefined;
  const lower = host.toLowerCase();
  const usual = scheme.toLowerCase() === 'https' ? 443 : 80;
  if (!hostAllowed(lower, policy) || !portAllowed(Number(port ?? usual), policy)) return undefined;
  return `${scheme.toLowerCase()}://${lower}${port === undefined ? '' : `:${Number(port)}`}${path}${query}`;
};

function hostAllowed(host: string, policy: CommandPolicy): boolean {
  // An address counts only in the notation the operator wrote it in; a last label of digits is no name.
  if (/(?:^|\.)(?:\d+|0x[0-9a-f]*)$/u.test(host) && !isIPv4(host)) return false;
  return policy.curlHosts.some((entry) =>
    entry.startsWith('.') ? host.endsWith(entry) && !isIPv4(host) : host === entry,
  );
}

function portAllowed(port: number, policy: CommandPolicy): boolean {
  return port >= 1 && port <= 65_535 && !policy.curlDeniedPorts.includes(port);
}

/** Variables of `--write-out` that tell about the transfer; not `%output{}` (writes a file) and not `@file`. */
const writeOut: ValueType = (text) => {
  const variables =
    /%\{(?:http_code|response_code|http_version|time_(?:total|connect|namelookup|appconnect|pretransfer|starttransfer|redirect)|size_(?:download|header|request)|speed_download|num_connects|num_redirects|remote_ip|remote_port|local_ip|local_port|content_type|scheme|ssl_verify_result|url_effective|exitcode|errormsg)\}/gu;
  const rest = text.replaceAll(variables, '').replaceAll(/\\[nt]/gu, '');
  return text.startsWith('@') || /[%@\\{}]/u.test(rest) || text.length > 300 ? undefined : text;
};

/** Headers that choose a representation; none that carries a credential or another host. */
const header = matching(
  /^(?:Accept|Accept-Language|Cache-Control|Content-Type|Pragma): ?[\w\-/.*+;=, ]{1,100}$/iu,
);

/**
 * GET and HEAD to allowed hosts. No uploads, data, files, cookies, credentials, proxies, configuration or other protocols:
 * none of them has an entry. Redirects are not followed (`--max-redirs 0`). `-q` must stay first: it stops ~/.curlrc.
 */
export const curl: Grammar = {
  binary: 'curl',
  usage:
    'curl [-s -S -f -i -I -v -k -L -4 -6] [-m 1…30] [-X GET|HEAD] [-H "Accept: …"] [-w "%{http_code}"] [-o /dev/null] URL; http or https to an allowed host',
  enforced: [
    { words: ['-q', '--globoff', '--proto', '=http,https', '--max-redirs', '0', '--noproxy', '*'] },
    { words: ['--max-filesize', '5242880'] },
    { unless: '-m', words: ['-m', '10'] },
  ],
  flags: [
    ...switches('-s', '-S', '-f', '-i', '-v', '-k', '-4', '-6', '-g'),
    ...switches(
      '--silent',
      '--show-error',
      '--fail',
      '--include',
      '--verbose',
      '--insecure',
      '--ipv4',
      '--ipv6',
    ),
    ...switches('--compressed', '--no-progress-meter', '--http1.0', '--http1.1', '--http2', '--globoff'),
    ...switches('-0', '-N', '--no-buffer', '--fail-with-body', '--tlsv1.2', '--tlsv1.3'),
    // Asked for, but not done: the answer is the redirect itself, and where it leads is judged as a request of its own.
    { names: ['-L', '--location'], emit: () => [] },
    { names: ['-A', '--user-agent'], value: matching(/^[A-Za-z][\w.\-/ ]{0,39}$/u) },
    { names: ['-r', '--range'], value: matching(/^(?:\d{1,10}-\d{0,10}|-\d{1,10})$/u) },
    { names: ['-I', '--head'] },
    { names: ['-m', '--max-time'], value: integer(1, 30) },
    { names: ['--connect-timeout'], value: integer(1, 30) },
    {
      names: ['-X', '--request'],
      value: oneOf('GET', 'HEAD'),
      // `-X HEAD` waits for a body that never comes.
      emit: (value) => (value === 'HEAD' ? ['-I'] : ['-X', 'GET']),
    },
    { names: ['-H', '--header'], value: header, times: 5 },
    { names: ['-w', '--write-out'], value: writeOut },
    // Throws the body away; no other file may be named.
    { names: ['-o', '--output'], value: oneOf('/dev/null') },
  ],
  conflicts: [['-I', '-X']],
  operands: { type: url, min: 1, max: 1, are: 'one http or https URL of an allowed host and port' },
};
