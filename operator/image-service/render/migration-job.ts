/**
 * The Job that migrates the database to the image's version. Its name is a digest of its input: a change of anything in
 * its pod (the image, the contents of Secrets and files, the cloud identity of its service account, any pod setting),
 * or a recreated database, makes a new Job. Migrating twice changes nothing.
 */
import type { Installation } from '../installation.ts';
import { digest, type RenderedObject, renderObject } from './object.ts';
import { podTemplate } from './pod.ts';

export function renderMigrationJob(of: Installation): RenderedObject {
  const template = podTemplate(of, 'migrate', ['migrate']);
  const suffix = `migrate-${of.schema_version}-${digest([template, of.database_id])}`;
  return renderObject(
    of,
    { apiVersion: 'batch/v1', kind: 'Job', suffix, component: 'migrate' },
    {
      spec: {
        backoffLimit: 3,
        activeDeadlineSeconds: 3600,
        template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } },
      },
    },
  );
}
