import { EventEmitter } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import {
  createLifecycle,
  type Lifecycle,
  runProcess,
} from '../../../runtime/platform/lifecycle.ts';
import { createLog } from '../../../runtime/platform/log.ts';

const log = createLog({ level: 'silent', name: 'test' });

/** A fake process that takes signals, and records exits instead of ending. */
function createProcess() {
  const exits: unknown[] = [];
  const signals = new EventEmitter();
  const exit = (code?: unknown) => void exits.push(code);
  const fake = { on: signals.on.bind(signals), off: signals.off.bind(signals), exit };
  return { exits, signals, process: fake as unknown as NodeJS.Process };
}

describe('the shutdown of a process', () => {
  it('stops the parts in reverse order of their start, and ends with 0', async () => {
    const { signals, process } = createProcess();
    const lifecycle = createLifecycle({ log, process });
    const order: string[] = [];
    lifecycle.onStop('database', async () => void order.push('database'));
    lifecycle.onStop('server', () => void order.push('server'));
    signals.emit('SIGTERM', 'SIGTERM');
    expect(await lifecycle.stopped).toBe(0);
    expect(order).toEqual(['server', 'database']);
    expect(signals.eventNames()).toEqual([]);
  });

  it('stops the other parts if one fails or times out, and ends with 1', async () => {
    const { process } = createProcess();
    const lifecycle = createLifecycle({ log, process, part_deadline_ms: 10 });
    const order: string[] = [];
    lifecycle.onStop('first', () => void order.push('first'));
    lifecycle.onStop('broken', () => Promise.reject(new Error('no')));
    lifecycle.onStop('slow', () => new Promise(() => undefined));
    expect(await lifecycle.stop()).toBe(1);
    expect(order).toEqual(['first']);
  });

  it('stops the remaining parts without waiting once the overall deadline has passed', async () => {
    const { process } = createProcess();
    const lifecycle = createLifecycle({ log, process, deadline_ms: 10 });
    const order: string[] = [];
    lifecycle.onStop('last', () => void order.push('last'));
    lifecycle.onStop('slow', () => new Promise(() => undefined));
    lifecycle.onStop('stuck', () => new Promise(() => undefined));
    expect(await lifecycle.stop()).toBe(1);
    expect(order).toEqual(['last']);
  });

  it('interrupts a start in progress at its next part, and stops that part too', async () => {
    const { signals, process } = createProcess();
    const lifecycle = createLifecycle({ log, process });
    const order: string[] = [];
    const database = Promise.withResolvers<void>();
    const started = lifecycle.start(async () => {
      await database.promise;
      lifecycle.onStop('database', () => void order.push('database stopped'));
      order.push('server started');
    });
    signals.emit('SIGINT', 'SIGINT');
    database.resolve();
    await started;
    expect(await lifecycle.stopped).toBe(0);
    expect(order).toEqual(['database stopped']);
  });

  it('ends with 0 if a start in progress fails because of it, and only then', async () => {
    const fail = (lifecycle: Lifecycle, program: Promise<void>) =>
      lifecycle.start(() => program.then(() => Promise.reject(new Error('the program was ended'))));
    const { signals, process } = createProcess();
    const lifecycle = createLifecycle({ log, process });
    const program = Promise.withResolvers<void>();
    const started = fail(lifecycle, program.promise);
    signals.emit('SIGINT', 'SIGINT');
    program.resolve();
    await started;
    expect(await lifecycle.stopped).toBe(0);
    const undisturbed = createLifecycle({ log, process });
    await expect(fail(undisturbed, Promise.resolve())).rejects.toThrow('the program was ended');
    await undisturbed.stop();
  });

  it('happens once, however often it is requested', async () => {
    const { process } = createProcess();
    const lifecycle = createLifecycle({ log, process });
    let times = 0;
    lifecycle.onStop('part', () => {
      times += 1;
    });
    await Promise.all([lifecycle.stop(), lifecycle.stop(), lifecycle.stopped]);
    expect(times).toBe(1);
  });

  it('is immediate at a second signal, unless that is an echo of the first', async () => {
    const { exits, signals, process } = createProcess();
    const lifecycle = createLifecycle({ log, process, echo_ms: 40 });
    const stuck = Promise.withResolvers<void>();
    lifecycle.onStop('stuck', () => stuck.promise);
    signals.emit('SIGINT', 'SIGINT');
    signals.emit('SIGINT', 'SIGINT');
    expect(exits).toEqual([]);
    await new Promise((resolve) => setTimeout(resolve, 60));
    signals.emit('SIGINT', 'SIGINT');
    expect(exits).toEqual([130]);
    stuck.resolve();
    await lifecycle.stopped;
  });

  it('stays clean if the terminal closes and sends SIGHUP repeatedly', async () => {
    const { exits, signals, process } = createProcess();
    const lifecycle = createLifecycle({ log, process, echo_ms: 0 });
    const slow = Promise.withResolvers<void>();
    lifecycle.onStop('slow', () => slow.promise);
    signals.emit('SIGHUP', 'SIGHUP');
    await new Promise((resolve) => setTimeout(resolve, 20));
    signals.emit('SIGHUP', 'SIGHUP');
    slow.resolve();
    expect([await lifecycle.stopped, exits]).toEqual([0, []]);
  });

  it('is not delayed by a handle that no part owns, and logs it', async () => {
    const { exits, signals, process } = createProcess();
    const lines: string[] = [];
    const recordingLog = createLog({
      ...{ level: 'warn', name: 'test', format: 'json' },
      destination: { write: (line) => lines.push(line) },
    });
    const socket = createServer().listen(0);
    const run = runProcess({ log: recordingLog, process, held_ms: 10 }, async () => undefined);
    signals.emit('SIGTERM', 'SIGTERM');
    await run;
    expect(exits).toEqual([]);
    await vi.waitFor(() => expect(exits).toEqual([0]));
    expect(JSON.parse(lines.join(''))).toMatchObject({
      reason: expect.stringContaining('TCPServerWrap'),
    });
    socket.close();
  });
});
