/** Every implemented endpoint, in the specification's order. Spec: Endpoints. */
import type { Endpoint } from './endpoint.ts';
import {
  createApiKey,
  listProjectApiKeys,
  revokeProjectApiKey,
  rotateProjectApiKey,
} from './routes/api-keys.ts';
import {
  postCancelSubscription,
  receiveProviderAEvent,
  receiveProviderBEvent,
} from './routes/billing.ts';
import { getEmbedAsset, getEmbedPage } from './routes/embed.ts';
import {
  deleteProjectFile,
  getFile,
  moveProjectFiles,
  patchFile,
  postModerationNote,
} from './routes/files.ts';
import { getMe } from './routes/identity.ts';
import { healthz, readyz } from './routes/infrastructure.ts';
import {
  deleteProjectLibrary,
  getLibrary,
  listProjectLibraries,
  patchLibrary,
  postLibrary,
} from './routes/libraries.ts';
import {
  abortSessionUpload,
  completeSessionUpload,
  createSessionUpload,
  getSessionUpload,
  listSessionFiles,
} from './routes/library.ts';
import { postLibrarySession, revokeProjectLibrarySessions } from './routes/library-sessions.ts';
import { listProjectFiles } from './routes/list-files.ts';
import { createOrganization, listOwnOrganizations } from './routes/organizations.ts';
import { patchProject } from './routes/patch-project.ts';
import {
  createProject,
  deleteProject,
  getProject,
  introspectKey,
  listOwnProjects,
} from './routes/projects.ts';
import { getPublicStatus, postAccessRequest } from './routes/public.ts';
import {
  createRecipe,
  deleteProjectRecipe,
  getRecipe,
  listProjectRecipes,
  replaceRecipe,
} from './routes/recipes.ts';
import { mintSignedUrl } from './routes/signed-urls.ts';
import { listProjectSigningKeys, rotateProjectSigningKey } from './routes/signing-keys.ts';
import { listStaffAccessRequests } from './routes/staff/access-requests.ts';
import { listStaffAudit } from './routes/staff/audit.ts';
import { getStaffCheckImage } from './routes/staff/check-image.ts';
import { getStaffCheck, listStaffChecks, reviewStaffCheck } from './routes/staff/checks.ts';
import {
  blockStaffFile,
  listStaffModerationNotes,
  unblockStaffFile,
} from './routes/staff/files.ts';
import {
  createStaffIncident,
  listStaffIncidents,
  patchStaffIncident,
} from './routes/staff/incidents.ts';
import { getStaffOrganization, patchStaffOrganization } from './routes/staff/organizations.ts';
import {
  getStaffProject,
  listStaffFiles,
  listStaffProjects,
  listStaffUploads,
  patchStaffProject,
} from './routes/staff/projects.ts';
import { getStaffReconciliation } from './routes/staff/reconciliation.ts';
import { receiveStorageEvents } from './routes/storage-events.ts';
import {
  abortProjectUpload,
  completeProjectUpload,
  createProjectUpload,
  getProjectUpload,
  listProjectUploads,
  resignUploadParts,
} from './routes/uploads.ts';
import { getStaffUsage, getUsage } from './routes/usage.ts';
import {
  createWatermarkPreset,
  deleteProjectWatermarkPreset,
  getWatermarkPreset,
  listProjectWatermarkPresets,
  replaceWatermarkPreset,
} from './routes/watermark-presets.ts';
import {
  listProjectWebhookDeliveries,
  redeliverWebhook,
  sendTestWebhook,
} from './routes/webhook-deliveries.ts';

export const endpoints: readonly Endpoint[] = [
  healthz,
  readyz,
  receiveStorageEvents,
  receiveProviderBEvent,
  receiveProviderAEvent,
  getMe,
  listOwnOrganizations,
  createOrganization,
  listOwnProjects,
  createProject,
  getProject,
  patchProject,
  deleteProject,
  introspectKey,
  listProjectWebhookDeliveries,
  redeliverWebhook,
  sendTestWebhook,
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
  moveProjectFiles,
  listProjectLibraries,
  postLibrary,
  getLibrary,
  patchLibrary,
  deleteProjectLibrary,
  postLibrarySession,
  revokeProjectLibrarySessions,
  listSessionFiles,
  createSessionUpload,
  getSessionUpload,
  completeSessionUpload,
  abortSessionUpload,
  getEmbedPage,
  getEmbedAsset,
  getUsage,
  getStaffUsage,
  postCancelSubscription,
  postAccessRequest,
  getPublicStatus,
  listStaffAccessRequests,
  getStaffOrganization,
  patchStaffOrganization,
  listStaffProjects,
  getStaffProject,
  patchStaffProject,
  listStaffFiles,
  listStaffUploads,
  blockStaffFile,
  unblockStaffFile,
  listStaffModerationNotes,
  getStaffReconciliation,
  listStaffChecks,
  getStaffCheck,
  getStaffCheckImage,
  reviewStaffCheck,
  listStaffIncidents,
  createStaffIncident,
  patchStaffIncident,
  listStaffAudit,
];
