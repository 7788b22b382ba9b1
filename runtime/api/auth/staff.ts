/** Staff: sessions whose sub is listed, while the staff API is enabled. Spec: Authentication, Credentials (Staff). */
import { ServiceError } from '../../core/errors.ts';

/** As configured; while the staff API is disabled, these subjects are ordinary users. */
export type StaffList = { readonly is_enabled: boolean; readonly subjects: readonly string[] };

export function isStaff(staff: StaffList, subject: string): boolean {
  return staff.is_enabled && staff.subjects.includes(subject);
}

export function checkStaff(staff: StaffList, subject: string): void {
  if (!isStaff(staff, subject)) throw new ServiceError('staff_only');
}
