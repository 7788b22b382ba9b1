/** What the command says to somebody who typed it wrongly; nothing of Tintype has to run for that. */
import { describe, expect, it } from 'vitest';
import { runTintype } from '../contract/support/tintype.ts';

const SUBJECT = 'A subject is the name of a person, such as alice.';

describe('wrong use', () => {
  it.each([
    ['token', '--sub', ''],
    ['token', '--sub', ' '],
    ['call', 'GET', '/v1/me', '--sub', ''],
  ])('is a session of nobody: %s %s %s', async (...words) => {
    const { code, stdout, stderr } = await runTintype(words);
    const value = words.at(-1);
    const said = `error: option '--sub <sub>' argument '${value}' is invalid. ${SUBJECT}`;
    expect([code, stdout, stderr.split('\n', 1)[0]]).toEqual([2, '', said]);
  });
});
