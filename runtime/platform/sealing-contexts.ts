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
