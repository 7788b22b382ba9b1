import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../runtime/core/errors.ts';
import { createLog, maskSecrets } from '../../../runtime/platform/log.ts';

function recorded(options: { format?: 'json' | 'text'; level?: 'debug' | 'warn' } = {}) {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const { format = 'json', level = 'debug' } = options;
  return { log: createLog({ level, name: 'test', format, destination }), lines };
}

function parsed(line: string | undefined): Record<string, unknown> {
  return JSON.parse(line ?? '');
}

describe('a log line', () => {
  it('is one JSON object with level, time, name, message and fields', () => {
    const { log, lines } = recorded();
    log.child({ request_id: 'r1' }).info('upload completed', { upload_id: 'upl_1', bytes: 12 });
    expect(lines).toHaveLength(1);
    expect(lines[0]?.endsWith('\n')).toBe(true);
    expect(parsed(lines[0])).toMatchObject({
      level: 'info',
      process: 'test',
      msg: 'upload completed',
      request_id: 'r1',
      upload_id: 'upl_1',
      bytes: 12,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
  });

  it('is not written below the level', () => {
    const { log, lines } = recorded({ level: 'warn' });
    log.info('no');
    log.warn('yes');
    expect(lines.map((line) => parsed(line).msg)).toEqual(['yes']);
  });

  it('is skipped cheaply below the level, even 20,000 times with a long field', () => {
    const { log, lines } = recorded({ level: 'warn' });
    const path = 'eyJ-'.repeat(2000);
    for (let count = 0; count < 20_000; count += 1) log.debug('delivery', { path });
    expect(lines).toEqual([]);
  });

  it('contains an error with its stack, code and causes, but no other properties', () => {
    const { log, lines } = recorded();
    const root = Object.assign(new Error('refused'), { code: 'ECONNREFUSED', password: 'hunter2' });
    log.error('request failed', { error: new Error('outer', { cause: root }) });
    const error = parsed(lines[0]).error as Record<string, unknown>;
    expect(error).toMatchObject({
      message: 'outer',
      cause: { message: 'refused', code: 'ECONNREFUSED' },
    });
    expect(error.stack).toContain('log.test.ts');
    expect(lines[0]).not.toContain('hunter2');
  });

  it('contains only the messages of a ServiceError and its causes, in both formats', () => {
    const refused = ['connect ECONNREFUSED ::1:5432', 'connect ECONNREFUSED 127.0.0.1:5432'];
    const cause = new AggregateError(refused.map((words) => new Error(words)));
    const error = new ServiceError('storage_unavailable', { cause });
    const { log, lines } = recorded();
    log.error('request failed', { error });
    expect(parsed(lines[0]).error).toEqual({
      name: 'ServiceError',
      message: error.message,
      code: 'storage_unavailable',
      cause: { name: 'AggregateError', message: refused.join('; ') },
    });
    const person = recorded({ format: 'text' });
    person.log.error('request failed', { error });
    expect(
      stripVTControlCharacters(person.lines[0] ?? '')
        .split('\n')
        .slice(1),
    ).toEqual([
      `  ServiceError: ${error.message}`,
      `    AggregateError: ${refused.join('; ')}`,
      '',
    ]);
  });

  it('omits a cause that is not an error from the text format', () => {
    const { log, lines } = recorded({ format: 'text' });
    log.error('odd', {
      error: Object.assign(new Error('outer', { cause: { status: 500 } }), { stack: 'outer' }),
    });
    expect(stripVTControlCharacters(lines[0] ?? '')).not.toContain('undefined');
  });

  it('is written even for errors and values that contain themselves', () => {
    const { log, lines } = recorded();
    const error = new Error('round');
    error.cause = error;
    const several = new AggregateError([]);
    several.errors.push(several);
    const counts: Record<string, unknown> = {};
    counts.counts = counts;
    log.error('odd', { error, counts });
    log.error('odd', { error: several });
    expect(lines).toHaveLength(2);
  });
});

describe('a secret', () => {
  const canary = 'c0ffee'.repeat(6);

  it('is hidden under a field name that is not listed', () => {
    const { log, lines } = recorded();
    const fields = { authorization: canary, headers: { 'x-api-key': canary } };
    // @ts-expect-error The compiler rejects the key, also in a spread.
    log.info('odd', { ...fields });
    log.info('nested', { counts: { completed: 3, secret: canary } });
    expect(lines.join('')).not.toContain(canary);
    expect(parsed(lines[0]).authorization).toBe('[hidden]');
    expect(parsed(lines[1]).counts).toEqual({ completed: 3, secret: '[hidden]' });
  });

  it.each([
    `key tin_live_${canary}`,
    `secret whsec_${canary}`,
    `Authorization: Bearer ${canary}`,
    `https://shop.img.example/f/a.jpg?exp=1&kid=k&sig=${canary}`,
    `/embed/shop/default?o=x&exp=1&kid=k&s=${canary}`,
    `https://s3.example/b/k?X-Amz-Credential=${canary}&X-Amz-Signature=${canary}`,
    `postgres://tintype:${canary}@db/x refused`,
    `amqp://tintype:one@${canary}@mq:5672/x refused`,
    `postgres://tintype:pa#${canary}@db/x refused`,
    `postgres://tintype:pa?${canary}@db/x refused`,
    `ls1.k1.${canary}.${canary}`,
    `t=1700000000,v1=${canary}`,
    `eyJhbGciOiJSUzI1NiJ9.${canary}.${canary}`,
    `eyJ${'a'.repeat(2000)}.${canary}.${canary}`,
  ])('is masked inside text: %s', (text) => {
    expect(maskSecrets(text)).not.toContain(canary);
    const { log, lines } = recorded();
    log.info('x', { url: text, error: new Error(text) });
    expect(lines[0]).not.toContain(canary);
  });

  it('is masked without changing the text around it', () => {
    expect(maskSecrets('GET /f/a?exp=1&kid=k1&sig=abc&x=2')).toBe(
      'GET /f/a?exp=1&kid=k1&sig=[hidden]&x=2',
    );
    const mail = 'https://shop.example?to=me@shop.example and https://shop.example/me@shop';
    expect(maskSecrets(mail)).toBe(mail);
    expect(maskSecrets('a plain sentence about a basic matter')).toContain(
      'a plain sentence about a',
    );
  });
});

it('the text format prints one readable line, with the stack of an error below it', () => {
  const { log, lines } = recorded({ format: 'text' });
  log.warn('port is taken', { port: 8080, path: '/a b' });
  const line = stripVTControlCharacters(lines[0] ?? '');
  expect(line).toMatch(/^\d\d:\d\d:\d\dZ warn {2}port is taken port=8080 path="\/a b"\n$/);
  log.error('failed', { error: new Error('outer', { cause: new Error('inner') }) });
  const failure = stripVTControlCharacters(lines[1] ?? '');
  expect(failure).toContain('Error: outer');
  expect(failure).toContain('Error: inner');
});

describe('colors of the text format', () => {
  const LOG = new URL('../../../runtime/platform/log.ts', import.meta.url).href;
  const SCRIPT = `import { createLog } from '${LOG}';
    createLog({ level: 'info', name: 'x', format: 'text', destination: process.stderr }).info('said');`;

  /** Runs a process in a terminal with this output redirected to a file, and returns its stderr. */
  async function said(redirect: '>' | '2>'): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'tintype-log-'));
    const [script, file, screen] = [`${folder}/log.mts`, `${folder}/file`, `${folder}/screen`];
    await writeFile(script, SCRIPT);
    const command = `${process.execPath} ${script} ${redirect} ${file}`;
    // No other variables, because NO_COLOR, FORCE_COLOR and CI affect colors, too.
    const env = { PATH: process.env.PATH, TERM: 'xterm' };
    await promisify(execFile)('script', ['-qec', command, screen], { env });
    const text = await readFile(redirect === '2>' ? file : screen, 'utf8');
    await rm(folder, { recursive: true });
    return text;
  }

  it('are used only if stderr is a terminal, whether stdout is one or not', async () => {
    expect(await said('>')).toContain('\u001b[32minfo');
    expect(await said('2>')).toMatch(/^[\d:]+Z info {2}said\n$/);
  });
});
