// Spec: Caching and response headers (the CDN cache is purged on re-upload, delete, block, project settings changes
// and watermark preset changes); Project (changes that purge); States and transitions, File.
import { beforeEach, describe, expect, it } from 'vitest';
import { blockFile, unblockFile } from '../../../runtime/actions/block-file.ts';
import { changeProject } from '../../../runtime/actions/change-project.ts';
import { changeProjectDomains } from '../../../runtime/actions/change-project-domains.ts';
import {
  deleteWatermarkPreset,
  putWatermarkPreset,
} from '../../../runtime/actions/change-watermark-preset.ts';
import { deleteFile } from '../../../runtime/actions/delete-file.ts';
import { publishFile } from '../../../runtime/actions/publish-file.ts';
import { type FileRow, updateFile } from '../../../runtime/db/files.ts';
import { lockProject, type ProjectChanges, type ProjectRow } from '../../../runtime/db/projects.ts';
import { claimPurges } from '../../../runtime/db/purges.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { useDatabase } from '../../support/database.ts';
import {
  id,
  makeFile,
  makeProcessing,
  makeProject,
  must,
  newRevision,
} from '../../support/rows.ts';

const { db } = useDatabase();
const actor = { actor_kind: 'system' } as const;
let project: ProjectRow;
let file: FileRow;

beforeEach(async () => {
  project = await makeProject(db);
  file = await makeFile(db, project, { file_slug: 'hero.png' });
  await db.query('delete from watermark_presets where watermark_preset_id = $1', [presetId]);
  await db.query('delete from project_domains');
});

const block = () =>
  db.transaction((tx) =>
    blockFile(tx, { file_id: file.file_id, blocked_by: 'staff', reason: 'x', actor }),
  );
const unblock = () => db.transaction((tx) => unblockFile(tx, { file_id: file.file_id, actor }));
const remove = () => deleteFile(db, { ...file, actor });
const upload = async (file_slug: string) => {
  const row = await makeProcessing(db, project, { file_slug });
  const facts = newRevision(row);
  const { upload_id, attempt } = row;
  const publication = { upload_id, attempt, facts, taken_at: null, location: null };
  return publishFile({ db, clock: systemClock }, publication);
};
const change = (changes: ProjectChanges) =>
  db.transaction(async (tx) =>
    changeProject(tx, must(await lockProject(tx, project.project_id)), changes),
  );
const setDomains = (...domains: string[]) =>
  db.transaction(async (tx) => {
    const locked = must(await lockProject(tx, project.project_id));
    await changeProjectDomains(tx, locked, domains);
  });
async function draw(): Promise<string> {
  const preset = id('wm');
  await db.query(
    `insert into watermark_presets (watermark_preset_id, project_id, name, file_id)
     values ($1, $2, 'logo', $3)`,
    [preset, project.project_id, file.file_id],
  );
  return preset;
}

const presetId = id('wm');
const putPreset = (opacity: number) => {
  const input = { name: 'logo', file_slug: 'hero.png', x_offset: 0, y_offset: 0, opacity };
  const { project_id } = project;
  return putWatermarkPreset(db, { project_id, watermark_preset_id: presetId, input, actor });
};
const withPreset = async () => {
  await putPreset(50);
  await db.query('delete from purges');
  await db.query('update projects set generation = $2 where project_id = $1', [
    project.project_id,
    project.generation,
  ]);
};

type Cause = {
  cause: string;
  before?: () => Promise<unknown>;
  happens: () => Promise<unknown>;
  /** What is purged, and the table whose row changes in the same transaction. */
  forgets: 'file' | 'project' | 'nothing';
  changes: 'files' | 'projects';
  reason?: string;
};

/** The project settings whose changes purge, as the specification lists them. */
const PURGING = [
  'delivery_access',
  'status',
  'resolution_presets',
  'allowed_transform_chains',
  'default_watermark_preset_id',
  'raw_download_enabled',
] as const;

const settings: ProjectChanges = {
  delivery_access: 'protected',
  status: 'suspended',
  resolution_presets: { thumb: 'resize/10x10' },
  allowed_transform_chains: ['resize/10x10'],
  default_watermark_preset_id: '',
  raw_download_enabled: true,
};

const causes: Cause[] = [
  {
    cause: 'a first upload',
    happens: () => upload('new.png'),
    forgets: 'nothing',
    changes: 'files',
  },
  {
    cause: 'a re-upload',
    happens: () => upload('hero.png'),
    forgets: 'file',
    changes: 'files',
    reason: 'file_reuploaded',
  },
  {
    cause: 'a re-upload of a watermark',
    before: draw,
    happens: () => upload('hero.png'),
    forgets: 'project',
    changes: 'files',
    reason: 'file_reuploaded',
  },
  {
    cause: 'a delete',
    happens: remove,
    forgets: 'file',
    changes: 'files',
    reason: 'file_deleted',
  },
  {
    cause: 'a delete of a watermark',
    before: draw,
    happens: remove,
    forgets: 'project',
    changes: 'files',
    reason: 'file_deleted',
  },
  {
    cause: 'a second delete',
    before: async () => {
      await remove();
      await db.query('delete from purges');
    },
    happens: remove,
    forgets: 'nothing',
    changes: 'files',
  },
  { cause: 'a block', happens: block, forgets: 'file', changes: 'files', reason: 'file_blocked' },
  {
    cause: 'a block of a watermark',
    before: draw,
    happens: block,
    forgets: 'project',
    changes: 'files',
    reason: 'file_blocked',
  },
  {
    cause: 'an unblock',
    before: async () => {
      await block();
      await db.query('delete from purges');
    },
    happens: unblock,
    forgets: 'file',
    changes: 'files',
    reason: 'file_unblocked',
  },
  {
    cause: 'a change of a title',
    happens: () => updateFile(db, { ...file, changes: { title: 'Hero' } }),
    forgets: 'nothing',
    changes: 'files',
  },
  {
    cause: 'a change of a name',
    happens: () => change({ name: 'Other' }),
    forgets: 'nothing',
    changes: 'projects',
  },
  {
    cause: 'a new watermark preset',
    happens: () => putPreset(50),
    forgets: 'project',
    changes: 'projects',
    reason: 'watermark_preset_changed',
  },
  {
    cause: 'a change of a watermark preset',
    before: withPreset,
    happens: () => putPreset(70),
    forgets: 'project',
    changes: 'projects',
    reason: 'watermark_preset_changed',
  },
  {
    cause: 'a deletion of a watermark preset',
    before: withPreset,
    happens: () => {
      const { project_id } = project;
      return deleteWatermarkPreset(db, { project_id, watermark_preset_id: presetId, actor });
    },
    forgets: 'project',
    changes: 'projects',
    reason: 'watermark_preset_deleted',
  },
  {
    cause: 'a new custom domain',
    happens: () => setDomains('new.hero.example'),
    forgets: 'nothing',
    changes: 'projects',
  },
  {
    cause: 'a custom domain that leaves: another project may have it next',
    before: () => setDomains('old.hero.example', 'img.hero.example'),
    happens: () => setDomains('img.hero.example', 'new.hero.example'),
    forgets: 'project',
    changes: 'projects',
    reason: 'custom_domains',
  },
  ...PURGING.map((field): Cause => {
    const suspended_by = field === 'status' ? { suspended_by: 'owner' as const } : {};
    return {
      cause: `a change of ${field}`,
      happens: async () => {
        const value = field === 'default_watermark_preset_id' ? await draw() : settings[field];
        return change({ [field]: value, ...suspended_by });
      },
      forgets: 'project',
      changes: 'projects',
      reason: field,
    };
  }),
];

describe('cache purges', () => {
  for (const { cause, before, happens, forgets, changes, reason } of causes) {
    it(`${cause}: purges ${forgets}, now and again later, in the same transaction`, async () => {
      await before?.();
      await happens();
      const { project_id, generation } = project;
      const { file_id, file_slug } = file;
      const rows = await db.query<Record<string, unknown>>(
        `select file_id, file_slug, reason, xmin::text as transaction,
           case when run_after <= created_at then 0
             when run_after between created_at + interval '45 s' and now() + interval '45.001 s' then 45
           end as delay
         from purges where project_id = $1 order by run_after`,
        [project_id],
      );
      const [changed] = await db.query<{ transaction: string; generation: number }>(
        `select ${changes}.xmin::text as transaction, projects.generation
         from projects join files using (project_id) where files.file_id = $1`,
        [file_id],
      );
      const named =
        forgets === 'file' ? { file_id, file_slug } : { file_id: null, file_slug: null };
      const row = { ...named, reason, transaction: changed?.transaction };
      const twice = [
        { ...row, delay: 0 },
        { ...row, delay: 45 },
      ];
      expect(rows).toEqual(forgets === 'nothing' ? [] : twice);
      expect(changed?.generation).toBe(forgets === 'project' ? generation + 1 : generation);
    });
  }

  it('a removed custom domain is named in both of its purges', async () => {
    await setDomains('old.hero.example', 'img.hero.example');
    await setDomains('img.hero.example');
    await setDomains('img.hero.example', 'new.hero.example');
    await db.query(`update purges set run_after = now() - interval '1 s'`);
    const claimed = await claimPurges(db, { limit: 100, lease_seconds: 60 });
    const own = claimed.filter(({ project_id }) => project_id === project.project_id);
    expect(own.map(({ custom_domains }) => custom_domains)).toEqual([
      ['img.hero.example', 'new.hero.example', 'old.hero.example'],
      ['img.hero.example', 'new.hero.example', 'old.hero.example'],
    ]);
  });

  it('a custom domain that was removed and added again is named once in each purge', async () => {
    await setDomains('old.hero.example');
    await setDomains();
    await setDomains('old.hero.example');
    await db.query(`update purges set run_after = now() - interval '1 s'`);
    const claimed = await claimPurges(db, { limit: 100, lease_seconds: 60 });
    const own = claimed.filter(({ project_id }) => project_id === project.project_id);
    expect(own.map(({ custom_domains }) => custom_domains)).toEqual([
      ['old.hero.example'],
      ['old.hero.example'],
    ]);
  });
});
