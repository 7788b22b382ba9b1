/** The data of a webhook, by its event. Spec: Event kinds. A test compares it with the service's own table. */

type FileFacts = {
  readonly project_id: string;
  readonly file_id: string;
  readonly file_slug: string;
  readonly revision: number;
};
type QuotaFacts = {
  readonly organization_id: string;
  readonly project_id: string;
  readonly day: string;
  readonly credit_balance: number;
};

export type WebhookData = {
  readonly 'upload.ready': FileFacts & { readonly upload_id: string; readonly sha256: string };
  readonly 'file.blocked': FileFacts & { readonly reason: string };
  readonly 'file.unblocked': FileFacts;
  readonly 'quota.exceeded': QuotaFacts & { readonly quota_exceeded_at: string };
  readonly 'quota.restored': QuotaFacts & { readonly quota_exceeded_at: null };
  readonly 'webhook.test': { readonly project_id: string; readonly test_id: string };
};

/** The same event can arrive twice: drop one whose `id` you have seen. */
export type WebhookEvent = {
  readonly [Name in keyof WebhookData]: {
    readonly id: string;
    readonly event: Name;
    readonly created_at: string;
    readonly data: WebhookData[Name];
  };
}[keyof WebhookData];
