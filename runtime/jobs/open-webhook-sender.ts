/** Opens a sender of webhooks from a process's configuration. Spec: Events. */
import { callbackPost } from '../platform/callback-post.ts';
import type { Clock } from '../platform/clock.ts';
import type { ConfigWith } from '../platform/config.ts';
import { createSealing } from '../platform/sealing.ts';
import {
  createWebhookSender,
  type WebhookSender,
  type WebhookSenderDeps,
} from './webhook-sender.ts';

export function openWebhookSender(
  { clock, ...deps }: Omit<WebhookSenderDeps, 'sealing' | 'post'> & { clock: Clock },
  config: ConfigWith<'keyEncryptionKeys'>,
): WebhookSender {
  const { callbackEgress: egress, callbackPorts: ports } = config;
  const post = callbackPost({ egress, ports, clock });
  return createWebhookSender({ ...deps, post, sealing: createSealing(config.keyEncryptionKeys) });
}
