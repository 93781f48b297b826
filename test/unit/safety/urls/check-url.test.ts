import { describe, expect, test } from 'vitest';
import { checkUrl } from '../../../../src/safety/urls/check-url.ts';
import { isPublicAddress } from '../../../../src/safety/urls/public-address.ts';

const codeOf = (text: string, allow?: readonly string[]): string => {
  const checked = checkUrl(text, allow);
  return checked.ok ? 'ok' : checked.code;
};

describe('allows https to allowed hosts', () => {
  test.each([
    'https://docs.python.org',
    'https://docs.python.org/3/library/asyncio-task.html#asyncio.wait_for',
    'HTTPS://Docs.Python.Org/3/',
    'https://stackoverflow.com/questions/1/a-b?noredirect=1&lq=1',
    'https://meta.stackoverflow.com/q/1',
    'https://stackoverflow.com/search?q=%5Bnode.js%5D+eventloop%20lag',
    'https://stackoverflow.com/a/1@2',
    'https://docs.python.org/3/größe.html',
  ])('%s', (text) => {
    expect(codeOf(text)).toBe('ok');
  });

  test('an entry of the list written in another script, in both of its spellings', () => {
    const allow = ['Bücher.example'];
    expect(checkUrl('https://bücher.example/x', allow)).toMatchObject({
      ok: true,
      host: 'xn--bcher-kva.example',
    });
    expect(codeOf('https://xn--bcher-kva.example/x', allow)).toBe('ok');
  });
});

describe('refuses everything else', () => {
  test.each([
    ['http://docs.python.org/', 'URL_SCHEME'],
    ['ftp://docs.python.org/', 'URL_SCHEME'],
    ['file:///etc/passwd', 'URL_SCHEME'],
    ['javascript:alert(1)', 'URL_SCHEME'],
    ['//docs.python.org/', 'URL_SCHEME'],
    ['docs.python.org', 'URL_SCHEME'],
    ['https:docs.python.org', 'URL_SCHEME'],
    ['https:/docs.python.org', 'URL_SCHEME'],
    ['https:///docs.python.org', 'URL_SCHEME'],
    ['https://', 'URL_SCHEME'],
    ['', 'URL_SCHEME'],
    [' https://docs.python.org', 'URL_CHARACTER'],
    ['https://docs.python.org\n.attacker.example', 'URL_CHARACTER'],
    ['https://docs.python\t.org', 'URL_CHARACTER'],
    ['https://attacker.example\\.docs.python.org', 'URL_CHARACTER'],
    ['https://docs.python.org\u200b/', 'URL_CHARACTER'],
    ['https://docs\u00ad.python.org/', 'URL_CHARACTER'],
    ['https://user@docs.python.org/', 'URL_CREDENTIALS'],
    ['https://docs.python.org@attacker.example/', 'URL_CREDENTIALS'],
    ['https://docs.python.org:443@attacker.example/', 'URL_CREDENTIALS'],
    ['https://docs.python.org:8443/', 'URL_PORT'],
    ['https://docs.python.org:/', 'URL_PORT'],
    ['https://127.0.0.1/', 'URL_ADDRESS'],
    ['https://127.1/', 'URL_ADDRESS'],
    ['https://2130706433/', 'URL_ADDRESS'],
    ['https://0x7f000001/', 'URL_ADDRESS'],
    ['https://0177.0.0.1/', 'URL_ADDRESS'],
    ['https://0x7f.1/', 'URL_ADDRESS'],
    ['https://１２７.0.0.1/', 'URL_ADDRESS'],
    ['https://[::1]/', 'URL_ADDRESS'],
    ['https://[::ffff:127.0.0.1]/', 'URL_ADDRESS'],
    ['https://[fe80::1%25eth0]/', 'URL_ADDRESS'],
    ['https://attacker.example/', 'URL_NOT_ALLOWED'],
    ['https://docs.python.org.attacker.example/', 'URL_NOT_ALLOWED'],
    ['https://xdocs.python.org/', 'URL_NOT_ALLOWED'],
    ['https://python.org/', 'URL_NOT_ALLOWED'],
    ['https://localhost/', 'URL_NOT_ALLOWED'],
    ['https://metadata.google.internal/', 'URL_NOT_ALLOWED'],
    ['https://docs.python.org./', 'URL_HOST'],
    ['https://attacker.example%2f.docs.python.org/', 'URL_HOST'],
    ['https://docs..python.org/', 'URL_HOST'],
    ['https://dосs.python.org/', 'URL_LOOKALIKE'],
    ['https://ｄocs.python.org/', 'URL_LOOKALIKE'],
    ['https://docs。python.org/', 'URL_LOOKALIKE'],
    ['https://attacker.example／.docs.python.org/', 'URL_HOST'],
    ['https://attacker.example⁄x.docs.python.org/', 'URL_LOOKALIKE'],
    ['https://xn--dcs-xmc5s.python.org/', 'URL_NOT_ALLOWED'],
    ['https://xn--bcher-kva.stackoverflow.com/', 'URL_LOOKALIKE'],
    ['https://docs.python.org?x@attacker.example', 'ok'],
    ['https://docs.python.org/%0d%0aHost:x', 'URL_ENCODED'],
    ['https://docs.python.org/%250a', 'URL_ENCODED'],
    ['https://docs.python.org/%2525252525', 'URL_ENCODED'],
    ['https://docs.python.org/%5cx', 'URL_ENCODED'],
    ['https://docs.python.org//attacker.example/', 'URL_NESTED'],
    ['https://stackoverflow.com/login?to=http://169.254.169.254/', 'URL_NESTED'],
    ['https://stackoverflow.com/login?to=%2f%2fattacker.example', 'URL_NESTED'],
    ['https://stackoverflow.com/login?to=https%253A%252F%252Fattacker.example', 'URL_NESTED'],
    ['https://stackoverflow.com/login?to=https://stackoverflow.com@attacker.example', 'URL_NESTED'],
    [`https://docs.python.org/?q=${'x'.repeat(400)}`, 'URL_TOO_LONG'],
    [`https://docs.python.org/${'x'.repeat(1100)}`, 'URL_TOO_LONG'],
  ])('%j: %s', (text, code) => {
    expect(codeOf(text)).toBe(code);
  });

  test.each(['com', '*', '*.org', '.python.org', 'https://docs.python.org', '127.0.0.1', 'localhost', ''])(
    'an entry of the allow-list such as %j lets nothing through',
    (entry) => {
      for (const text of [
        'https://docs.python.org/',
        'https://127.0.0.1/',
        'https://localhost/',
        'https://x.com/',
      ])
        expect(codeOf(text, [entry])).not.toBe('ok');
    },
  );
});

describe('knows which addresses are public', () => {
  test.each([
    '1.1.1.1',
    '151.101.0.223',
    '172.15.255.255',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700::1111',
    '2a04:4e42::223',
  ])('%s is', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  test.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '100.100.100.200',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',

    '168.63.129.16',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.0.2.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',

    '::',
    '::1',
    '::ffff:8.8.8.8',
    '::ffff:127.0.0.1',
    '::8.8.8.8',
    '64:ff9b::7f00:1',
    '100::1',
    '2001::1',

    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
    '5f00::1',
    'nonsense',
    '',
    '1.1.1',
    '0x7f.0.0.1',
  ])('%j is not', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});
