/**
 * What a standalone has to show from its first minute: an organization with credits, which owns what the folder of
 * YAML declares, and one API key for the sample project.
 */
import { newId } from '../core/ids.ts';
import { defaultPlans } from '../core/plans.ts';
import { hashApiKey, newApiKey } from '../core/signing/api-key.ts';
import { findApiKeyByHash, insertApiKey } from '../db/api-keys.ts';
import type { Database } from '../db/client.ts';
import { insertCreditGrant } from '../db/credit-grants.ts';
import { findOrganizationByNamespace, insertOrganization } from '../db/organizations.ts';
import { listProjects, type ProjectRow } from '../db/projects.ts';
import { insertUser } from '../db/users.ts';
import type { Clock } from '../platform/clock.ts';
import { type Secrets, saveSecrets } from './secrets.ts';

const NAMESPACE = 'default';
const PLAN = 'growth';

type Deps = { db: Database; clock: Clock };

/** Whose sessions manage what the folder declares: `tintype token` is theirs by default. */
export const OWNER_SUBJECT = 'demo';

/** The organization that owns everything on this machine, and its person; made at the first start. */
export async function ensureOrganization({ db, clock }: Deps): Promise<string> {
  const known = await findOrganizationByNamespace(db, NAMESPACE);
  if (known !== undefined) return known.organization_id;
  const now = clock.now().getTime();
  const organization_id = newId('org', now);
  await db.transaction(async (tx) => {
    await insertOrganization(tx, {
      organization_id,
      name: 'Demo',
      plan: PLAN,
      namespace: NAMESPACE,
    });
    await insertCreditGrant(tx, {
      organization_id,
      credits: defaultPlans[PLAN].credits,
      source: 'plan',
      external_id: organization_id,
    });
    await insertUser(tx, {
      user_id: newId('usr', now),
      subject: OWNER_SUBJECT,
      organization_id,
      email: null,
      first_name: null,
      last_name: null,
      name: 'Demo',
    });
  });
  return organization_id;
}

export const SAMPLE_PROJECT = 'demo';

/** The sample project where the folder declares it, else the oldest project; undefined where there is none. */
export async function findSampleProject(
  db: Database,
  organizationId: string,
): Promise<ProjectRow | undefined> {
  const { rows } = await listProjects(db, {
    organization_id: organizationId,
    limit: 100,
    after: null,
  });
  const active = rows.filter(({ status }) => status === 'active');
  return active.find(({ project_slug }) => project_slug === SAMPLE_PROJECT) ?? active.at(-1);
}

/** The key that was made before, as long as it still opens this project; else a new one, kept in the secrets file. */
export async function ensureApiKey(
  { db, clock }: Deps,
  { project, secrets, dataFolder }: { project: ProjectRow; secrets: Secrets; dataFolder: string },
): Promise<string> {
  const kept = secrets.api_key;
  const row = kept === null ? undefined : await findApiKeyByHash(db, hashApiKey(kept));
  if (kept !== null && row?.project_id === project.project_id) return kept;
  const { plaintext_secret, ...stored } = newApiKey();
  await db.transaction((tx) =>
    insertApiKey(tx, {
      ...stored,
      key_id: newId('key', clock.now().getTime()),
      project_id: project.project_id,
      name: 'tintype up',
      scopes: null,
    }),
  );
  await saveSecrets(dataFolder, { ...secrets, api_key: plaintext_secret });
  return plaintext_secret;
}
