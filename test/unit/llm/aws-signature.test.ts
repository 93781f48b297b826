import { describe, expect, it } from 'vitest';
import { signAws } from '../../../playground/claude/aws-signature.ts';

const credentials = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};

describe('an AWS signature', () => {
  // The worked example of AWS's own documentation ("Examples of the complete Signature Version 4 signing process").
  it('is the one of the documented example', () => {
    const url = new URL('https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08');
    const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
    const at = new Date('2015-08-30T12:36:00Z');
    const added = signAws(
      { method: 'GET', url, headers, body: '' },
      { region: 'us-east-1', service: 'iam', at },
      credentials,
    );
    expect(added).toEqual({
      'x-amz-date': '20150830T123600Z',
      authorization:
        'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
    });
  });

  it('signs the session token of temporary credentials', () => {
    const added = signAws(
      { method: 'POST', url: new URL('https://x.amazonaws.com/a'), headers: {}, body: '{}' },
      { region: 'r', service: 'bedrock', at: new Date(0) },
      { ...credentials, sessionToken: 'tok' },
    );
    expect(added['x-amz-security-token']).toBe('tok');
    expect(added['authorization']).toContain('SignedHeaders=host;x-amz-date;x-amz-security-token');
  });
});
