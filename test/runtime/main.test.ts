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

describe('tintype help', () => {
  it('explains a command, and all of them without one', async () => {
    for (const [words, usage] of [
      [['help'], 'Usage: tintype [options] [command]'],
      [['help', 'help'], 'Usage: tintype [options] [command]'],
      [['help', 'token'], 'Usage: tintype token [options]'],
    ] as const) {
      const { code, stdout, stderr } = await runTintype(words);
      expect([code, stdout.split('\n', 1)[0], stderr]).toEqual([0, usage, '']);
    }
  });

  it('says that there is no such command, as a call of it does', async () => {
    const stderr =
      "error: unknown command 'tokn'\n(Did you mean token?)\n(tintype --help tells what there is)\n";
    for (const words of [['help', 'tokn'], ['tokn']]) {
      expect(await runTintype(words)).toEqual({ code: 2, stdout: '', stderr });
    }
  });
});
