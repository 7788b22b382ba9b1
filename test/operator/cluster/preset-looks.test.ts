// Spec: Watermark preset. The cost of a pass over a preset that brings its image when nothing has changed.
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { type ObjectContext, reconcileRows } from '../../../operator/cluster/reconcile-rows.ts';
import type { TenantObject } from '../../../operator/cluster/tenant-object.ts';
import { KubeFailure } from '../../../operator/kube/kube-failure.ts';
import { createKubeMetrics } from '../../../operator/kube/metrics.ts';
import { systemTimedClock } from '../../../operator/kube/timed-clock.ts';
import { updateFileBlocked } from '../../../runtime/db/files.ts';
import { useDatabase } from '../../support/database.ts';
import { sealing } from '../../support/delivery-host.ts';
import { noting } from '../../support/explaining.ts';
import { makeProcessing, makeProject, publish } from '../../support/rows.ts';

const { db } = useDatabase();

const nobody = () => {
  throw new KubeFailure({ reason: 'Unreachable', message: 'nobody is asked' });
};

it('a pass over an in-sync preset with an image reads its row only once, and reports a blocked file', async () => {
  const uid = randomUUID();
  const owner = { owner_uid: uid, owner_namespace: 'team', owner_name: 'shop' };
  const project = await makeProject(db, { ...owner, owner_deletion_policy: 'suspend' });
  const source_sha256 = 'a'.repeat(64);
  const upload = await makeProcessing(db, project, { file_slug: 'logo' });
  const { file_id } = await publish(db, upload, { source_sha256 });
  const metadata = { namespace: 'team', resourceVersion: '1' };
  const declared: TenantObject = { metadata: { ...metadata, name: 'shop', uid }, spec: {} };
  const preset: TenantObject = {
    metadata: { ...metadata, name: 'logo', uid: randomUUID() },
    spec: {
      projectRef: { name: 'shop' },
      ...{ image: { url: 'https://shop.example/logo.png', sha256: source_sha256 } as object },
    },
  };
  const pass = async () => {
    const noted = noting(db);
    const context = {
      ...{ db: noted.db, clock: systemTimedClock, sealing, metrics: createKubeMetrics() },
      client: { get: nobody } as unknown as ObjectContext['client'],
      delivery_root_domain: 'images.example',
      events: { record: () => undefined },
      findOrganization: async () => project.organization_id,
      findObject: (kind: string) => (kind === 'Project' ? declared : undefined),
      findObjectNow: async () => undefined,
      watches: () => true,
    };
    const { changes, conditions } = await reconcileRows('WatermarkPreset', preset, context);
    const looks = noted.statements.filter(({ text }) => text.includes('w.owner_uid = $1'));
    const ready = conditions.find(({ type }) => type === 'Ready');
    return { changes, reason: ready?.reason, looks: looks.length };
  };
  expect(await pass()).toMatchObject({ changes: ['create'], reason: 'InSync' });
  expect(await pass()).toEqual({ changes: [], reason: 'InSync', looks: 1 });
  await db.transaction((tx) =>
    updateFileBlocked(tx, { file_id, blocked_by: 'staff', reason: 'no' }),
  );
  expect(await pass()).toMatchObject({ changes: [], reason: 'FileBlocked' });
});
