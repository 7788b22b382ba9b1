import { describe, expect, it } from 'vitest';
import {
  type Condition,
  conditionsFor,
  outcomeOf,
  type Reason,
  reasons,
} from '../../operator/conditions.ts';
import { decideProject } from '../../operator/project/decide.ts';
import { decideRecipe } from '../../operator/recipe/decide.ts';
import type { Decision } from '../../operator/reconcile.ts';
import { decideSigningKey } from '../../operator/signing-key/decide.ts';
import { decideWatermarkPreset } from '../../operator/watermark-preset/decide.ts';
import * as sample from './samples.ts';

const { now, project, projectRow, projectRows } = sample;

/** A decision that leads to each reason. */
const cases: Record<Reason, Decision<unknown>> = {
  InSync: decideProject(project(), projectRows()),
  Suspended: decideProject(
    project({ state: 'Suspended' }),
    projectRows({ project: projectRow({ status: 'suspended', suspended_by: 'staff' }) }),
  ),
  Deleted: decideRecipe(sample.gone('Recipe'), sample.recipeRows()),
  Retained: decideProject(
    sample.gone('Project'),
    projectRows({ project: projectRow({ owner_deletion_policy: 'retain' }) }),
  ),
  ProjectNotFound: decideRecipe(sample.recipe(), sample.recipeRows({ project: undefined })),
  WatermarkPresetNotFound: decideProject(
    project({ defaultWatermarkPresetRef: { name: 'logo' } }),
    projectRows(),
  ),
  WarmPresetNotFound: decideProject(project({ warmPresets: ['nope'] }), projectRows()),
  CallbackNotPublic: decideProject(
    project({ callback: { url: 'https://10.1.2.3/h', secretName: 'hook' } }),
    projectRows(),
  ),
  CustomDomainAwaited: decideProject(
    project({ staff: { customDomains: ['img.shop.example'] } }),
    projectRows({ domains_awaited: [{ domain: 'img.shop.example', holder: 'other' }] }),
  ),
  FileNotFound: decideWatermarkPreset(
    sample.watermarkPreset(),
    sample.presetRows({ preset: undefined, file: undefined }),
  ),
  InUseAsDefault: decideWatermarkPreset(
    sample.gone('WatermarkPreset'),
    sample.presetRows({ preset: sample.presetRow({ is_default: true }) }),
  ),
  SuspendedByStaff: decideProject(
    project({ state: 'Active' }),
    projectRows({ project: projectRow({ status: 'suspended', suspended_by: 'staff' }) }),
  ),
  FileBlocked: decideWatermarkPreset(
    sample.watermarkPreset(),
    sample.presetRows({ preset: undefined, file: { file_id: 'file_1', status: 'blocked' } }),
  ),
  // Only in a cluster, without a decision: test/cluster/tenant-kinds.test.ts.
  SecretTaken: { changes: [], conditions: conditionsFor('SecretTaken', 'it is there') },
  // When the API server or the database refuses a write: test/cluster/refusals.test.ts.
  WriteRefused: { changes: [], conditions: conditionsFor('WriteRefused', 'no room') },
  TooManyKeys: decideSigningKey(
    sample.signingKey({ rotationTrigger: '2' }),
    sample.keyRows({ verifying: { count: 1000, seconds: 60 } }),
    now,
  ),
  LimitReached: decideRecipe(
    sample.recipe(),
    sample.recipeRows({ recipe: undefined, is_full: true }),
  ),
  // When presets bring their own images: test/cluster/declared-images.test.ts.
  ImageNotFound: { changes: [], conditions: conditionsFor('ImageNotFound', 'not there') },
  ImageUploading: { changes: [], conditions: conditionsFor('ImageUploading', 'on its way') },
  ImagesUnavailable: { changes: [], conditions: conditionsFor('ImagesUnavailable', 'none') },
  ImageDigestMismatch: { changes: [], conditions: conditionsFor('ImageDigestMismatch', 'other') },
  ImageRefused: { changes: [], conditions: conditionsFor('ImageRefused', 'no image') },
  FileTaken: { changes: [], conditions: conditionsFor('FileTaken', 'of others') },
  PlanOnly: { changes: [], conditions: conditionsFor('PlanOnly', 'changes are planned') },
  DatabaseUnavailable: { changes: [], conditions: conditionsFor('DatabaseUnavailable', 'away') },
  SchemaNotReady: { changes: [], conditions: conditionsFor('SchemaNotReady', 'no tables') },
  // Only in a cluster: test/cluster/own-troubles.test.ts.
  SettingsUnknown: { changes: [], conditions: conditionsFor('SettingsUnknown', 'no plans') },
  SpecInvalid: { changes: [], conditions: conditionsFor('SpecInvalid', 'no chain') },
  SlugInvalid: decideProject(project({}, 'shop.main'), projectRows({ project: undefined })),
  SlugReserved: decideProject(project({ slug: 'www' }), projectRows({ project: undefined })),
  SlugConflict: decideProject(project(), projectRows({ project: projectRow(sample.somebody) })),
  SlugImmutable: decideProject(project({ slug: 'other' }), projectRows()),
  NotOwned: decideProject(project(), projectRows({ project: projectRow(sample.nobody) })),
  OrganizationNotFound: decideProject(
    project({ staff: { organizationId: 'org_9' } }),
    projectRows({ project: undefined, organization_id: undefined }),
  ),
  OrganizationImmutable: decideProject(
    project({ staff: { organizationId: 'org_2' } }),
    projectRows({ organization_id: 'org_2' }),
  ),
  CustomDomainTaken: decideProject(
    project({ staff: { customDomains: ['img.shop.example'] } }),
    projectRows({ domains_taken: [{ domain: 'img.shop.example' }] }),
  ),
  CustomDomainInvalid: decideProject(
    project({ staff: { customDomains: ['shop.images.example'] } }),
    projectRows(),
  ),
  SigningKeyTaken: decideSigningKey(
    sample.signingKey(),
    sample.keyRows({ key: sample.keyRow(sample.somebody), owned: undefined }),
    now,
  ),
  NameConflict: decideRecipe(
    sample.recipe(),
    sample.recipeRows({
      recipe: undefined,
      naming: { holder: { id: 'rcp_2', name: 'shop', ...sample.somebody } },
    }),
  ),
  ProjectImmutable: decideRecipe(
    sample.recipe(),
    sample.recipeRows({ recipe: sample.recipeRow({ project_id: 'prj_2' }) }),
  ),
};

describe('condition reasons', () => {
  it.each(Object.entries(cases))(
    '%s comes with a message and the conditions of its outcome',
    (reason, decision) => {
      const ready = decision.conditions.find(({ type }) => type === 'Ready');
      expect(ready?.reason).toBe(reason);
      expect(ready?.message).not.toBe('');
      expect(decision.conditions).toEqual(conditionsFor(reason as Reason, ready?.message ?? ''));
    },
  );

  it.each(Object.entries(reasons).filter(([, { outcome }]) => outcome === 'refused'))(
    '%s refuses the resource, so nothing is written',
    (reason) => {
      expect(cases[reason as Reason].changes).toEqual([]);
    },
  );
});

describe('the conditions of an outcome', () => {
  const statuses = (conditions: Condition[]) =>
    Object.fromEntries(conditions.map(({ type, status }) => [type, status]));

  it.each([
    [
      'InSync',
      { Ready: 'True', Accepted: 'True', Synced: 'True', Reconciling: 'False', Stalled: 'False' },
    ],
    [
      'FileNotFound',
      { Ready: 'False', Accepted: 'True', Synced: 'False', Reconciling: 'True', Stalled: 'False' },
    ],
    [
      'SuspendedByStaff',
      { Ready: 'False', Accepted: 'True', Synced: 'False', Reconciling: 'False', Stalled: 'True' },
    ],
    [
      'SlugConflict',
      { Ready: 'False', Accepted: 'False', Synced: 'False', Reconciling: 'False', Stalled: 'True' },
    ],
  ] as const)('for %s are what tools that wait for Ready expect', (reason, expected) => {
    expect(statuses(conditionsFor(reason, 'why'))).toEqual(expected);
  });

  it.each(Object.entries(reasons))(
    'with the reason %s are read back as its outcome',
    (reason, row) => {
      expect(outcomeOf(conditionsFor(reason as Reason, 'why'))).toBe(row.outcome);
    },
  );
});
