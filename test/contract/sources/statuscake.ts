import { mappedFixtures } from './mapped.ts';

// The form of https://www.statuscake.com/kb/knowledge-base/how-to-use-the-web-hook-url/, as the route reads it.
export const fixtures = mappedFixtures({
  firing: {
    URL: 'https://shop.example.com',
    Token: '0123456789abcdef0123456789abcdef',
    Name: 'shop front page',
    StatusCode: '503',
    Status: 'Down',
    IP: '192.0.2.10',
    Tags: 'prod,shop',
    Checkrate: '60',
    TestID: '4711',
  },
  alert: {
    name: 'shop front page',
    title: 'shop front page',
    severity: 'critical',
    target: 'shop front page',
    annotations: { summary: 'https://shop.example.com is Down, code 503' },
    labels: {
      check: 'shop front page',
      url: 'https://shop.example.com',
      ip: '192.0.2.10',
      tags: 'prod,shop',
    },
  },
  resolved: { Status: 'Up', StatusCode: '200' },
  otherThing: { TestID: '4712', Name: 'pay front page' },
  words: ['Status'],
});
