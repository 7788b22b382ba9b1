/** The context that binds each kind of sealed secret: in one place, so that sealing and opening never differ. */

export function signingKeyContext(kid: string): string {
  return `signing-key:${kid}`;
}

export function idempotentAnswerContext(claimId: string): string {
  return `idempotent-answer:${claimId}`;
}

export function callbackSecretContext(projectId: string): string {
  return `callback-secret:${projectId}`;
}

/** By the table that a sealed value is in; each takes the id that the value is bound to. */
export const sealedContexts = {
  signing_keys: signingKeyContext,
  projects: callbackSecretContext,
  older_callback_secrets: callbackSecretContext,
  idempotency_keys: idempotentAnswerContext,
} as const;
