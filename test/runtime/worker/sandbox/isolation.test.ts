import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sandboxReport } from '../../../../runtime/worker/sandbox/sandbox-report.ts';
import { startEnclosed } from '../../../../runtime/worker/sandbox/spawn-decoder.ts';
import { printSyscallFilter } from '../../../../runtime/worker/sandbox/syscall-filter.ts';

let data: string;
beforeAll(() => {
  data = mkdtempSync(join(tmpdir(), 'tintype-isolation-'));
  writeFileSync(join(data, 'secrets.json'), '{}');
});
afterAll(() => rmSync(data, { recursive: true }));

/** Runs a script behind the kernel's layers only, without Node's permission model. */
async function enclosed(script: string): Promise<string> {
  const child = startEnclosed(['-e', `const tried = ${tried}; (async () => { ${script} })();`], {
    readable: [],
    data_bytes_max: 2_000_000_000,
  });
  const [, , errors, answers] = child.stdio;
  const [answer, error] = await Promise.all([text(answers as Readable), text(errors as Readable)]);
  return answer === '' ? error : answer;
}

/** The program itself, inside the processes that enclose it. */
function innermost(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return children === '' ? pid : innermost(Number(children.split(' ').at(-1)));
}

const tried = `(work) => {
  const say = (words) => require('fs').writeSync(3, String(words));
  try { say('done: ' + work()); } catch (error) { say(error.code ?? error.message); }
}`;

describe('a decoder enclosed by bubblewrap', () => {
  it.each([
    ['/etc/passwd', () => '/etc/passwd'],
    ['a file of the data folder', () => join(data, 'secrets.json')],
    ['the memory of its parent', () => `/proc/${process.pid}/environ`],
  ])('cannot read %s', async (_name, path) => {
    const script = `tried(() => require('fs').readFileSync(${JSON.stringify(path())}))`;
    expect(await enclosed(script)).toBe('ENOENT');
  });

  it.each(['/tmp/left-behind', '/left-behind', '/usr/lib/left-behind'])(
    'cannot write %s',
    async (path) => {
      const script = `tried(() => require('fs').writeFileSync('${path}', 'x'))`;
      expect(await enclosed(script)).toMatch(/^(EROFS|EFBIG)$/);
    },
  );

  it('cannot start a shell or any other program', async () => {
    const run = (call: string) =>
      enclosed(`tried(() => { const r = require('child_process').${call}; throw r.error; })`);
    expect(await run(`spawnSync('/bin/sh', ['-c', 'true'])`)).toBe('EPERM');
    expect(await run(`spawnSync(process.execPath, ['--version'])`)).toBe('EPERM');
  });

  it('cannot open a socket, not even to its own machine', async () => {
    const server = createServer();
    let connections = 0;
    server.on('connection', () => {
      connections += 1;
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const answer = await enclosed(
      `require('net').connect(${port}, '127.0.0.1')
        .on('connect', () => tried(() => 'connected'))
        .on('error', (error) => tried(() => { throw error; }));`,
    );
    server.close();
    expect(answer).toBe('EPERM');
    expect(connections).toBe(0);
  });

  it('sees no other process, and runs as nobody', async () => {
    const seen = await enclosed(
      `tried(() => JSON.stringify([process.pid, process.getuid(), require('fs').readdirSync('/')]))`,
    );
    const [pid, uid, folders] = JSON.parse(seen.replace('done: ', ''));
    expect(pid).toBe(2);
    expect(uid).toBe(65_534);
    expect(folders).not.toContain('proc');
    expect(folders).not.toContain('home');
  });

  it('has its own namespaces, no capabilities and no way to gain any', async () => {
    const child = startEnclosed(
      ['-e', `require('fs').writeSync(3, 'up'); setInterval(() => {}, 1000);`],
      { readable: [], data_bytes_max: 2_000_000_000 },
    );
    try {
      await once(child.stdio[3] as Readable, 'data');
      const pid = innermost(child.pid ?? 0);
      for (const space of ['net', 'ipc', 'uts', 'pid', 'mnt', 'user'])
        expect(readlinkSync(`/proc/${pid}/ns/${space}`), space).not.toBe(
          readlinkSync(`/proc/self/ns/${space}`),
        );
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'])
        expect(status).toMatch(new RegExp(`^${set}:\\s+0+$`, 'm'));
      expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
      expect(status).toMatch(/^Seccomp:\s+2$/m);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('can still run threads, timers and WebAssembly', async () => {
    const script = `const { Worker } = require('worker_threads');
      new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));
      setTimeout(() =>
        new Worker('require("worker_threads").parentPort.postMessage(6 * 7)', { eval: true })
          .on('message', (answer) => tried(() => answer)), 1);`;
    expect(await enclosed(script)).toBe('done: 42');
  });

  it('leaves nothing running, at whatever moment of its start it is killed', async () => {
    const mark = `mark-${process.pid}`;
    for (let turn = 0; turn < 60; turn += 1) {
      // Like a decoder, it exits at the end of its input unless it is killed first.
      const child = startEnclosed(['-e', 'process.stdin.resume()', mark], {
        readable: [],
        data_bytes_max: 2_000_000_000,
      });
      await sleep((turn % 20) * 0.5);
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    const isRunning = () => commandLines().some((line) => line.includes(mark));
    // Processes of a killed namespace take a moment to disappear.
    await expect.poll(isRunning).toBe(false);
  });

  it('ends when its parent is killed, even while it computes without end', async () => {
    const program = fileURLToPath(new URL('./dying-parent.ts', import.meta.url));
    const mark = `orphan-${process.pid}`;
    const parent = spawn(process.execPath, [program, mark], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(parent.stdout, 'data');
    const isRunning = () => commandLines().some((line) => line.includes(mark));
    expect(isRunning()).toBe(true);
    parent.kill('SIGKILL');
    await expect.poll(isRunning).toBe(false);
  });

  it('needs no temporary folder', async () => {
    const report = new URL('../../../../runtime/worker/sandbox/sandbox-report.ts', import.meta.url);
    const script = `const { sandboxReport } = await import(${JSON.stringify(report.href)});
      console.log(JSON.stringify(await sandboxReport()));`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, TMPDIR: '/nowhere' },
    });
    expect(JSON.parse(await text(child.stdout))).toEqual(await sandboxReport());
  });
});

function commandLines(): string[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) ? [readFileSync(`/proc/${name}/cmdline`, 'utf8')] : [];
    } catch {
      return [];
    }
  });
}

describe('the sandbox report', () => {
  it('says that every layer is in force, and gives no advice then', async () => {
    const layers = await sandboxReport();
    expect(layers.map(({ in_force }) => in_force)).toEqual(layers.map(() => true));
    for (const { in_force, advice } of layers) expect(advice === undefined).toBe(in_force);
  });
});

describe('the system call filter', () => {
  it.each(['x64', 'arm64'])('never jumps past its own end (%s)', (architecture) => {
    const program = printSyscallFilter(architecture) ?? expect.fail('no filter');
    const length = program.length / 8;
    expect(length).toBeLessThan(4096);
    for (let at = 0; at < length; at += 1) {
      const isReturn = program.readUInt16LE(at * 8) === 0x06;
      const furthest = Math.max(program.readUInt8(at * 8 + 2), program.readUInt8(at * 8 + 3));
      expect(isReturn ? 0 : at + 1 + furthest).toBeLessThan(length);
    }
    expect(program.readUInt16LE((length - 1) * 8)).toBe(0x06);
  });

  it('does not exist for an unknown architecture', () => {
    expect(printSyscallFilter('riscv64')).toBeUndefined();
  });
});
