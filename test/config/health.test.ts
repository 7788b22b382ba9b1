import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { evaluate } from '@marcbachmann/cel-js';
import { describe, expect, it } from 'vitest';
import { LuaFactory } from 'wasmoon';
import { parse } from 'yaml';
import { clusterKinds } from '../../operator/cluster-kinds.ts';
import { kinds } from '../../operator/kinds.ts';
import { projectRoot } from '../house/source-files.ts';
import { kstatus } from './kstatus.ts';
import { type Case, casesOf, type Recorded } from './recorded-statuses.ts';

const names = [...kinds, ...clusterKinds].map(({ kind }) => kind);
const all = names.flatMap((kind) => casesOf(kind).map((each) => ({ kind, ...each })));

function read(path: string) {
  return parse(readFileSync(join(projectRoot, path), 'utf8'));
}

describe('Argo CD health checks', () => {
  const settings: Record<string, string> = read('config/argocd/argocd-cm.yaml').data;
  const factory = new LuaFactory();

  /** Uses a new interpreter for each resource, like Argo CD. */
  async function judge(kind: string, resource: Recorded) {
    const lua = await factory.createEngine();
    try {
      const script = settings[`resource.customizations.health.tintype.dev_${kind}`];
      return await lua.doString(`obj = ${luaOf(resource)}\n${script}`);
    } finally {
      lua.global.close();
    }
  }

  const health = {
    Ready: 'Healthy',
    Waiting: 'Progressing',
    Refused: 'Degraded',
    Suspended: 'Suspended',
    Paused: 'Suspended',
    Held: 'Suspended',
    Deleting: 'Progressing',
  } as const;

  it('have a rule for every kind', () => {
    const keys = names.map((kind) => `resource.customizations.health.tintype.dev_${kind}`);
    expect(Object.keys(settings).sort()).toEqual(keys.sort());
  });

  it.each(all)('show the health of a $kind: $name', async ({ kind, resource, moment }) => {
    const seen = await judge(kind, resource);
    expect(seen.status).toBe(health[moment]);
    const reason = resource.status?.conditions?.find(({ type }) => type === 'Ready');
    if (moment === 'Ready' || moment === 'Refused') {
      expect(seen.message).toBe(`${reason?.reason}: ${reason?.message}`);
    }
    expect(seen.message).not.toBe('');
  });

  it('show a resource without a status as Progressing', async () => {
    const { status: _, ...bare } = all[0]?.resource ?? ({} as Recorded);
    const seen = await judge('Project', bare);
    expect(seen.status).toBe('Progressing');
  });
});

/**
 * Prints a JSON value as Lua. Strings are printed as bytes, because Lua does not know JSON's
 * escapes.
 */
function luaOf(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(luaOf).join(', ')}}`;
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).map(([name, each]) => `[${luaOf(name)}] = ${luaOf(each)}`);
    return `{${fields.join(', ')}}`;
  }
  if (typeof value !== 'string') return String(value);
  const bytes = [...Buffer.from(value)].map((byte) => `\\${String(byte).padStart(3, '0')}`);
  return `"${bytes.join('')}"`;
}

const results = {
  Ready: 'Current',
  Waiting: 'InProgress',
  Refused: 'Failed',
  Suspended: 'Failed',
  Paused: 'Current',
  Held: 'InProgress',
  Deleting: 'Terminating',
} as const;

describe('kstatus, as used by Flux', () => {
  it.each(all)('computes the status of a $kind: $name', ({ resource, moment }) => {
    expect(kstatus(resource)).toBe(results[moment]);
  });
});

describe('Flux health checks', () => {
  type Rule = { kind: string; inProgress: string; failed: string; current: string };
  const rules: Rule[] = read('config/flux/projects.yaml').spec.healthCheckExprs;

  it('have a rule for every kind', () => {
    expect(rules.map(({ kind }) => kind).sort()).toEqual([...names].sort());
  });

  /** Evaluates the expressions in Flux's order. If none is true, the resource is in progress. */
  function judge({ kind, resource }: Case & { kind: string }): string {
    const rule = rules.find((each) => each.kind === kind);
    const is = (expression = '') => evaluate(expression, contextOf(resource));
    if (is(rule?.inProgress)) return 'InProgress';
    if (is(rule?.failed)) return 'Failed';
    return is(rule?.current) ? 'Current' : 'InProgress';
  }

  it.each(all.filter(({ moment }) => moment !== 'Deleting'))(
    'agree with kstatus on a $kind: $name',
    (each) => {
      expect(judge(each)).toBe(kstatus(each.resource));
    },
  );

  // CEL integers are 64 bits wide, so they must be BigInts.
  function contextOf(resource: Recorded) {
    return wholeNumbers(resource) as Record<string, unknown>;
  }
});

function wholeNumbers(value: unknown): unknown {
  if (typeof value === 'number') return BigInt(value);
  if (Array.isArray(value)) return value.map(wholeNumbers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, wholeNumbers(each)]),
  );
}
