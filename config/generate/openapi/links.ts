/** Where a response leads: the operations that take the id which another operation created. */
import type { Json } from './document.ts';

type Link = { to: string; parameters: Readonly<Record<string, string>> };

const project = { slug: '$response.body#/project_slug' };
const inProject = { slug: '$request.path.slug' };
const made = (id: string, body = 'id') => ({ ...inProject, [id]: `$response.body#/${body}` });

const LINKS: Readonly<Record<string, readonly Link[]>> = {
  createProject: [
    'getProject',
    'updateProject',
    'createApiKey',
    'createUpload',
    'createRecipe',
  ].map((to) => ({ to, parameters: project })),
  createApiKey: ['rotateApiKey', 'revokeApiKey'].map((to) => ({ to, parameters: made('keyId') })),
  createRecipe: ['getRecipe', 'putRecipe', 'deleteRecipe'].map((to) => ({
    to,
    parameters: made('id'),
  })),
  createWatermarkPreset: ['getWatermarkPreset', 'putWatermarkPreset', 'deleteWatermarkPreset'].map(
    (to) => ({ to, parameters: made('id') }),
  ),
  createUpload: ['getUpload', 'completeUpload', 'signUploadParts', 'abortUpload'].map((to) => ({
    to,
    parameters: made('id', 'upload_id'),
  })),
};

export function linksFrom(operationId: string): Json {
  const links = LINKS[operationId];
  if (links === undefined) return {};
  const found = links.map(({ to, parameters }) => [to, { operationId: to, parameters }]);
  return { links: Object.fromEntries(found) };
}
