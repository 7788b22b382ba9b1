/** The table of `tintype doctor`: every check, in the order of printing. */
import type { Check } from './check.ts';
import { databaseChecks } from './database-checks.ts';
import { brokerChecks, sandboxChecks } from './inside-checks.ts';
import { cdnChecks, egressChecks, identityChecks } from './outside-checks.ts';
import { scannerChecks } from './scanner-checks.ts';
import { storageChecks } from './storage-checks.ts';
import type { Subject } from './subject.ts';

export const checks: readonly Check<Subject>[] = [
  ...databaseChecks,
  ...storageChecks,
  ...brokerChecks,
  ...identityChecks,
  ...sandboxChecks,
  ...egressChecks,
  ...cdnChecks,
  ...scannerChecks,
];
