/** Every endpoint that is built, in the specification's order. Spec: Endpoints. */
import type { Endpoint } from './endpoint.ts';
import {
  createApiKey,
  listProjectApiKeys,
  revokeProjectApiKey,
  rotateProjectApiKey,
} from './routes/api-keys.ts';
import {
  deleteProjectFile,
  getFile,
  listProjectFiles,
  patchFile,
  postModerationNote,
} from './routes/files.ts';
import { getMe } from './routes/identity.ts';
import { healthz, readyz } from './routes/infrastructure.ts';
import { createOrganization, listOwnOrganizations } from './routes/organizations.ts';
import { patchProject } from './routes/patch-project.ts';
import {
  createProject,
  deleteProject,
  getProject,
  introspectKey,
  listOwnProjects,
} from './routes/projects.ts';
import {
  createRecipe,
  deleteProjectRecipe,
  getRecipe,
  listProjectRecipes,
  replaceRecipe,
} from './routes/recipes.ts';
import { mintSignedUrl } from './routes/signed-urls.ts';
import { listProjectSigningKeys, rotateProjectSigningKey } from './routes/signing-keys.ts';
import { receiveStorageEvents } from './routes/storage-events.ts';
import {
  abortProjectUpload,
  completeProjectUpload,
  createProjectUpload,
  getProjectUpload,
  listProjectUploads,
  resignUploadParts,
} from './routes/uploads.ts';
import { getUsage } from './routes/usage.ts';
import {
  createWatermarkPreset,
  deleteProjectWatermarkPreset,
  getWatermarkPreset,
  listProjectWatermarkPresets,
  replaceWatermarkPreset,
} from './routes/watermark-presets.ts';

export const endpoints: readonly Endpoint[] = [
  healthz,
  readyz,
  receiveStorageEvents,
  getMe,
  listOwnOrganizations,
  createOrganization,
  listOwnProjects,
  createProject,
  getProject,
  patchProject,
  deleteProject,
  introspectKey,
  listProjectApiKeys,
  createApiKey,
  revokeProjectApiKey,
  rotateProjectApiKey,
  listProjectSigningKeys,
  rotateProjectSigningKey,
  mintSignedUrl,
  listProjectWatermarkPresets,
  createWatermarkPreset,
  getWatermarkPreset,
  replaceWatermarkPreset,
  deleteProjectWatermarkPreset,
  listProjectRecipes,
  createRecipe,
  getRecipe,
  replaceRecipe,
  deleteProjectRecipe,
  listProjectUploads,
  createProjectUpload,
  getProjectUpload,
  completeProjectUpload,
  resignUploadParts,
  abortProjectUpload,
  listProjectFiles,
  getFile,
  patchFile,
  deleteProjectFile,
  postModerationNote,
  getUsage,
];
