import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Cost, createFairQueue } from '../../../../runtime/worker/render/fair-queue.ts';

type Item = Cost & { name: string };
const item = (project_id: string, cost_ms: number, name = ''): Item => ({
  project_id,
  cost_ms,
  name: `${project_id}${name}`,
});
const any = () => true;

function takeAll(queue: ReturnType<typeof createFairQueue<Item>>): Item[] {
  const taken: Item[] = [];
  for (let next = queue.take(any); next !== undefined; next = queue.take(any)) taken.push(next);
  return taken;
}

const items = fc.array(
  fc.record({
    project_id: fc.constantFrom('a', 'b', 'c'),
    cost_ms: fc.integer({ min: 1, max: 100 }),
    name: fc.string(),
  }),
  { maxLength: 40 },
);

describe('turns between projects', () => {
  it('are first come, first served within a project', () => {
    const queue = createFairQueue<Item>();
    for (const name of ['1', '2', '3']) queue.add(item('a', 10, name));
    expect(takeAll(queue).map(({ name }) => name)).toEqual(['a1', 'a2', 'a3']);
  });

  it('let a new project go before the backlog of another', () => {
    const queue = createFairQueue<Item>();
    for (let at = 0; at < 100; at += 1) queue.add(item('a', 10, String(at)));
    queue.take(any);
    queue.take(any);
    queue.add(item('b', 10));
    const order = takeAll(queue).map(({ project_id }) => project_id);
    expect(order.indexOf('b')).toBeLessThanOrEqual(1);
  });

  it('are weighed by cost: one expensive render counts as ten cheap ones', () => {
    const queue = createFairQueue<Item>();
    for (let at = 0; at < 3; at += 1) queue.add(item('dear', 100));
    for (let at = 0; at < 30; at += 1) queue.add(item('cheap', 10));
    const order = takeAll(queue).map(({ project_id }) => project_id);
    const before = order.slice(0, order.lastIndexOf('dear'));
    expect(before.filter((one) => one === 'cheap')).toHaveLength(20);
  });

  it('skip a render that may not start now, but not the others of its project', () => {
    const queue = createFairQueue<Item>();
    queue.add(item('a', 1000, ' heavy'));
    queue.add(item('a', 10, ' light'));
    expect(queue.take(({ cost_ms }) => cost_ms < 400)?.name).toBe('a light');
    expect(queue.take(any)?.name).toBe('a heavy');
  });

  it('give a project no credit for having been idle', () => {
    const queue = createFairQueue<Item>();
    for (let at = 0; at < 50; at += 1) queue.add(item('a', 10));
    for (let at = 0; at < 40; at += 1) queue.take(any);
    for (let at = 0; at < 5; at += 1) queue.add(item('b', 10));
    const order = takeAll(queue).map(({ project_id }) => project_id);
    expect(order.slice(0, 4).sort()).toEqual(['a', 'a', 'b', 'b']);
  });

  it('return every render exactly once', () => {
    fc.assert(
      fc.property(items, (all) => {
        const queue = createFairQueue<Item>();
        for (const one of all) queue.add(one);
        expect(queue.size()).toBe(all.length);
        expect(new Set(takeAll(queue))).toEqual(new Set(all));
        expect([queue.size(), queue.costOf('a')]).toEqual([0, 0]);
      }),
    );
  });

  it('keep the cost served to waiting projects within one render of each other', () => {
    fc.assert(
      fc.property(items, fc.nat(40), (all, count) => {
        const queue = createFairQueue<Item>();
        for (const one of all) queue.add(one);
        const given = new Map<string, number>();
        for (let at = 0; at < count; at += 1) {
          const next = queue.take(any);
          if (next === undefined) return;
          given.set(next.project_id, (given.get(next.project_id) ?? 0) + next.cost_ms);
        }
        const waiting = ['a', 'b', 'c'].filter((id) => queue.costOf(id) > 0);
        const shares = waiting.map((id) => given.get(id) ?? 0);
        expect(Math.max(0, ...shares) - Math.min(...shares, Number.MAX_VALUE)).toBeLessThanOrEqual(
          100,
        );
      }),
    );
  });

  it('predict the cost served before a newcomer, to within one render per project', () => {
    const project = fc.constantFrom('a', 'b', 'c', 'mine');
    fc.assert(
      fc.property(items, fc.nat(40), project, (all, taken, project_id) => {
        const queue = createFairQueue<Item>();
        for (const one of all) queue.add(one);
        for (let at = 0; at < taken; at += 1) queue.take(any);
        const mine = item(project_id, 10, 'newcomer');
        const ahead = queue.costAhead(mine);
        queue.add(mine);
        const order = takeAll(queue);
        const before = order.slice(0, order.indexOf(mine));
        const sum = before.reduce((total, one) => total + one.cost_ms, 0);
        // The estimate is an upper bound: if two have an equal turn, either may come first.
        expect(sum).toBeLessThanOrEqual(ahead);
        expect(ahead - sum).toBeLessThanOrEqual(3 * 100);
      }),
    );
  });

  it('name the project with the most cost waiting and its last render', () => {
    const queue = createFairQueue<Item>();
    queue.add(item('a', 50));
    queue.add(item('b', 30, '1'));
    queue.add(item('b', 30, '2'));
    const { cost_ms, last } = queue.longest();
    expect([cost_ms, last?.name]).toEqual([60, 'b2']);
    expect(queue.remove(last as Item)).toBe(true);
    expect(queue.remove(last as Item)).toBe(false);
    expect(queue.longest().last?.name).toBe('a');
  });
});
