/**
 * Follows the current sample project: reported at the end of the start, and again when the folder declares another one.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Database } from '../db/client.ts';
import type { Clock } from '../platform/clock.ts';
import type { Instance } from '../platform/instance.ts';
import type { Log } from '../platform/log.ts';
import { ensureApiKey, findSampleProject } from './demo.ts';
import type { Secrets } from './secrets.ts';

/** Empty slug when no project is active; empty key when the project has its maximum of keys. */
export type SampleProject = Pick<Instance, 'project_slug' | 'api_key'>;

type Deps = { db: Database; clock: Clock; log: Log };
type Following = {
  organization_id: string;
  secrets: Secrets;
  dataFolder: string;
  report(sample: SampleProject): Promise<void>;
};

/**
 * Returns a function that looks up the sample and reports it if it differs from the last report.
 * Calls run one at a time.
 */
export function watchSampleProject(deps: Deps, following: Following): () => Promise<void> {
  let reported: SampleProject | undefined;
  let last: Promise<void> = Promise.resolve();
  const look = async () => {
    const sample = await openSample(deps, following, reported);
    if (isDeepStrictEqual(sample, reported)) return;
    await following.report(sample);
    reported = sample;
  };
  return () => {
    last = last.catch(() => undefined).then(look);
    return last;
  };
}

async function openSample(
  deps: Deps,
  { organization_id, secrets, dataFolder }: Following,
  reported: SampleProject | undefined,
): Promise<SampleProject> {
  const project = await findSampleProject(deps.db, organization_id);
  if (project === undefined) return { project_slug: '', api_key: '' };
  const { project_slug } = project;
  // It was already reported that this project gets no key.
  if (reported?.project_slug === project_slug && reported.api_key === '') return reported;
  const api_key = await ensureApiKey(deps, { project, secrets, dataFolder });
  return { project_slug, api_key: api_key ?? '' };
}
