/**
 * Random histories of one slug with concurrent moves. After each round, the state must be one that the specification's
 * rules give for some order of the moves. `TINTYPE_SOAK_HISTORIES` raises the number of histories.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { blockFile, unblockFile } from '../../../runtime/actions/block-file.ts';
import { changeProjectByStaff } from '../../../runtime/actions/change-project-by-staff.ts';
import { deleteFile } from '../../../runtime/actions/delete-file.ts';
import { publishFile } from '../../../runtime/actions/publish-file.ts';
import { recordScanResult } from '../../../runtime/actions/record-scan-result.ts';
import { approveChecks, reviewCheck } from '../../../runtime/actions/review-check.ts';
import { ServiceError } from '../../../runtime/core/errors.ts';
import type { Transaction } from '../../../runtime/db/client.ts';
import { type ProjectRow, updateProject } from '../../../runtime/db/projects.ts';
import { type ClaimedCheck, claimChecks } from '../../../runtime/db/scan-claims.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { useDatabase } from '../../support/database.ts';
import { after, type Model, type Move, newModel } from '../../support/moderation-model.ts';
import { makeProcessing, makeProject, must, newRevision } from '../../support/rows.ts';

const { db } = useDatabase({ maxConnections: 8 });
const HISTORIES = Number(process.env['TINTYPE_SOAK_HISTORIES'] ?? 15);
const file_slug = 'hero.jpg';
const actor = { actor_kind: 'staff', actor_id: 'user_staff' } as const;

/** A step picks its file, check or claim by its position, counted from the newest. */
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('publish' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('block', 'unblock'), nth: fc.nat(2) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('review' as const),
      nth: fc.nat(3),
      decision: fc.constantFrom('approved', 'rejected'),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('answer' as const),
      nth: fc.nat(3),
      is_nude: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('switch' as const), auto_block: fc.boolean() }),
  },
);
const histories = fc.array(
  fc.record({ claims: fc.nat(3), at_once: fc.array(step, { minLength: 1, maxLength: 3 }) }),
  { minLength: 4, maxLength: 12 },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

type Ids = { files: string[]; checks: string[]; claims: ClaimedCheck[] };

it(
  'concurrent moderation actions leave a state that one sequential order of them would leave',
  async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        const project = await makeTold();
        let models = [newModel()];
        for (const { claims, at_once } of history) {
          for (let n = 0; n < claims; n += 1) models = await claim(project, models);
          const ids = await idsOf(project);
          const moves = at_once.flatMap((drawn) => moveOf(drawn, ids));
          const works = await Promise.all(moves.map((move) => prepare(project, ids, move)));
          await Promise.all(works.map((work) => work()));
          const seen = await see(project);
          const possible = models.flatMap((model) =>
            orders(moves).map((order) => order.reduce(after, model)),
          );
          models = unique(possible).filter(
            (model) => JSON.stringify(shown(model)) === JSON.stringify(seen),
          );
          if (models.length === 0) expect(seen).toEqual(possible.map(shown)[0]);
        }
      }),
      { numRuns: HISTORIES },
    );
  },
  HISTORIES * 4_000,
);

/** Creates a project with a callback URL, so that it receives block events. */
async function makeTold(): Promise<ProjectRow> {
  const { project_id } = await makeProject(db);
  const callback_url = 'https://shop.example/hook';
  const changes = { callback_url, callback_secret_sealed: Buffer.alloc(32) };
  return must(await updateProject(db, { project_id, changes }));
}

/** Claims the check that has waited longest. Earlier claims of the project lose their lease. */
async function claim(project: ProjectRow, models: Model[]): Promise<Model[]> {
  await db.query(
    `update scanner_checks set lease_until = now() + interval '1 hour' where project_id <> $1`,
    [project.project_id],
  );
  await db.query('update scanner_checks set lease_until = null where project_id = $1', [
    project.project_id,
  ]);
  const [claimed] = await claimChecks(db, { limit: 1, lease_seconds: 60 });
  if (claimed === undefined) return models;
  const { checks, claims } = await idsOf(project);
  claims.push(claimed);
  const at = checks.indexOf(claimed.check_id);
  return models.map((model) => {
    const next = structuredClone(model);
    must(next.checks[at]).claims += 1;
    return next;
  });
}

const claimsOf = new Map<string, ClaimedCheck[]>();

async function idsOf({ project_id }: ProjectRow): Promise<Ids> {
  const of = async (sql: string) =>
    (await db.query<{ id: string }>(sql, [project_id])).map(({ id }) => id);
  const claims = claimsOf.get(project_id) ?? [];
  claimsOf.set(project_id, claims);
  return {
    files: await of('select file_id as id from files where project_id = $1 order by position'),
    checks: await of(
      `select check_id as id from scanner_checks c join files f using (file_id)
       where f.project_id = $1 order by f.position, c.revision`,
    ),
    claims,
  };
}

function moveOf(drawn: Step, { files, checks, claims }: Ids): Move[] {
  const newest = (list: readonly unknown[], nth: number) => list.length - 1 - nth;
  switch (drawn.kind) {
    case 'publish':
    case 'delete':
    case 'switch':
      return [drawn];
    case 'block':
    case 'unblock': {
      const file = newest(files, drawn.nth);
      return file < 0 ? [] : [{ kind: drawn.kind, file }];
    }
    case 'review': {
      const check = newest(checks, drawn.nth);
      return check < 0 ? [] : [{ kind: 'review', check, decision: drawn.decision }];
    }
    case 'answer': {
      const claimed = claims.at(-1 - drawn.nth);
      if (claimed === undefined) return [];
      const check = checks.indexOf(claimed.check_id);
      return [{ kind: 'answer', check, claim: claimed.attempts, is_nude: drawn.is_nude }];
    }
  }
}

/** Prepares everything that is not part of the race, and returns the move itself. */
async function prepare(project: ProjectRow, ids: Ids, move: Move): Promise<() => Promise<unknown>> {
  const { project_id } = project;
  const now = new Date();
  const decided = { actor, now, note: null, reviewer: 'user_staff' };
  const inOne = (work: (tx: Transaction) => Promise<unknown>) => () => db.transaction(work);
  switch (move.kind) {
    case 'publish': {
      const upload = await makeProcessing(db, project, { file_slug });
      const { upload_id, attempt } = upload;
      const publication = {
        upload_id,
        attempt,
        facts: newRevision(upload),
        taken_at: null,
        location: null,
      };
      return () => publishFile({ db, clock: systemClock, is_scanned: true }, publication);
    }
    case 'delete':
      return () => deleteFile(db, { project_id, file_slug, actor });
    case 'block': {
      const block = {
        file_id: must(ids.files[move.file]),
        blocked_by: 'staff',
        reason: 'claim',
      } as const;
      return inOne((tx) => blockFile(tx, { ...block, actor }));
    }
    case 'unblock': {
      const file_id = must(ids.files[move.file]);
      return inOne(async (tx) => {
        const file = await unblockFile(tx, { file_id, actor });
        if (file !== undefined) await approveChecks(tx, { file_id, ...decided });
      });
    }
    case 'review': {
      const review = {
        check_id: must(ids.checks[move.check]),
        decision: move.decision,
        ...decided,
      };
      return () => db.transaction((tx) => reviewCheck(tx, review)).catch(unlessRefused);
    }
    case 'answer': {
      const found = ids.claims.find(
        ({ check_id, attempts }) => check_id === ids.checks[move.check] && attempts === move.claim,
      );
      const scores = { nudity: move.is_nude ? 1 : 0 };
      return inOne((tx) => recordScanResult(tx, { check: must(found), scores, thresholds: {} }));
    }
    case 'switch': {
      const input = { nudity_auto_block: move.auto_block };
      return inOne((tx) => changeProjectByStaff(tx, { project_id, input, actor }));
    }
  }
}

function unlessRefused(error: unknown): void {
  if (!(error instanceof ServiceError && error.code === 'check_not_flagged')) throw error;
}

type Shown = { auto_block: boolean; files: unknown[]; checks: unknown[]; webhooks: unknown };

function shown({ auto_block, files, checks, webhooks }: Model): Shown {
  return {
    auto_block,
    files: files.map(({ status, by, revision }) => ({ status, by, revision })),
    checks: checks.map(({ scan, review, claims }) => ({ scan, review, claims })),
    webhooks,
  };
}

async function see({ project_id }: ProjectRow): Promise<Shown> {
  const [first] = await db.query<{
    nudity_auto_block: boolean;
    blocked: number;
    unblocked: number;
  }>(
    `select nudity_auto_block,
       (select count(*)::int from webhook_deliveries w where w.project_id = p.project_id and event = 'file.blocked') as blocked,
       (select count(*)::int from webhook_deliveries w where w.project_id = p.project_id and event = 'file.unblocked') as unblocked
     from projects p where project_id = $1`,
    [project_id],
  );
  const { nudity_auto_block: auto_block, ...webhooks } = must(first);
  return {
    auto_block,
    files: await db.query(
      'select status, blocked_by as by, revision from files where project_id = $1 order by position',
      [project_id],
    ),
    checks: await db.query(
      `select case when c.status in ('queued', 'scanning') then 'waiting' else c.status end as scan,
         c.review, c.attempts as claims
       from scanner_checks c join files f using (file_id) where f.project_id = $1 order by f.position, c.revision`,
      [project_id],
    ),
    webhooks,
  };
}

function orders<T>(all: readonly T[]): T[][] {
  if (all.length === 0) return [[]];
  return all.flatMap((one, at) => orders(all.toSpliced(at, 1)).map((rest) => [one, ...rest]));
}

function unique(models: readonly Model[]): Model[] {
  return [...new Map(models.map((model) => [JSON.stringify(model), model])).values()];
}
