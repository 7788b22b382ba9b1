/** What the command prints for wrong usage and for help, without a running Tintype. */
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { ManualJob } from '../../runtime/jobs/job.ts';
import { jobs, manualJobs } from '../../runtime/jobs/table.ts';
import { runTintype, spawnTintype } from '../contract/support/tintype.ts';

const SUBJECT = 'A subject is the name of a person, such as alice.';

describe('incorrect use of tintype', () => {
  it.each([
    ['token', '--sub', ''],
    ['token', '--sub', ' '],
    ['call', 'GET', '/v1/me', '--sub', ''],
    ['call', 'GET', '/v1/me', '--sub', 'a\tb'],
  ])('fails if --sub does not name a person: %s %s %s', async (...words) => {
    const { code, stdout, stderr } = await runTintype(words);
    const value = words.at(-1);
    const said = `tintype: option '--sub <sub>' argument '${value}' is invalid. ${SUBJECT}`;
    expect([code, stdout, stderr.split('\n', 1)[0]]).toEqual([2, '', said]);
  });

  it('fails if --staff is combined with --sub', async () => {
    const said = "tintype: option '--staff' cannot be used with option '--sub <sub>'";
    for (const words of [['token'], ['call', 'GET', '/v1/me']]) {
      const ended = await runTintype([...words, '--staff', '--sub', 'alice']);
      expect([ended.code, ended.stderr.split('\n', 1)[0]]).toEqual([2, said]);
    }
  });

  it.each([
    [['fly'], "tintype: unknown command 'fly'", 'tintype --help'],
    [['--fast'], "tintype: unknown option '--fast'", 'tintype --help'],
    [['token', '--fast'], "tintype: unknown option '--fast'", 'tintype token --help'],
    [['operator', '--fast'], "tintype: unknown option '--fast'", 'tintype operator --help'],
    [['job'], "tintype: missing required argument 'name'", 'tintype job --help'],
    [['job', 'a', '--at'], "tintype: option '--at <time>' argument missing", 'tintype job --help'],
  ])('fails with a pointer to the relevant help: %j', async (words, said, help) => {
    const stderr = `${said}\n(see ${help})\n`;
    expect(await runTintype(words)).toEqual({ code: 2, stdout: '', stderr });
  });
});

describe('tintype help', () => {
  it('lists every job with its schedule and what it does, and the jobs that accept --at', async () => {
    const { code, stdout } = await runTintype(['job', '--help']);
    expect(code).toBe(0);
    const [options = '', named = ''] = stdout.split('\nJobs, ');
    const rows = [...named.matchAll(/^ {2}(\S+) +(.+?) {2,}(\S.+)$/gm)];
    expect(rows.map(([, name, when]) => [name, when])).toEqual([
      ...Object.entries(jobs).map(([name, { schedule }]) => [name, schedule]),
      ...Object.keys(manualJobs).map((name) => [name, 'when called']),
    ]);
    for (const [name, { clock }] of Object.entries<ManualJob>({ ...jobs, ...manualJobs })) {
      expect(options.includes(name), name).toBe(clock === 'at');
    }
  });

  it.each(['api', 'delivery', 'worker', 'dispatcher', 'operator', 'migrate'])(
    'says where the settings of %s are documented',
    async (name) => {
      const { stdout } = await runTintype([name, '--help']);
      expect(stdout).toContain(
        'Environment variables configure this process; see docs/configuration.md',
      );
    },
  );

  it('explains one command, or lists all of them', async () => {
    for (const [words, usage] of [
      [['help'], 'Usage: tintype [options] [command]'],
      [['help', 'help'], 'Usage: tintype [options] [command]'],
      [['help', 'token'], 'Usage: tintype token [options]'],
    ] as const) {
      const { code, stdout, stderr } = await runTintype(words);
      expect([code, stdout.split('\n', 1)[0], stderr]).toEqual([0, usage, '']);
    }
  });

  it('succeeds if its output is closed before it is read', async () => {
    const child = spawnTintype(['--help']);
    child.stdout.destroy();
    const ended = once(child, 'exit');
    expect([await text(child.stderr), await ended]).toEqual(['', [0, null]]);
  });

  it('reports an unknown command in the same way as calling it', async () => {
    const stderr = "tintype: unknown command 'tokn'\n(Did you mean token?)\n(see tintype --help)\n";
    for (const words of [['help', 'tokn'], ['tokn']]) {
      expect(await runTintype(words)).toEqual({ code: 2, stdout: '', stderr });
    }
  });
});
