/** Every generated section of docs/reference, by the name in its marker. */
import { formatTable, operationTable, refusalTable, responseHeaderTable } from './delivery.ts';
import { endpointLists, scopeTable } from './endpoints.ts';
import {
  apiErrorTable,
  browserClientErrorTable,
  deliveryErrorTable,
  helperErrorTable,
  processingErrorTable,
  verifierReasonTable,
} from './errors.ts';
import { eventTable, webhookHeaderTable } from './events.ts';
import { limitTables } from './limits.ts';
import {
  printJobCounts,
  printJobs,
  printMetrics,
  printOperatorMetrics,
  printPlans,
  printProcessMetrics,
  printReservedSlugs,
} from './platform.ts';
import { recordTables } from './resources.ts';
import { stateTables } from './states.ts';

export const sections: ReadonlyMap<string, () => string> = new Map([
  ...named('fields', recordTables),
  ...named('states', stateTables),
  ...named('endpoints', endpointLists),
  ...[...limitTables()].map(([name, text]) => [`limits: ${name}`, () => text] as const),
  ['scopes', scopeTable],
  ['events', eventTable],
  ['webhook headers', webhookHeaderTable],
  ['errors: api', apiErrorTable],
  ['errors: delivery', deliveryErrorTable],
  ['errors: processing', processingErrorTable],
  ['errors: upload helper', helperErrorTable],
  ['errors: browser client', browserClientErrorTable],
  ['verifier reasons', verifierReasonTable],
  ['formats', formatTable],
  ['operations', operationTable],
  ['refusals', refusalTable],
  ['response headers', responseHeaderTable],
  ['metrics', printMetrics],
  ['process-metrics', printProcessMetrics],
  ['operator-metrics', printOperatorMetrics],
  ['jobs', printJobs],
  ['job-counts', printJobCounts],
  ['plans', printPlans],
  ['reserved slugs', printReservedSlugs],
]);

function named(
  group: string,
  tables: ReadonlyMap<string, () => string>,
): (readonly [string, () => string])[] {
  return [...tables].map(([name, print]) => [`${group}: ${name}`, print]);
}
