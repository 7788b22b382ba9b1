/** Body fields that only staff may send: refused from anybody else, whatever their value. Spec: Projects. */
import { ServiceError } from '../core/errors.ts';
import type { RawCall } from './endpoint.ts';

/** Throws staff_only_field with the names of the fields. */
export function refuseStaffFields(
  names: readonly string[],
  { principal, body }: Pick<RawCall, 'principal' | 'body'>,
): void {
  if (principal.kind === 'dash' && principal.is_staff) return;
  const sent = Object.keys(body instanceof Object ? body : {});
  const fields = names.filter((name) => sent.includes(name));
  if (fields.length > 0) throw new ServiceError('staff_only_field', { details: { fields } });
}
