/** The entry of `tintype/sdk`: everything for server code, and nothing that only a browser needs. */
// biome-ignore-all lint/performance/noBarrelFile: a package has one entry; no file of ours imports it.
export { expressHandler, nextHandlers } from './adapters.ts';
export { type ApiClient, type ApiClientOptions, createApiClient } from './api-client.ts';
export { ApiError } from './api-error.ts';
export type * from './api-types.ts';
export {
  type DeliveryUrls,
  deliveryUrls,
  type Transform,
  transformChain,
} from './delivery-urls.ts';
export type { MaxSize } from './max-size.ts';
export { type SignedUrls, type SignedUrlsOptions, signedUrls } from './signed-urls.ts';
export type { StandardSchema } from './standard-schema.ts';
export {
  createUploadHandler,
  type UploadHandler,
  type UploadHandlerOptions,
} from './upload-handler.ts';
export { UploadRefusal } from './upload-refusal.ts';
export { type Place, type UploadRoute, type UploadRouter, uploadRoute } from './upload-route.ts';
export type { WebhookData, WebhookEvent } from './webhook-events.ts';
export { type VerifiedWebhook, verifyWebhook } from './webhook-verifier.ts';
