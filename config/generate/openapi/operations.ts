/** The name and response of each endpoint. An endpoint that is missing here stops the generator. */

import type { Json } from './document.ts';
import { embedOperations } from './embed-operations.ts';
import { libraryOperations } from './library-operations.ts';
import type { RecordName } from './schemas.ts';
import { publicOperations, staffOperations } from './staff-operations.ts';
import type { Tag } from './tags.ts';

/** The body of a success: one record, a list in pages or in one piece, a picture, or none. */
type Answer =
  | { one: RecordName }
  | { page: RecordName }
  | { items: RecordName }
  | { picture: string }
  | { none: true };

export type Operation = Answer & {
  id: string;
  tag: Tag;
  title: string;
  /** Further statuses with the same body. */
  also?: readonly number[];
  /** What a page may hold besides its items. */
  beside?: Json;
};

const PROJECT = '/v1/projects/{slug}';

export const operations: Readonly<Record<string, Operation>> = {
  'GET /healthz': {
    id: 'getHealth',
    tag: 'Infrastructure',
    title: 'Check liveness',
    one: 'Health',
  },
  'GET /readyz': {
    id: 'getReadiness',
    tag: 'Infrastructure',
    title: 'Check readiness',
    one: 'Readiness',
    also: [503],
  },
  'POST /v1/internal/storage-events': {
    id: 'receiveStorageEvents',
    tag: 'Infrastructure',
    title: 'Report new objects',
    one: 'CountedEvents',
  },
  'POST /v1/billing/providerb/webhook': {
    id: 'receiveProviderBEvent',
    tag: 'Infrastructure',
    title: 'Receive an event of payment provider B',
    one: 'TakenEvent',
  },
  'POST /v1/billing/providera/webhook': {
    id: 'receiveProviderAEvent',
    tag: 'Infrastructure',
    title: 'Receive an event of payment provider A',
    one: 'TakenEvent',
  },
  'POST /v1/billing/cancel-subscription': {
    id: 'cancelSubscription',
    tag: 'Billing',
    title: 'Cancel the subscription',
    one: 'CancelledSubscription',
  },
  'GET /v1/me': {
    id: 'getMe',
    tag: 'Identity and organizations',
    title: 'Read the calling user',
    one: 'Me',
  },
  'GET /v1/organizations': {
    id: 'listOrganizations',
    tag: 'Identity and organizations',
    title: 'List the caller’s organization',
    page: 'Organization',
  },
  'POST /v1/organizations': {
    id: 'createOrganization',
    tag: 'Identity and organizations',
    title: 'Create an organization',
    one: 'Organization',
    also: [200],
  },
  'GET /v1/projects': {
    id: 'listProjects',
    tag: 'Projects',
    title: 'List projects',
    page: 'Project',
  },
  'POST /v1/projects': {
    id: 'createProject',
    tag: 'Projects',
    title: 'Create a project',
    one: 'Project',
  },
  [`GET ${PROJECT}`]: {
    id: 'getProject',
    tag: 'Projects',
    title: 'Read a project',
    one: 'Project',
  },
  [`PATCH ${PROJECT}`]: {
    id: 'updateProject',
    tag: 'Projects',
    title: 'Change a project',
    one: 'Project',
  },
  [`DELETE ${PROJECT}`]: {
    id: 'deleteProject',
    tag: 'Projects',
    title: 'Suspend a project',
    none: true,
  },
  'GET /v1/key': {
    id: 'getCallingKey',
    tag: 'API keys',
    title: 'Read the calling key',
    one: 'CallingKey',
  },
  [`GET ${PROJECT}/keys`]: {
    id: 'listApiKeys',
    tag: 'API keys',
    title: 'List keys',
    page: 'ApiKey',
  },
  [`POST ${PROJECT}/keys`]: {
    id: 'createApiKey',
    tag: 'API keys',
    title: 'Create a key',
    one: 'CreatedApiKey',
  },
  [`POST ${PROJECT}/keys/{keyId}/revoke`]: {
    id: 'revokeApiKey',
    tag: 'API keys',
    title: 'Revoke a key',
    one: 'ApiKey',
  },
  [`POST ${PROJECT}/keys/{keyId}/rotate`]: {
    id: 'rotateApiKey',
    tag: 'API keys',
    title: 'Replace a key',
    one: 'CreatedApiKey',
  },
  [`GET ${PROJECT}/webhook-deliveries`]: {
    id: 'listWebhookDeliveries',
    tag: 'Webhooks',
    title: 'List webhook deliveries',
    page: 'WebhookDelivery',
  },
  [`POST ${PROJECT}/webhook-deliveries/{id}/redeliver`]: {
    id: 'redeliverWebhook',
    tag: 'Webhooks',
    title: 'Send a delivery again',
    one: 'WebhookDelivery',
  },
  [`POST ${PROJECT}/webhook-test`]: {
    id: 'sendTestWebhook',
    tag: 'Webhooks',
    title: 'Send a test event to the callback URL',
    one: 'WebhookDelivery',
  },
  [`GET ${PROJECT}/signing-keys`]: {
    id: 'listSigningKeys',
    tag: 'Signing keys and signed URLs',
    title: 'List signing keys',
    page: 'SigningKey',
  },
  [`POST ${PROJECT}/signing-keys/rotate`]: {
    id: 'rotateSigningKey',
    tag: 'Signing keys and signed URLs',
    title: 'Rotate the signing key',
    one: 'SigningKey',
  },
  [`POST ${PROJECT}/signed-url`]: {
    id: 'signUrl',
    tag: 'Signing keys and signed URLs',
    title: 'Sign a delivery URL',
    one: 'SignedUrl',
  },
  [`GET ${PROJECT}/watermark-presets`]: {
    id: 'listWatermarkPresets',
    tag: 'Watermark presets',
    title: 'List presets',
    items: 'WatermarkPreset',
  },
  [`PUT ${PROJECT}/watermark-presets`]: {
    id: 'createWatermarkPreset',
    tag: 'Watermark presets',
    title: 'Create a preset',
    one: 'WatermarkPreset',
  },
  [`GET ${PROJECT}/watermark-presets/{id}`]: {
    id: 'getWatermarkPreset',
    tag: 'Watermark presets',
    title: 'Read a preset',
    one: 'WatermarkPreset',
  },
  [`PUT ${PROJECT}/watermark-presets/{id}`]: {
    id: 'putWatermarkPreset',
    tag: 'Watermark presets',
    title: 'Create or replace a preset',
    one: 'WatermarkPreset',
    also: [201],
  },
  [`DELETE ${PROJECT}/watermark-presets/{id}`]: {
    id: 'deleteWatermarkPreset',
    tag: 'Watermark presets',
    title: 'Delete a preset',
    none: true,
  },
  [`GET ${PROJECT}/recipes`]: {
    id: 'listRecipes',
    tag: 'Recipes',
    title: 'List recipes',
    page: 'Recipe',
  },
  [`PUT ${PROJECT}/recipes`]: {
    id: 'createRecipe',
    tag: 'Recipes',
    title: 'Create a recipe',
    one: 'Recipe',
  },
  [`GET ${PROJECT}/recipes/{id}`]: {
    id: 'getRecipe',
    tag: 'Recipes',
    title: 'Read a recipe',
    one: 'Recipe',
  },
  [`PUT ${PROJECT}/recipes/{id}`]: {
    id: 'putRecipe',
    tag: 'Recipes',
    title: 'Create or replace a recipe',
    one: 'Recipe',
    also: [201],
  },
  [`DELETE ${PROJECT}/recipes/{id}`]: {
    id: 'deleteRecipe',
    tag: 'Recipes',
    title: 'Delete a recipe',
    none: true,
  },
  [`GET ${PROJECT}/uploads`]: {
    id: 'listUploads',
    tag: 'Uploads',
    title: 'List upload sessions',
    page: 'Upload',
  },
  [`POST ${PROJECT}/uploads`]: {
    id: 'createUpload',
    tag: 'Uploads',
    title: 'Create an upload',
    one: 'Upload',
  },
  [`GET ${PROJECT}/uploads/{id}`]: {
    id: 'getUpload',
    tag: 'Uploads',
    title: 'Read an upload session',
    one: 'Upload',
  },
  [`POST ${PROJECT}/uploads/{id}/complete`]: {
    id: 'completeUpload',
    tag: 'Uploads',
    title: 'Complete an upload',
    one: 'Upload',
  },
  [`POST ${PROJECT}/uploads/{id}/parts`]: {
    id: 'signUploadParts',
    tag: 'Uploads',
    title: 'Renew the part URLs',
    one: 'UploadParts',
  },
  [`POST ${PROJECT}/uploads/{id}/abort`]: {
    id: 'abortUpload',
    tag: 'Uploads',
    title: 'Abort an upload',
    one: 'Upload',
  },
  [`GET ${PROJECT}/files`]: {
    id: 'listFiles',
    tag: 'Files',
    title: 'List files',
    page: 'File',
    beside: {
      filters: {
        type: 'object',
        description: 'Present when the files are filtered by uploader.',
        required: ['uploader'],
        properties: { uploader: { type: 'boolean', const: true } },
        additionalProperties: false,
      },
    },
  },
  [`GET ${PROJECT}/files/{fileSlug}`]: {
    id: 'getFile',
    tag: 'Files',
    title: 'Read a file',
    one: 'File',
  },
  [`PATCH ${PROJECT}/files/{fileSlug}`]: {
    id: 'updateFile',
    tag: 'Files',
    title: 'Change the details of a file',
    one: 'File',
  },
  [`DELETE ${PROJECT}/files/{fileSlug}`]: {
    id: 'deleteFile',
    tag: 'Files',
    title: 'Delete a file',
    none: true,
  },
  [`POST ${PROJECT}/files/{fileSlug}/moderation-notes`]: {
    id: 'putModerationNote',
    tag: 'Files',
    title: 'Leave a note for moderators',
    one: 'ModerationNote',
  },
  [`POST ${PROJECT}/files/move`]: {
    id: 'moveFiles',
    tag: 'Files',
    title: 'Move files to a folder or library',
    one: 'MovedFiles',
  },
  ...libraryOperations,
  ...embedOperations,
  [`GET ${PROJECT}/usage`]: {
    id: 'getUsage',
    tag: 'Usage',
    title: 'Read deliveries and charges',
    one: 'Usage',
  },
  ...publicOperations,
  ...staffOperations,
};
