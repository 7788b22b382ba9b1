// Spec: Webhook delivery attempt: a dead endpoint does not delay the deliveries of other projects.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLanes } from '../../../runtime/jobs/webhook-lanes.ts';

const limits = { total: 20, project: 4, host: 6, slow_ms: 1000 };
const call = (project_id: string, host = project_id) => ({ project_id, host });
const roomOf = (lanes: ReturnType<typeof createLanes>, project: string) =>
  lanes.room().rooms.get(project) ?? 1;

describe('webhook lanes', () => {
  it('let a project start with one call, and have more with each quick response', () => {
    const lanes = createLanes(limits);
    const seen = [];
    for (let answers = 0; answers < 4; answers++) {
      seen.push(roomOf(lanes, 'a'));
      lanes.enter(call('a'))(10);
    }
    expect(seen).toEqual([1, 2, 4, 4]);
  });

  it('leave a slow project one call until it is quick again', () => {
    const lanes = createLanes(limits);
    for (const took of [10, 10, 5000]) lanes.enter(call('a'))(took);
    expect(roomOf(lanes, 'a')).toBe(1);
    const leave = lanes.enter(call('a'));
    expect(roomOf(lanes, 'a')).toBe(0);
    leave(10);
    expect(roomOf(lanes, 'a')).toBe(1);
  });

  it('leave half of all places to projects that are not slow', () => {
    const lanes = createLanes(limits);
    const names = Array.from({ length: 30 }, (_, index) => `p${index}`);
    for (const name of names) lanes.enter(call(name))(9000);
    expect(lanes.room()).toMatchObject({ limit: 20, slow: names, slow_limit: 10 });
    for (const name of names.slice(0, 7)) lanes.enter(call(name));
    lanes.enter(call('new'));
    expect(lanes.room()).toMatchObject({ limit: 12, slow_limit: 3 });
    expect(lanes.room().slow).not.toContain('new');
  });

  it('limit the calls to a host, whichever projects call it', () => {
    const lanes = createLanes(limits);
    const leaves = Array.from({ length: 6 }, (_, index) => lanes.enter(call(`p${index}`, 'zap')));
    expect(lanes.room().host_rooms).toEqual(new Map([['zap', 0]]));
    leaves[0]?.(10);
    expect(lanes.room().host_rooms).toEqual(new Map([['zap', 1]]));
  });

  it('have 512 places by default, 64 per host and 16 per project', () => {
    const lanes = createLanes();
    expect(lanes.room()).toMatchObject({ limit: 512, slow_limit: 256, host_max: 64 });
    const seen = [];
    for (let answers = 0; answers < 6; answers++) {
      seen.push(roomOf(lanes, 'a'));
      lanes.enter(call('a'))(1000);
    }
    expect(seen).toEqual([1, 2, 4, 8, 16, 16]);
    lanes.enter(call('a'))(1001);
    expect(lanes.room().slow).toEqual(['a']);
    for (let calls = 0; calls < 60; calls++) lanes.enter(call(`p${calls}`, 'zap'));
    expect(lanes.room()).toMatchObject({ limit: 452, host_rooms: new Map([['zap', 4]]) });
  });

  it('count correctly, whatever comes and goes', () => {
    const step = fc.record({ project: fc.integer({ min: 0, max: 8 }), took: fc.nat(3000) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const lanes = createLanes(limits);
        const open: { leave: (took: number) => void; took: number }[] = [];
        for (const { project, took } of steps) {
          const name = `p${project}`;
          const { limit } = lanes.room();
          if (limit > 0 && roomOf(lanes, name) > 0) {
            open.push({ leave: lanes.enter(call(name)), took });
          } else {
            const first = open.shift();
            first?.leave(first.took);
          }
          expect(lanes.room().limit).toBe(limits.total - open.length);
          expect(open.length).toBeLessThanOrEqual(limits.total);
        }
      }),
    );
  });
});
