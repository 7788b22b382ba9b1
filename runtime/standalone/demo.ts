/**
 * What a standalone has from its first minute: an organization with credits, which owns the resources that the folder
 * of YAML declares, and one API key for the sample project.
 */
import { createApiKey } from '../actions/change-api-keys.ts';
import { ServiceError } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { defaultPlans } from '../core/plans.ts';
import { hashApiKey } from '../core/signing/api-key.ts';
import { findApiKeyByHash } from '../db/api-keys.ts';
import type { Database } from '../db/client.ts';
import { insertCreditGrant } from '../db/credit-grants.ts';
import { findOrganizationByNamespace, insertOrganization } from '../db/organizations.ts';
import { findProjectBySlug, listProjects, type ProjectRow } from '../db/projects.ts';
import { insertUser } from '../db/users.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { type Secrets, saveSecrets } from './secrets.ts';

const NAMESPACE = 'default';
const PLAN = 'growth';

type Deps = { db: Database; clock: Clock };

/**
 * The person whose sessions manage what the folder declares; `tintype token` uses it by default.
 */
export const OWNER_SUBJECT = 'demo';

/**
 * The id of the organization that owns everything on this machine; created with its person at the
 * first start.
 */
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

const SAMPLE_PROJECT = 'demo';

/**
 * The sample project if the folder declares it, else the oldest of the newest hundred; undefined
 * when none is active.
 */
export async function findSampleProject(
  db: Database,
  organizationId: string,
): Promise<ProjectRow | undefined> {
  const sample = await findProjectBySlug(db, SAMPLE_PROJECT);
  if (sample?.status === 'active' && sample.organization_id === organizationId) return sample;
  const { rows } = await listProjects(db, {
    organization_id: organizationId,
    limit: 100,
    after: null,
  });
  return rows.findLast(({ status }) => status === 'active');
}

type KeyStorage = { project: ProjectRow; secrets: Secrets; dataFolder: string };

/**
 * The key made for this project earlier, as long as it opens the project; else a new one, kept in
 * the secrets and their file. Undefined when the project already has its maximum of keys.
 */
export async function ensureApiKey(
  deps: Deps & { log: Log },
  { project: { project_id, project_slug }, secrets, dataFolder }: KeyStorage,
): Promise<string | undefined> {
  const kept = secrets.api_keys[project_id] ?? secrets.api_key;
  const row = kept === null ? undefined : await findApiKeyByHash(deps.db, hashApiKey(kept));
  if (kept !== null && row?.project_id === project_id) return kept;
  const actor = { actor_kind: 'system' } as const;
  const input = { project_id, actor, name: 'tintype up', scopes: null };
  try {
    const { plaintext_secret } = await createApiKey(deps, input);
    secrets.api_keys[project_id] = plaintext_secret;
    await saveSecrets(dataFolder, secrets);
    return plaintext_secret;
  } catch (error) {
    const isFull = error instanceof ServiceError && error.code === 'api_key_quota_exceeded';
    if (!isFull) throw error;
    deps.log.warn('the sample project gets no key: revoke one of its keys, and start again', {
      project_slug,
      error,
    });
    return undefined;
  }
}
