/**
 * Staff: a browser session whose sub is in the list while the staff API is enabled.
 * Spec: Authentication, Credentials (Staff).
 */
import { ServiceError } from '../../core/errors.ts';

/** As configured; subjects outside of an enabled staff API are ordinary users. */
export type StaffList = { readonly is_enabled: boolean; readonly subjects: readonly string[] };

export function isStaff(staff: StaffList, subject: string): boolean {
  return staff.is_enabled && staff.subjects.includes(subject);
}

export function checkStaff(staff: StaffList, subject: string): void {
  if (!isStaff(staff, subject)) throw new ServiceError('staff_only');
}
