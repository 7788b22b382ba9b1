/** Looks up the project that files are uploaded to; a refusal says what to do about it. */
import { Advice } from '../platform/advice.ts';
import { type Api, Refusal } from './api-client.ts';
import type { ServingProject } from './served-paths.ts';

type Wanted = {
  project: string;
  /** The caller; undefined: who owns the declared projects. */
  sub?: string;
};

export async function findProject(api: Api, wanted: Wanted): Promise<ServingProject> {
  return api.get<ServingProject>(`/v1/projects/${wanted.project}`).catch((error: unknown) => {
    throw error instanceof Refusal ? (aboutProject(error.code, wanted) ?? error) : error;
  });
}

/** The key of a suspended project is refused like an unknown one. */
function aboutProject(code: string, { project, sub }: Wanted): Advice | undefined {
  const advice: Record<string, string> = {
    not_found: `${sub ?? 'demo, who owns the declared projects,'} has no project ${project}: declare it in the folder of YAML, or name with --sub the person who created it with POST /v1/projects`,
    unauthorized: `the key of the project ${project} is not accepted: make the project active if it is suspended; if the key was revoked, restart Tintype to get a new one`,
  };
  return advice[code] === undefined ? undefined : new Advice(advice[code]);
}
