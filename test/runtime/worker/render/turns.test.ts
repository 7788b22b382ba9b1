import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Cost, createTurns } from '../../../../runtime/worker/render/turns.ts';

type Item = Cost & { name: string };
const item = (project_id: string, cost_ms: number, name = ''): Item => ({
  project_id,
  cost_ms,
  name: `${project_id}${name}`,
});
const any = () => true;

function takeAll(turns: ReturnType<typeof createTurns<Item>>): Item[] {
  const taken: Item[] = [];
  for (let next = turns.take(any); next !== undefined; next = turns.take(any)) taken.push(next);
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
    const turns = createTurns<Item>();
    for (const name of ['1', '2', '3']) turns.add(item('a', 10, name));
    expect(takeAll(turns).map(({ name }) => name)).toEqual(['a1', 'a2', 'a3']);
  });

  it('let a new project go before the backlog of another', () => {
    const turns = createTurns<Item>();
    for (let at = 0; at < 100; at += 1) turns.add(item('a', 10, String(at)));
    turns.take(any);
    turns.take(any);
    turns.add(item('b', 10));
    const order = takeAll(turns).map(({ project_id }) => project_id);
    expect(order.indexOf('b')).toBeLessThanOrEqual(1);
  });

  it('are weighed by cost: one expensive render counts as ten cheap ones', () => {
    const turns = createTurns<Item>();
    for (let at = 0; at < 3; at += 1) turns.add(item('dear', 100));
    for (let at = 0; at < 30; at += 1) turns.add(item('cheap', 10));
    const order = takeAll(turns).map(({ project_id }) => project_id);
    const before = order.slice(0, order.lastIndexOf('dear'));
    expect(before.filter((one) => one === 'cheap')).toHaveLength(20);
  });

  it('skip a render that may not start now, but not the others of its project', () => {
    const turns = createTurns<Item>();
    turns.add(item('a', 1000, ' heavy'));
    turns.add(item('a', 10, ' light'));
    expect(turns.take(({ cost_ms }) => cost_ms < 400)?.name).toBe('a light');
    expect(turns.take(any)?.name).toBe('a heavy');
  });

  it('give a project no credit for having been idle', () => {
    const turns = createTurns<Item>();
    for (let at = 0; at < 50; at += 1) turns.add(item('a', 10));
    for (let at = 0; at < 40; at += 1) turns.take(any);
    for (let at = 0; at < 5; at += 1) turns.add(item('b', 10));
    const order = takeAll(turns).map(({ project_id }) => project_id);
    expect(order.slice(0, 4).sort()).toEqual(['a', 'a', 'b', 'b']);
  });

  it('return every render exactly once', () => {
    fc.assert(
      fc.property(items, (all) => {
        const turns = createTurns<Item>();
        for (const one of all) turns.add(one);
        expect(turns.size()).toBe(all.length);
        expect(new Set(takeAll(turns))).toEqual(new Set(all));
        expect([turns.size(), turns.costOf('a')]).toEqual([0, 0]);
      }),
    );
  });

  it('keep the cost served to waiting projects within one render of each other', () => {
    fc.assert(
      fc.property(items, fc.nat(40), (all, count) => {
        const turns = createTurns<Item>();
        for (const one of all) turns.add(one);
        const given = new Map<string, number>();
        for (let at = 0; at < count; at += 1) {
          const next = turns.take(any);
          if (next === undefined) return;
          given.set(next.project_id, (given.get(next.project_id) ?? 0) + next.cost_ms);
        }
        const waiting = ['a', 'b', 'c'].filter((id) => turns.costOf(id) > 0);
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
        const turns = createTurns<Item>();
        for (const one of all) turns.add(one);
        for (let at = 0; at < taken; at += 1) turns.take(any);
        const mine = item(project_id, 10, 'newcomer');
        const ahead = turns.costAhead(mine);
        turns.add(mine);
        const order = takeAll(turns);
        const before = order.slice(0, order.indexOf(mine));
        const sum = before.reduce((total, one) => total + one.cost_ms, 0);
        // The estimate is an upper bound: if two have an equal turn, either may come first.
        expect(sum).toBeLessThanOrEqual(ahead);
        expect(ahead - sum).toBeLessThanOrEqual(3 * 100);
      }),
    );
  });

  it('name the project with the most cost waiting and its last render', () => {
    const turns = createTurns<Item>();
    turns.add(item('a', 50));
    turns.add(item('b', 30, '1'));
    turns.add(item('b', 30, '2'));
    const { cost_ms, last } = turns.longest();
    expect([cost_ms, last?.name]).toEqual([60, 'b2']);
    expect(turns.remove(last as Item)).toBe(true);
    expect(turns.remove(last as Item)).toBe(false);
    expect(turns.longest().last?.name).toBe('a');
  });
});
