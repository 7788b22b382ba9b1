/** A project with a library, API keys that mint library sessions, and callers with a session token. */
import { expect } from 'vitest';
import type { ProjectRecord } from '../../runtime/core/resources/project.ts';
import { type Answer, type Caller, createKey, createProject } from './api-client.ts';
import type { Api } from './api-server.ts';

export const ORIGIN = 'https://cms.example.com';
const SCOPES = ['library:sessions', 'files:read', 'files:write', 'urls:sign'];

export type LibraryProject = {
  project: ProjectRecord;
  /** The prefix of the project's paths in the API. */
  path: string;
  /** An API key with every scope that sessions require. */
  key: Caller;
  mint(input?: object): Promise<Answer>;
  /** Mints a session and returns a caller with its token. */
  open(input?: object): Promise<Caller>;
};

export const usualInput = {
  library: 'press',
  permissions: ['browse', 'upload'],
  origin: ORIGIN,
  subject: 'editor-42',
};

export async function libraryProject(
  api: Api,
  owner: Caller,
  settings: Record<string, unknown> = {},
): Promise<LibraryProject> {
  const project = await createProject(owner, settings);
  const path = `/v1/projects/${project.project_slug}`;
  const key = api.withKey(await createKey(owner, project.project_slug, SCOPES));
  const press = { slug: 'press', name: 'Press', allowed_origins: [ORIGIN] };
  expect((await key('POST', `${path}/libraries`, press)).status).toBe(201);
  const mint = (input: object = {}) =>
    key('POST', `${path}/library-sessions`, { ...usualInput, ...input });
  return {
    project,
    path,
    key,
    mint,
    open: async (input) => {
      const answer = await mint(input);
      expect(answer.status, answer.text).toBe(201);
      return withToken(api, answer.body.token);
    },
  };
}

export function withToken(api: Pick<Api, 'send'>, token: string): Caller {
  const headers = { authorization: `Bearer ${token}` };
  return (method, path, body) => api.send({ method, path, body, headers });
}
