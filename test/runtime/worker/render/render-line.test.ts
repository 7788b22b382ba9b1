import { describe, expect, it } from 'vitest';
import { QueueBusy } from '../../../../runtime/platform/queue/queue.ts';
import {
  createRenderLine,
  type LineOptions,
} from '../../../../runtime/worker/render/render-line.ts';

const never = new AbortController().signal;

/** A line of which the test sees who is inside, and lets them out. */
function makeLine(options: Partial<LineOptions> = {}) {
  const line = createRenderLine({ slots: 2, waiting_max: 8, deadline_ms: 10_000, ...options });
  const inside: string[] = [];
  const refused: Record<string, QueueBusy> = {};
  const doors = new Map<string, () => void>();
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
    doors.get(name)?.();
    await settle();
  };
  return { line, inside, refused, enter, leave, settle };
}

describe('the line of renders', () => {
  it('lets in as many as there are slots, and the next when one leaves', async () => {
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

  it('refuses at once what could not end before its deadline, and says when to come again', async () => {
    const { refused, enter, settle } = makeLine({ deadline_ms: 10_000 });
    for (let at = 0; at < 8; at += 1) void enter(`heavy ${at}`, 4000, 'one');
    await settle();
    expect(Object.keys(refused)).toEqual(['heavy 3', 'heavy 4', 'heavy 5', 'heavy 6', 'heavy 7']);
    expect(refused['heavy 3']?.retry_after_seconds).toBe(10);
    void enter('light', 20, 'other');
    await settle();
    expect(refused).not.toHaveProperty('light');
  });

  it('lets in what takes longer than the deadline where nobody is ahead of it', async () => {
    const { inside, enter, settle } = makeLine({ deadline_ms: 1000 });
    void enter('huge', 50_000);
    await settle();
    expect(inside).toEqual(['huge']);
  });

  it('that is full makes room for a project with less waiting, and refuses the one with most', async () => {
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

  it('forgets who gave up, and does not stop whoever is inside', async () => {
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

  it('learns how slow this machine is, and refuses sooner', async () => {
    const { line, refused, enter, settle } = makeLine({ slots: 1, deadline_ms: 200 });
    for (let at = 0; at < 30; at += 1) {
      const leave = await line.enter({ project_id: 'a', cost_ms: 1 }, never);
      await new Promise((resolve) => setTimeout(resolve, 10));
      leave();
    }
    void enter('running', 15);
    void enter('waiting', 15);
    await settle();
    expect(Object.keys(refused)).toEqual(['waiting']);
  });
});

describe('renders that nobody waits for', () => {
  it('begin only while nobody waits, and leave a slot free', async () => {
    const { line, enter, settle } = makeLine({ slots: 3 });
    const warm = { project_id: 'w', cost_ms: 20 };
    line.enterWarm(warm);
    line.enterWarm(warm);
    expect(() => line.enterWarm(warm)).toThrow(QueueBusy);
    void enter('a');
    await settle();
    expect(() => line.enterWarm(warm)).toThrow(QueueBusy);
  });

  it('are stopped as soon as a viewer needs their slot, one for each', async () => {
    const { line, inside, enter, settle } = makeLine({ slots: 3 });
    const warm = [0, 1].map(() => line.enterWarm({ project_id: 'w', cost_ms: 20 }));
    void enter('a');
    await settle();
    expect(inside).toEqual(['a']);
    expect(warm.map(({ stopped }) => stopped.aborted)).toEqual([true, false]);
    warm[0]?.leave();
    void enter('b');
    await settle();
    expect(inside).toEqual(['a', 'b']);
    expect(warm[1]?.stopped.aborted).toBe(true);
  });

  it('make room when they end', async () => {
    const { line, inside, enter, settle } = makeLine({ slots: 2 });
    const { leave } = line.enterWarm({ project_id: 'w', cost_ms: 20 });
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
