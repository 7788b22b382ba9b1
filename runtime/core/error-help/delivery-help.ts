/** Help with the refusals of a delivery host. Spec: Delivery host; Delivery refusals in checking order. */
import type { deliveryErrors } from '../errors.ts';
import { FAILED_RENDER_REMEMBERED_SECONDS } from '../limits.ts';
import type { HelpTable } from './help-table.ts';

export const deliveryHelp: HelpTable<typeof deliveryErrors> = {
  quota_exceeded: {
    cause:
      'The organization that owns the project has used up its credits, so that nothing of it is delivered.',
    steps: [
      'Add credits or raise the plan: delivery resumes within half a minute.',
      '`GET /v1/projects/{slug}/usage` shows what the credits went for.',
    ],
  },
  file_blocked: {
    cause:
      'Staff or the automatic scanner blocked the file. It is refused at every URL, the original included.',
    steps: [
      'As its owner: leave a moderation note on the file, and ask for a review.',
      'As a visitor: tell the site that shows the picture.',
    ],
  },
  invalid_signature: {
    cause:
      'The URL carries `exp`, `kid` and `sig`, and they do not fit the rest of it: something was changed after it was signed.',
    steps: [
      'Use the signed URL exactly as it was minted. A signature is for one chain and one file.',
      'In HTML, write `&` as `&amp;`; do not decode and encode the URL again on its way.',
    ],
  },
  signature_expired: {
    cause: 'The signed URL was valid until its `exp`, and that time has passed.',
    steps: [
      'Mint a new URL, at most an hour ahead (`expires_in_seconds`).',
      'If new URLs expire too soon, see how long they were minted for: times go by the clock of Tintype’s database.',
    ],
  },
  unknown_kid: {
    cause:
      'The signing key that the URL names is not one of this project, or was rotated more than 24 hours ago.',
    steps: ['Mint a new URL: it is signed with the active key.'],
  },
  signature_required: {
    cause: 'The project is protected, so that every URL must be signed, and this one is not.',
    steps: [
      'On your server: `POST /v1/projects/{slug}/signed-url`, and put the answered `url` into the page.',
      'Or set `delivery_access` of the project to `public`.',
    ],
  },
  transform_chain_not_allowed: {
    cause:
      'The project has a list of `allowed_transform_chains`, and the chain of this unsigned URL is not on it. Originals are always allowed.',
    steps: [
      'Use a chain of the list, or a signed URL on a protected project.',
      'As its owner: add the chain to `allowed_transform_chains`.',
    ],
  },
  project_suspended: {
    cause: 'The project that the host belongs to is suspended, by its owner or by staff.',
    steps: [
      'As its owner: `PATCH /v1/projects/{slug}` with `{"status": "active"}`.',
      'If staff suspended it, contact support.',
    ],
  },
  not_found: {
    cause:
      'The host, path, chain or file is not one that can be served: an unknown host, a chain that does not follow the grammar, an unknown preset, a parameter that does not belong to a signature or stands in another order than exp, kid, sig, a file that is missing or deleted, a raw download that is off, or a size above what a source may be enlarged to.',
    steps: [
      'Try `https://{host}/originals/f/{file_slug}`. If that works, the chain is at fault: each operation once, lower-case, between slashes, then `/f/`.',
      'Otherwise compare host and slug with `url` of the file; a file that was just published can take half a minute.',
      'Take off every query parameter of an unsigned URL, also those that trackers add.',
      'A resize may enlarge to 16 times the area of the source at most.',
    ],
  },
  raw_unavailable: {
    cause:
      'A raw download puts the saved metadata back into the picture, and this format cannot carry it.',
    steps: ['Use `/originals/f/{file_slug}`, which has no metadata.'],
  },
  busy: {
    cause:
      'More renders are asked for than the machines can do, and this one did not find a place in the queue; or the database, the storage or the broker does not answer. What was rendered before is still served.',
    steps: [
      'Ask again after as many seconds as `Retry-After` says; browsers and CDNs do by themselves at the next view.',
      'Operators: `tintype doctor` tells the two apart. Where rendering is saturated, put a CDN in front and add workers; where something is away, the runbook has a page for it.',
    ],
  },
  render_timeout: {
    cause:
      'The render was begun or waited for, and was not done in the time that a viewer waits. AVIF and very large sources take longest.',
    steps: [
      'Ask again: the render may be finished by now.',
      'Ask for a smaller size, or for webp instead of avif.',
    ],
  },
  invalid_request: {
    cause:
      'What arrived is not a proper HTTP request: no Host header or several, a target that is no path, or bodies whose length can be read in two ways.',
    steps: [
      'Send GET or HEAD with one Host header, a path and no body.',
      'If your client is an ordinary browser, look at the proxy between.',
    ],
  },
  range_not_satisfiable: {
    cause: 'The `Range` header asks for bytes behind the end of the image.',
    steps: [
      'Read the size of the image from `Content-Range`, and ask for bytes within it.',
      'Or leave `Range` out and take the whole image.',
    ],
  },
  internal: {
    cause:
      'The image could not be rendered or read for a reason that is ours. The cause is in our log under the `x-request-id` of the answer.',
    steps: [
      `Ask again after ${FAILED_RENDER_REMEMBERED_SECONDS} seconds: what failed is not tried again before.`,
      'If it stays, report the URL and the `x-request-id`.',
    ],
  },
};
