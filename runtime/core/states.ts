/**
 * Every state table as data: who moves what from which state to which, on which condition, and the side effects. SQL
 * guards (`where status = any(…)`) are derived from these rows, so that an illegal move fails in one place. Spec:
 * States and transitions. Our own rows follow each table of the specification.
 */

/** One row. `from` is empty when the thing does not exist yet. */
export type Move<State extends string> = {
  /** The short name by which code refers to the row. */
  readonly move: string;
  readonly from: readonly State[];
  readonly moved_by: string;
  readonly condition: string;
  readonly to: State;
  readonly also_happens: string;
};

export const uploadStatuses = [
  'created',
  'uploaded',
  'processing',
  'ready',
  'failed',
  'expired',
] as const;

export type UploadStatus = (typeof uploadStatuses)[number];

/** Spec: Upload session (status). */
export const uploadMoves = [
  {
    move: 'create',
    from: [],
    moved_by: 'create session',
    condition: 'project active, under storage limit, size and type valid',
    to: 'created',
    also_happens: 'session lives 15 min (single part) or 12 h (multipart)',
  },
  {
    move: 'complete',
    from: ['created'],
    moved_by:
      'bytes arrive and completion: the complete call, the proxy PUT (which completes itself), or the background job that notices the object within a few minutes',
    condition: 'stored object has size_bytes; sha256 matches when declared',
    to: 'uploaded',
    also_happens:
      'complete is idempotent; complete on a missing object answers 409 ingest_object_missing; wrong size 409 ingest_size_mismatch',
  },
  {
    move: 'expire',
    from: ['created'],
    moved_by: 'time',
    condition: 'no bytes before expires_at',
    to: 'expired',
    also_happens: 'error_code session_expired',
  },
  {
    move: 'start',
    from: ['uploaded'],
    moved_by: 'processing starts',
    condition: 'file queued',
    to: 'processing',
    also_happens: '',
  },
  {
    move: 'publish',
    from: ['processing'],
    moved_by: 'success',
    condition: 'image accepted',
    to: 'ready',
    also_happens:
      'file published under file_slug; revision increases on an existing slug; ready_at set; upload.ready event if the project has a callback URL',
  },
  {
    move: 'refuse',
    from: ['processing'],
    moved_by: 'refusal',
    condition: 'see processing error codes',
    to: 'failed',
    also_happens: 'error_code set',
  },
] as const satisfies readonly Move<UploadStatus>[];

/** Ours: moves of an upload that the specification leaves open. */
export const additionalUploadMoves = [
  {
    move: 'abort',
    from: ['created'],
    moved_by: 'the abort call',
    condition: 'bytes not accepted yet',
    to: 'expired',
    also_happens: 'error_code session_expired; reservation returned; parts and object deleted',
  },
  {
    move: 'expire_wrong_size',
    from: ['created'],
    moved_by: 'time',
    condition: 'at expires_at the stored object is not size_bytes long',
    to: 'failed',
    also_happens: 'error_code ingest_size_mismatch',
  },
  {
    move: 'refuse_joined',
    from: ['created'],
    moved_by: 'completion of parts whose sha256 is not the declared one',
    condition: 'multipart; the parts are joined',
    to: 'failed',
    also_happens: 'error_code sha256_mismatch; reservation returned; object deleted',
  },
  {
    move: 'retry',
    from: ['processing'],
    moved_by: 'the lease of an attempt ended without a result',
    condition: 'attempts left',
    to: 'processing',
    also_happens: 'the attempt number increases and fences the older attempt',
  },
  {
    move: 'complete_told',
    from: ['created'],
    moved_by: 'a storage event that names the object; a WatermarkPreset that uploads its image',
    condition: 'as for the complete call',
    to: 'uploaded',
    also_happens: '',
  },
  {
    move: 'expire_suspended',
    from: ['created'],
    moved_by: 'time, while the project is suspended',
    condition: 'bytes that came before expires_at were not accepted',
    to: 'expired',
    also_happens: 'error_code session_expired; object deleted',
  },
] as const satisfies readonly Move<UploadStatus>[];

export const fileStatuses = ['ready', 'blocked', 'deleted'] as const;

export type FileStatus = (typeof fileStatuses)[number];

/** Spec: File (status). */
export const fileMoves = [
  {
    move: 'block',
    from: ['ready'],
    moved_by: 'staff block, or the automatic scanner',
    condition: '',
    to: 'blocked',
    also_happens:
      'cache purge; file.blocked event (reason); watermark presets using the file removed; delivery answers 403 file_blocked on every path',
  },
  {
    move: 'unblock',
    from: ['blocked'],
    moved_by: 'staff unblock; staff review decision approved for a scanner block',
    condition: '',
    to: 'ready',
    also_happens: "cache purge; file.unblocked event; the file's checks approved",
  },
  {
    move: 'reupload_ready',
    from: ['ready'],
    moved_by: 'same-slug re-upload reaching ready',
    condition: '',
    to: 'ready',
    also_happens: 'revision increases; upload.ready event',
  },
  {
    move: 'reupload_blocked',
    from: ['blocked'],
    moved_by: 'same-slug re-upload',
    condition: '',
    to: 'blocked',
    also_happens: 'a blocked slug stays blocked',
  },
  {
    move: 'delete',
    from: ['ready', 'blocked'],
    moved_by: 'DELETE file',
    condition: '',
    to: 'deleted',
    also_happens: 'purge; repeat deletes answer 204; a deleted file is 404 file_not_found',
  },
] as const satisfies readonly Move<FileStatus>[];

/** Ours: how a file is created, and what the specification says about blocks outside its table. */
export const additionalFileMoves = [
  {
    move: 'publish',
    from: [],
    moved_by: 'upload reaching ready',
    condition: 'no live file has the slug, and no block of a deleted file is in force',
    to: 'ready',
    also_happens: 'new file id, revision 1; upload.ready event',
  },
  {
    move: 'publish_blocked',
    from: [],
    moved_by: 'upload reaching ready',
    condition: 'the file of the slug was deleted while blocked, and its block has not ended since',
    to: 'blocked',
    also_happens: 'new file id, revision 1; upload.ready event',
  },
  {
    move: 'block_rejected',
    from: ['ready'],
    moved_by: 'staff review decision rejected',
    condition: "the check is of the file's revision",
    to: 'blocked',
    also_happens: 'as for a staff block, which it counts as',
  },
  {
    move: 'unblock_switched_off',
    from: ['blocked'],
    moved_by: 'staff switch nudity_auto_block off',
    condition: 'a scanner block that no review rejected',
    to: 'ready',
    also_happens: 'cache purge; file.unblocked event; its check still waits for a review',
  },
  {
    move: 'unblock_found_clear',
    from: ['blocked'],
    moved_by: 'scan that finds the newest picture clear',
    condition: 'a scanner block; everything flagged since the block is approved',
    to: 'ready',
    also_happens: 'cache purge; file.unblocked event',
  },
] as const satisfies readonly Move<FileStatus>[];

export const projectStatuses = ['active', 'suspended'] as const;

export type ProjectStatus = (typeof projectStatuses)[number];

/** Spec: Project (status). */
export const projectMoves = [
  {
    move: 'suspend_by_owner',
    from: ['active'],
    moved_by: 'owner PATCH status suspended, or DELETE project',
    condition: '',
    to: 'suspended',
    also_happens:
      "suspended_by owner; delivery 403 project_suspended; uploads refused; the project's API keys stop authenticating; no hard delete exists; repeated DELETE answers 204",
  },
  {
    move: 'suspend_by_staff',
    from: ['active'],
    moved_by: 'staff PATCH status suspended',
    condition: '',
    to: 'suspended',
    also_happens: 'suspended_by staff',
  },
  {
    move: 'activate',
    from: ['suspended'],
    moved_by: 'PATCH status active',
    condition: 'suspended_by staff requires staff, otherwise 403 project_suspended_by_staff',
    to: 'active',
    also_happens: '',
  },
] as const satisfies readonly Move<ProjectStatus>[];

/** Ours: creation, staff taking over an owner's suspension, and resources. */
export const additionalProjectMoves = [
  {
    move: 'create',
    from: [],
    moved_by: 'create project',
    condition: 'slug free and not reserved',
    to: 'active',
    also_happens: 'first signing key created',
  },
  {
    move: 'take_over_suspension',
    from: ['suspended'],
    moved_by: 'staff PATCH status suspended',
    condition: 'suspended_by owner',
    to: 'suspended',
    also_happens: 'suspended_by staff',
  },
  {
    move: 'create_by_resource',
    from: [],
    moved_by: 'new Project resource that is suspended',
    condition: 'slug free and not reserved; state Suspended',
    to: 'suspended',
    also_happens: 'first signing key created; suspended_by owner',
  },
  {
    move: 'suspend_by_resource',
    from: ['active'],
    moved_by: 'Project resource that is suspended or deleted',
    condition: 'state Suspended; for a deleted resource, deletionPolicy Suspend',
    to: 'suspended',
    also_happens: 'suspended_by owner',
  },
  {
    move: 'activate_by_resource',
    from: ['suspended'],
    moved_by: 'Project resource that is active or declared again',
    condition:
      'suspended_by owner; without a state, only if nothing but its deletion suspended the project',
    to: 'active',
    also_happens: '',
  },
] as const satisfies readonly Move<ProjectStatus>[];

export const quotaStatuses = ['within quota', 'over quota'] as const;

export type QuotaStatus = (typeof quotaStatuses)[number];

/** Spec: Organization quota. */
export const quotaMoves = [
  {
    move: 'exceed',
    from: ['within quota'],
    moved_by: 'daily charge',
    condition: 'balance reaches zero',
    to: 'over quota',
    also_happens:
      'quota_exceeded_at set; delivery 403 quota_exceeded; one quota.exceeded event per project with a callback URL',
  },
  {
    move: 'restore',
    from: ['over quota'],
    moved_by: 'credits added',
    condition: '',
    to: 'within quota',
    also_happens: 'delivery resumes; quota.restored event',
  },
  {
    move: 'exempt',
    from: ['over quota'],
    moved_by: 'staff sets billing_exempt true',
    condition: '',
    to: 'within quota',
    also_happens: 'quota_exceeded_at cleared at once; no further charges',
  },
] as const satisfies readonly Move<QuotaStatus>[];

/** Ours: all other changes of the balance. */
export const additionalQuotaMoves = [
  {
    move: 'exceed_by_refund',
    from: ['within quota'],
    moved_by: 'refund of a payment',
    condition: 'balance reaches zero',
    to: 'over quota',
    also_happens: 'as for the daily charge',
  },
  {
    move: 'restore_by_correction',
    from: ['over quota'],
    moved_by: 'daily charge',
    condition: 'its corrections bring the balance above zero',
    to: 'within quota',
    also_happens: 'delivery resumes; quota.restored event',
  },
] as const satisfies readonly Move<QuotaStatus>[];

export const webhookStatuses = [
  'pending',
  'delivered',
  'retry scheduled',
  'abandoned',
  'canceled',
] as const;

export type WebhookStatus = (typeof webhookStatuses)[number];

/** Spec: Webhook delivery attempt. */
export const webhookMoves = [
  {
    move: 'deliver',
    from: ['pending'],
    moved_by: 'attempt',
    condition: 'endpoint answers 2xx within 10 s',
    to: 'delivered',
    also_happens: '',
  },
  {
    move: 'schedule_retry',
    from: ['pending'],
    moved_by: 'attempt',
    condition:
      'any other status (3xx included; redirects are not followed), timeout, connection error, or callback host resolving to a private or link-local address',
    to: 'retry scheduled',
    also_happens:
      'backoff 30 s, 1 min, 2 min, 4 min, and so on, capped at 1 hour; a job picks up retries every minute',
  },
  {
    move: 'abandon',
    from: ['retry scheduled'],
    moved_by: '10th failed attempt',
    condition: 'about three hours in',
    to: 'abandoned',
    also_happens: 'not sent again',
  },
] as const satisfies readonly Move<WebhookStatus>[];

/**
 * Ours: a retry is also an attempt; removing the callback URL cancels pending deliveries; a person
 * may send again.
 */
export const additionalWebhookMoves = [
  {
    move: 'deliver_retry',
    from: ['retry scheduled'],
    moved_by: 'attempt',
    condition: 'endpoint answers 2xx within 10 s',
    to: 'delivered',
    also_happens: '',
  },
  {
    move: 'schedule_next_retry',
    from: ['retry scheduled'],
    moved_by: 'attempt',
    condition: 'failed, and fewer than 10 attempts made',
    to: 'retry scheduled',
    also_happens: 'backoff as above',
  },
  {
    move: 'cancel',
    from: ['pending', 'retry scheduled'],
    moved_by: 'callback_url set to null',
    condition: '',
    to: 'canceled',
    also_happens: 'not sent again',
  },
] as const satisfies readonly Move<WebhookStatus>[];

/** Spec: Other state sets, the values named there. */
export const otherStateSets = {
  subscription: ['scheduled_cancel', 'canceled', 'expired'],
  check: ['flagged'],
  review: ['approved', 'rejected'],
} as const;

/** Ours: further values that those sets need. */
export const additionalStateSets = {
  subscription: ['active'],
  check: ['queued', 'scanning', 'clear', 'failed'],
  review: ['unreviewed'],
} as const;

export type SubscriptionStatus = (
  | typeof otherStateSets
  | typeof additionalStateSets
)['subscription'][number];

export const checkStatuses = [...otherStateSets.check, ...additionalStateSets.check] as const;

export type CheckStatus = (typeof checkStatuses)[number];

export const reviewValues = [...otherStateSets.review, ...additionalStateSets.review] as const;

/** The last decision on a scanner check, or the value for none. */
export type ReviewValue = (typeof reviewValues)[number];

/** A decision of staff on a flagged check. */
export type ReviewDecision = (typeof otherStateSets.review)[number];

/**
 * The states from which the row named `move` may start: the list for a guard `status = any($1)`.
 */
export function statesBefore<Row extends Move<string>>(
  table: readonly Row[],
  move: Row['move'],
): Row['from'][number][] {
  const row = table.find((candidate) => candidate.move === move);
  if (row === undefined) throw new RangeError(`no such move: ${move}`);
  return [...row.from];
}
