/**
 * The Job that brings the database to the version of the image. Its name says what it runs with: with whatever else in its
 * pod (the image, what Secrets and files hold, what a cloud gives its service account, any setting of pods), or on a
 * database that was made anew, it is another Job. Migrating twice changes nothing.
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
