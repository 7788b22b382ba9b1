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

  it.each([
    [['fly'], "error: unknown command 'fly'", 'tintype --help'],
    [['--fast'], "error: unknown option '--fast'", 'tintype --help'],
    [['token', '--fast'], "error: unknown option '--fast'", 'tintype token --help'],
    [['operator', '--fast'], "error: unknown option '--fast'", 'tintype operator --help'],
    [['job'], "error: missing required argument 'name'", 'tintype job --help'],
    [['job', 'a', '--at'], "error: option '--at <time>' argument missing", 'tintype job --help'],
  ])('is answered with the help that has the right one: %j', async (words, said, help) => {
    const stderr = `${said}\n(${help} tells what there is)\n`;
    expect(await runTintype(words)).toEqual({ code: 2, stdout: '', stderr });
  });
});
