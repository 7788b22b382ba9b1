import { describe, expect, it, vi } from 'vitest';
import { QueueBusy } from '../../../../runtime/platform/queue/queue.ts';
import type { RenderEnd } from '../../../../runtime/worker/render/render-pace.ts';
import type { ReleasePermit } from '../../../../runtime/worker/render/render-permits.ts';
import {
  createRenderScheduler,
  type RenderSchedulerOptions,
} from '../../../../runtime/worker/render/render-scheduler.ts';

const never = new AbortController().signal;

/** A render line that records who is inside, and lets the test release them. */
function makeLine(options: Partial<RenderSchedulerOptions> = {}) {
  const line = createRenderScheduler({ slots: 2, waiting_max: 8, deadline_ms: 10_000, ...options });
  const inside: string[] = [];
  const refused: Record<string, QueueBusy> = {};
  const doors = new Map<string, ReleasePermit>();
  const enter = (name: string, cost_ms = 20, project_id = name) => {
    const entered = line.enter({ project_id, cost_ms }, never).then(
      (leave) => {
        inside.push(name);
        doors.set(name, leave);
      },
      (error: unknown) => {
        if (!(error instanceof QueueBusy)) throw error;
        refused[name] = error;
      },
    );
    return entered;
  };
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const leave = async (name: string) => {
    doors.get(name)?.('rendered');
    await settle();
  };
  return { line, inside, refused, enter, leave, settle };
}

describe('the render queue', () => {
  it('admits one render per slot, and the next when one leaves', async () => {
    const { inside, enter, leave, settle } = makeLine();
    for (const name of ['a', 'b', 'c']) void enter(name);
    await settle();
    expect(inside).toEqual(['a', 'b']);
    await leave('a');
    await leave('a');
    expect(inside).toEqual(['a', 'b', 'c']);
  });

  it('keeps a slot for light renders when heavy ones wait', async () => {
    const { inside, enter, leave, settle } = makeLine();
    for (const name of ['heavy 1', 'heavy 2', 'heavy 3']) void enter(name, 1000);
    void enter('light');
    await settle();
    expect(inside).toEqual(['heavy 1', 'light']);
    await leave('light');
    expect(inside).toEqual(['heavy 1', 'light']);
    await leave('heavy 1');
    expect(inside).toEqual(['heavy 1', 'light', 'heavy 2']);
  });

  it('immediately refuses a render that would miss its deadline, and says when to retry', async () => {
    const { refused, enter, settle } = makeLine({ deadline_ms: 10_000 });
    for (let at = 0; at < 8; at += 1) void enter(`heavy ${at}`, 4000, 'one');
    await settle();
    expect(Object.keys(refused)).toEqual([2, 3, 4, 5, 6, 7].map((at) => `heavy ${at}`));
    expect(refused['heavy 2']?.retry_after_seconds).toBe(8);
    void enter('light', 20, 'other');
    await settle();
    expect(refused).not.toHaveProperty('light');
  });

  it('admits a render that takes longer than the deadline if none is ahead of it', async () => {
    const { inside, enter, settle } = makeLine({ deadline_ms: 1000 });
    void enter('huge', 50_000);
    await settle();
    expect(inside).toEqual(['huge']);
  });

  it('when full, makes room for a project with fewer renders waiting by refusing the one with most', async () => {
    const { inside, refused, enter, leave, settle } = makeLine({ slots: 1, waiting_max: 3 });
    for (let at = 0; at < 5; at += 1) void enter(`a${at}`, 20, 'a');
    await settle();
    expect(Object.keys(refused)).toEqual(['a4']);
    void enter('b', 20, 'b');
    await settle();
    expect(Object.keys(refused)).toEqual(['a4', 'a3']);
    await leave('a0');
    await leave('a1');
    expect(inside).toContain('b');
  });

  it('drops a caller that gives up, without affecting the running render', async () => {
    const { line, inside, enter, leave, settle } = makeLine({ slots: 1 });
    void enter('a');
    await settle();
    const gone = new AbortController();
    const waiting = line.enter({ project_id: 'b', cost_ms: 20 }, gone.signal);
    void enter('c');
    gone.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    expect(inside).toEqual(['a']);
    await leave('a');
    expect(inside).toEqual(['a', 'c']);
  });

  it('immediately refuses a render that would wait longer than the limit, though within its deadline', async () => {
    const { refused, enter, settle } = makeLine({ slots: 1, wait_ms_max: 2500, waiting_max: 100 });
    for (let at = 0; at < 12; at += 1) void enter(`${at}`, 300, 'one');
    await settle();
    expect(Object.keys(refused)).toEqual(['9', '10', '11']);
    expect(refused['9']?.retry_after_seconds).toBe(3);
  });

  it('admits a render of a quiet project while a busy project is refused', async () => {
    const { inside, refused, enter, leave, settle } = makeLine({ slots: 1, wait_ms_max: 1000 });
    for (let at = 0; at < 5; at += 1) void enter(`loud ${at}`, 300, 'loud');
    await settle();
    expect(Object.keys(refused)).toEqual(['loud 4']);
    void enter('quiet', 300);
    await leave('loud 0');
    await leave('loud 1');
    expect(Object.keys(refused)).toEqual(['loud 4']);
    expect(inside).toContain('quiet');
  });

  it('assumes the configured pace until it has measured renders', async () => {
    const { refused, enter, settle } = makeLine({ slots: 1, wait_ms_max: 2500, first_pace: 2 });
    for (let at = 0; at < 7; at += 1) void enter(`${at}`, 300, 'one');
    await settle();
    expect(Object.keys(refused)).toEqual(['5', '6']);
    expect(refused['5']?.retry_after_seconds).toBe(3);
  });

  it('refuses waiting renders as soon as they cannot meet their deadline any more', async () => {
    const { inside, refused, enter, settle } = makeLine({ slots: 1, deadline_ms: 1000 });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      for (const name of ['slow', 'first', 'second']) void enter(name, 300, 'one');
      await settle();
      vi.advanceTimersByTime(699);
      await settle();
      expect(Object.keys(refused)).toEqual([]);
      vi.advanceTimersByTime(1);
      await settle();
      expect([inside, Object.keys(refused)]).toEqual([['slow'], ['first', 'second']]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('learns from finished renders how slow the machine is, and refuses sooner', async () => {
    let now = 0;
    const { line, refused, enter, settle } = makeLine({
      slots: 1,
      wait_ms_max: 100,
      now: () => now,
    });
    const renderOf = async (ms: number, how: RenderEnd) => {
      const leave = await line.enter({ project_id: 'a', cost_ms: 10 }, never);
      now += ms;
      leave(how);
    };
    for (let at = 0; at < 30; at += 1) await renderOf(200, 'rendered');
    // Renders that were given up early say nothing about the machine's speed.
    for (let at = 0; at < 30; at += 1) await renderOf(1, 'given up');
    void enter('running', 10);
    void enter('waiting', 10);
    await settle();
    expect(refused.waiting?.retry_after_seconds).toBe(1);
    expect(Object.keys(refused)).toEqual(['waiting']);
  });

  it('counts an abandoned render as taking at least the time it ran', async () => {
    let now = 0;
    const { line, refused, enter, settle } = makeLine({
      slots: 1,
      wait_ms_max: 100,
      now: () => now,
    });
    for (let at = 0; at < 30; at += 1) {
      const leave = await line.enter({ project_id: 'a', cost_ms: 10 }, never);
      now += 14_000;
      leave('given up');
    }
    void enter('running', 10);
    void enter('waiting', 10);
    await settle();
    expect(refused.waiting?.retry_after_seconds).toBe(14);
  });
});

describe('warm-up renders', () => {
  it('start only while no viewer waits, and leave a slot free', async () => {
    const { line, enter, settle } = makeLine({ slots: 3 });
    const warm = { project_id: 'w', cost_ms: 20 };
    line.enterWarm(warm);
    line.enterWarm(warm);
    expect(() => line.enterWarm(warm)).toThrow(QueueBusy);
    void enter('a');
    await settle();
    expect(() => line.enterWarm(warm)).toThrow(QueueBusy);
  });

  it('are stopped one by one as viewers need their slots', async () => {
    const { line, inside, enter, settle } = makeLine({ slots: 3 });
    const warm = [0, 1].map(() => line.enterWarm({ project_id: 'w', cost_ms: 20 }));
    void enter('a');
    await settle();
    expect(inside).toEqual(['a']);
    expect(warm.map(({ stopped }) => stopped.aborted)).toEqual([true, false]);
    warm[0]?.release();
    void enter('b');
    await settle();
    expect(inside).toEqual(['a', 'b']);
    expect(warm[1]?.stopped.aborted).toBe(true);
  });

  it('free their slot when they end', async () => {
    const { line, inside, enter, settle } = makeLine({ slots: 2 });
    const { release: leave } = line.enterWarm({ project_id: 'w', cost_ms: 20 });
    void enter('a');
    void enter('b');
    await settle();
    expect(inside).toEqual(['a']);
    leave();
    leave();
    await settle();
    expect(inside).toEqual(['a', 'b']);
  });
});
