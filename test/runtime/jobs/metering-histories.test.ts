// Spec: Metering; Organization quota. TINTYPE_SOAK_HISTORIES sets the number of random histories.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { insertCreditGrant } from '../../../runtime/db/credit-grants.ts';
import {
  insertExemption,
  updateExemptionEnd,
} from '../../../runtime/db/organization-exemptions.ts';
import { findOrganization, type OrganizationRow } from '../../../runtime/db/organizations.ts';
import { insertPricing } from '../../../runtime/db/project-pricing.ts';
import { insertUsageBatch, type UsageBatchEntry } from '../../../runtime/db/usage-batches.ts';
import type { Job } from '../../../runtime/jobs/job.ts';
import { jobs as table } from '../../../runtime/jobs/table.ts';
import { countBalance } from '../../support/count-balance.ts';
import { useDatabase } from '../../support/database.ts';
import { makeJobs, type TestJobs } from '../../support/jobs.ts';
import {
  chargesOf,
  type History,
  history,
  PROJECTS,
  type Step,
  type Usage,
} from '../../support/metering-history.ts';
import { makeOrganization, makeProject, must } from '../../support/rows.ts';

const { db } = useDatabase({ maxConnections: 16 });
const DAYS = ['2026-11-17', '2026-11-18', '2026-11-19'];
const START = Date.parse('2026-11-17T00:00:00Z');
const CHARGE = new Date('2026-11-20T00:20:00Z');
const FIRST_CREDITS = 500;
const HISTORIES = Number(process.env['TINTYPE_SOAK_HISTORIES'] ?? 15);
let jobs: TestJobs;
let runs = 0;
let worlds = 0;

beforeAll(async () => {
  jobs = await makeJobs(db);
  jobs.clock.set(new Date('2026-11-20T12:00:00Z'));
});
afterAll(() => jobs.close());

/** The state that a history has produced so far, and what is expected of it. */
type World = {
  organization_id: string;
  project_ids: string[];
  seen: Usage[];
  last: UsageBatchEntry[];
  sequence: number;
  granted: number;
  is_over: boolean;
  is_exempt: boolean;
  has_callback: boolean[];
  /** The expected events of each project, in order. */
  events: string[][];
};

/** Deletes only what a history reads, because truncating tables takes longer than the history. */
async function forget(): Promise<void> {
  worlds += 1;
  if (worlds % 50 === 1) await db.query('truncate organizations, usage_batches cascade');
  const tables = ['usage_batch_rows', 'usage_batches', 'usage_hours', 'usage_days', 'ledger'];
  for (const name of [...tables, 'webhook_deliveries']) await db.query(`delete from ${name}`);
}

async function makeWorld({ pricing, exemptions }: History): Promise<World> {
  await forget();
  const { organization_id } = await makeOrganization(db);
  const project_ids: string[] = [];
  for (let number = 0; number < PROJECTS; number++) {
    project_ids.push((await makeProject(db, { organization_id })).project_id);
  }
  const world: World = {
    ...{ organization_id, project_ids, seen: [], last: [], sequence: 0, granted: 0 },
    ...{ is_over: false, is_exempt: false },
    has_callback: project_ids.map(() => false),
    events: project_ids.map(() => []),
  };
  await take(world, { kind: 'grant', credits: FIRST_CREDITS });
  for (const project of [0, 1, 2]) await take(world, { kind: 'callback', project, is_on: true });
  for (const change of pricing) {
    await insertPricing(db, {
      project_id: project_ids[change.project] ?? '',
      effective_from: new Date(START + change.hour * 3_600_000),
      pricing_multiplier: String(change.thousandths / 1000),
    });
  }
  // Merges overlapping exemptions, because the table allows no overlap.
  await db.query(
    `insert into organization_exemptions select $1, lower(one), upper(one)
     from unnest((select range_agg(tstzrange(starts_at, ends_at))
       from unnest($2::timestamptz[], $3::timestamptz[]) as t (starts_at, ends_at))) one`,
    [
      organization_id,
      exemptions.map(({ start }) => new Date(START + start * 60_000)),
      exemptions.map(({ start, minutes }) => new Date(START + (start + minutes) * 60_000)),
    ],
  );
  return world;
}

const takers: {
  [Kind in Step['kind']]: (world: World, step: Extract<Step, { kind: Kind }>) => Promise<void>;
} = {
  batch: async (world, { entries }) => {
    world.sequence += 1;
    world.last = entries.map(({ project, hour, credits }) => ({
      project_id: world.project_ids[project] ?? '',
      window_start: new Date(START + hour * 3_600_000),
      ...{ requests: 1, bytes: credits * 1000, transforms: 1, credits },
    }));
    expect(await sendLast(world)).toBe(true);
    world.seen.push(...entries);
  },
  repeat: async (world) => {
    if (world.last.length > 0) expect(await sendLast(world)).toBe(false);
  },
  rollup: async (_world, { times, breaks }) => {
    const [first, ...others] = Array.from({ length: times }, () => table['hourly-rollup']);
    const broken = first && run(first, breaks ? 1 : Number.POSITIVE_INFINITY);
    await Promise.all([broken, ...others.map((job) => run(job))]);
  },
  charge: async (world, { times, day, breaks_at }) => {
    const at = new Date(CHARGE.getTime() - day * 86_400_000);
    const others = Array.from({ length: times - 1 }, () =>
      run(table['daily-charge'], undefined, at),
    );
    const isBroken = await run(table['daily-charge'], breaks_at, at);
    await Promise.all(others);
    if (isBroken) await run(table['daily-charge'], undefined, at);
    await expectSettled(world);
  },
  grant: async (world, { credits }) => {
    world.granted += credits;
    const external_id = `${world.organization_id}-${world.granted}`;
    const { organization_id } = world;
    await insertCreditGrant(db, { organization_id, credits, source: 'staff', external_id });
  },
  exempt: async (world, { is_on }) => {
    await db.transaction((tx) =>
      (is_on ? insertExemption : updateExemptionEnd)(tx, world.organization_id),
    );
    world.is_exempt = is_on;
    if (is_on) world.is_over = false;
  },
  callback: async (world, { project, is_on }) => {
    world.has_callback[project] = is_on;
    await db.query(
      `update projects set callback_url = case when $2 then 'https://hook.example/' end,
         callback_secret_sealed = case when $2 then '\\x00'::bytea end where project_id = $1`,
      [world.project_ids[project], is_on],
    );
  },
};

function take<Kind extends Step['kind']>(
  world: World,
  step: Extract<Step, { kind: Kind }>,
): Promise<void> {
  return (takers[step.kind] as (world: World, step: Step) => Promise<void>)(world, step);
}

const sendLast = ({ organization_id, sequence, last }: World) =>
  insertUsageBatch(db, { spool_id: organization_id, sequence, entries: last });

/** Runs the job, which fails at its n-th step as if killed. Returns whether it reached that. */
async function run(job: Job, breaksAt = Number.POSITIVE_INFINITY, at = CHARGE): Promise<boolean> {
  runs += 1;
  let steps = 0;
  const failpoint = () => {
    steps += 1;
    if (steps === breaksAt) throw new Error('killed here');
  };
  const { signal } = new AbortController();
  try {
    await job.run({ ...jobs.deps, at, run: `r${runs}`, signal, failpoint });
    return false;
  } catch (error) {
    // A charge continues after a failure and throws it at its end, as the cause.
    const { cause = error } = error as Error;
    if (String(cause).includes('killed here')) return true;
    throw error;
  }
}

async function organizationOf({ organization_id }: World): Promise<OrganizationRow> {
  const organization = must(await findOrganization(db, organization_id));
  expect(organization.credit_balance).toBe(await countBalance(db, organization_id));
  return organization;
}

/** Expects a quota that fits the balance, and one event per change for each callback URL. */
async function expectSettled(world: World): Promise<void> {
  const { credit_balance, quota_exceeded_at } = await organizationOf(world);
  const isOver = credit_balance <= 0 && !world.is_exempt;
  expect(quota_exceeded_at !== null).toBe(isOver);
  if (isOver !== world.is_over) {
    for (const [project, events] of world.events.entries()) {
      if (world.has_callback[project]) events.push(isOver ? 'quota.exceeded' : 'quota.restored');
    }
  }
  world.is_over = isOver;
  const reported = await db.query<{ project_id: string; events: number; restored: number }>(
    `select project_id, count(*)::integer as events,
       count(*) filter (where event = 'quota.restored')::integer as restored
     from webhook_deliveries group by project_id`,
  );
  for (const [project, events] of world.events.entries()) {
    const row = reported.find(({ project_id }) => project_id === world.project_ids[project]);
    expect(row?.events ?? 0).toBe(events.length);
    expect(row?.restored ?? 0).toBe(events.filter((event) => event === 'quota.restored').length);
  }
}

async function expectCharges(world: World, of: History): Promise<void> {
  const rows = await db.query<{ project_id: string; day: string; charged_credits: number }>(
    'select project_id, day, charged_credits from usage_days',
  );
  const expected = chargesOf(world.seen, of);
  for (const [project, days] of expected.entries()) {
    const charged = DAYS.map(
      (day) =>
        rows.find((row) => row.project_id === world.project_ids[project] && row.day === day)
          ?.charged_credits ?? 0,
    );
    expect(charged).toEqual(days);
  }
  const total = expected.flat().reduce((sum, credits) => sum + credits, 0);
  expect((await organizationOf(world)).credit_balance).toBe(world.granted - total);
}

it(`${HISTORIES} random histories of usage, charges and exemptions match the ledger of an independent model`, {
  timeout: 60_000 + HISTORIES * 5_000,
}, async () => {
  const live = async (of: History) => {
    const world = await makeWorld(of);
    for (const step of of.steps) {
      await take(world, step);
      await organizationOf(world);
    }
    await take(world, { kind: 'rollup', times: 1, breaks: false });
    await take(world, { kind: 'charge', times: 1, day: 0, breaks_at: 0 });
    await expectCharges(world, of);
  };
  await fc.assert(fc.asyncProperty(history, live), { numRuns: HISTORIES });
});
