/** Help with the refusals of a delivery host. Spec: Delivery host; Delivery refusals in checking order. */
import type { deliveryErrors } from '../errors.ts';
import { FAILED_RENDER_REMEMBERED_SECONDS } from '../limits.ts';
import type { HelpTable } from './help-table.ts';

export const deliveryHelp: HelpTable<typeof deliveryErrors> = {
  quota_exceeded: {
    cause:
      'The organization that owns the project has used up its credits, so nothing is delivered for it.',
    steps: [
      'Add credits or upgrade the plan: delivery resumes within half a minute.',
      '`GET /v1/projects/{slug}/usage` shows what the credits were used for.',
    ],
  },
  file_blocked: {
    cause:
      'Staff or the automatic scanner blocked the file. It is refused at every URL, including the original.',
    steps: [
      'If you own it: leave a moderation note on the file, and ask for a review.',
      'If you are a visitor: tell the site that shows the picture.',
    ],
  },
  invalid_signature: {
    cause:
      'The URL carries `exp`, `kid` and `sig`, but they do not match the rest of the URL: it was changed after it was signed.',
    steps: [
      'Use the signed URL exactly as it was minted. A signature is valid for one chain and one file.',
      'In HTML, write `&` as `&amp;`. Do not decode and encode the URL again on its way.',
    ],
  },
  signature_expired: {
    cause: 'The signed URL was valid until its `exp`, and that time has passed.',
    steps: [
      'Mint a new URL, valid for at most an hour (`expires_in_seconds`).',
      'If new URLs expire too soon, check how long they were minted for: times follow the clock of Tintype’s database.',
    ],
  },
  unknown_kid: {
    cause:
      'The signing key that the URL names does not belong to this project, or was rotated more than 24 hours ago.',
    steps: ['Mint a new URL: it is signed with the active key.'],
  },
  signature_required: {
    cause: 'The project is protected, so every URL must be signed, and this one is not.',
    steps: [
      'On your server: `POST /v1/projects/{slug}/signed-url`, and put the returned `url` into the page.',
      'Or set `delivery_access` of the project to `public`.',
    ],
  },
  transform_chain_not_allowed: {
    cause:
      'The project has a list of `allowed_transform_chains`, and the chain of this unsigned URL is not on it. Originals are always allowed.',
    steps: [
      'Use a chain of the list, or a signed URL on a protected project.',
      'If you own the project: add the chain to `allowed_transform_chains`.',
    ],
  },
  project_suspended: {
    cause: 'The project that the host belongs to is suspended, by its owner or by staff.',
    steps: [
      'If you own the project: `PATCH /v1/projects/{slug}` with `{"status": "active"}`.',
      'If staff suspended it, contact support.',
    ],
  },
  not_found: {
    cause:
      'The host, path, chain or file cannot be served: an unknown host, a chain that does not follow the grammar, an unknown preset, a query parameter that is not part of a signature or is not in the order exp, kid, sig, a file that is missing or deleted, a raw download that is disabled, or a size above what the source may be enlarged to.',
    steps: [
      'Try `https://{host}/originals/f/{file_slug}`. If that works, the chain is wrong: write each operation once, in lower case, between slashes, followed by `/f/`.',
      'Otherwise compare the host and slug with `url` of the file. A file that was just published can take half a minute to appear.',
      'Remove every query parameter from an unsigned URL, including those that trackers add.',
      'A resize may enlarge the image to at most 16 times the area of the source.',
    ],
  },
  raw_unavailable: {
    cause:
      'A raw download puts the saved metadata back into the picture, but this format cannot carry metadata.',
    steps: ['Use `/originals/f/{file_slug}`, which has no metadata.'],
  },
  busy: {
    cause:
      'There are more render requests than the machines can handle, and the queue had no room for this one; or the database, the storage or the broker does not respond, or the key that decrypts signing keys is not configured or is another one. Images that were rendered before are still served.',
    steps: [
      'Try again after the number of seconds in `Retry-After`; browsers and CDNs do so by themselves at the next view.',
      'If you run the installation: `tintype doctor` tells the cases apart. If rendering is saturated, put a CDN in front and add workers; if a service is away, follow its page in the runbook.',
    ],
  },
  render_timeout: {
    cause:
      'The render was queued or running, but did not finish in the time that a viewer waits. AVIF and very large sources take longest.',
    steps: [
      'Try again: the render may be finished by now.',
      'Request a smaller size, or webp instead of avif.',
    ],
  },
  invalid_request: {
    cause:
      'The request is not valid HTTP: it has no Host header or several, a target that is not a path, or a body whose length is ambiguous. Answers 431 and 408 have the same code: the head is larger than 16 KiB, or did not arrive within 10 seconds.',
    steps: [
      'Send GET or HEAD with one Host header, a path and no body.',
      'If your client is an ordinary browser, check the proxies between it and the service.',
    ],
  },
  range_not_satisfiable: {
    cause: 'The `Range` header asks for bytes beyond the end of the image.',
    steps: [
      'Read the size of the image from `Content-Range`, and request bytes within it.',
      'Or leave `Range` out and get the whole image.',
    ],
  },
  internal: {
    cause:
      'The image could not be rendered or read because of a fault on our side. Our log has the cause under the `x-request-id` of the response.',
    steps: [
      `Try again after ${FAILED_RENDER_REMEMBERED_SECONDS} seconds: a failed render is not repeated before then.`,
      'If the error persists, report the URL and the `x-request-id`.',
    ],
  },
};
