/** The rates that every call is held to, beside those of single operations. Spec: Rates (failed authentications, writes). */
import ipaddr from 'ipaddr.js';
import { ServiceError } from '../../core/errors.ts';
import type { Database } from '../../db/client.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import type { Principal } from '../auth/principal.ts';
import { createMinuteRate, type MinuteRate } from './minute-rate.ts';

export type Rates = { failedAuthentications: MinuteRate; writes: MinuteRate };

type Terms = {
  db: Database;
  clock: Clock;
  log: Log;
  metrics?: Pick<Metrics, 'rateRefused'>;
  failedAuthenticationsPerMinute: number;
  writesPerMinute: number;
};

export function createRates({
  failedAuthenticationsPerMinute,
  writesPerMinute,
  ...deps
}: Terms): Rates {
  return {
    failedAuthentications: createMinuteRate({
      ...deps,
      scope: 'failed-authentication',
      limit: failedAuthenticationsPerMinute,
    }),
    writes: createMinuteRate({ ...deps, scope: 'write', limit: writesPerMinute }),
  };
}

/** Codes that say that somebody is not who they say they are. */
const FAILURES: ReadonlySet<string> = new Set([
  'unauthorized',
  'invalid_request_signature',
  'invalid_signature',
]);

/**
 * What a failed authentication is answered with: the failure itself, or rate_limited once its address has had too many
 * within the minute. Only failures are counted and refused, so that people behind one address do not lock one another out.
 */
export async function countFailure(rates: Rates, error: unknown, address: string): Promise<void> {
  if (!(error instanceof ServiceError) || !FAILURES.has(error.code)) return;
  await rates.failedAuthentications.take(networkOf(address));
}

/** An address, or of IPv6 the network of one customer. */
function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6
    ? ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`).toString()
    : parsed.toString();
}

type Write = { method: string; principal: Principal; project_slug: string };

/** Throws rate_limited where a caller writes too much to one project. */
export async function countWrite(
  rates: Rates,
  { method, principal, project_slug }: Write,
): Promise<void> {
  const organization_id = organizationOf(principal);
  if (method === 'GET' || organization_id === undefined) return;
  await rates.writes.take(`${organization_id}/${project_slug}`);
}

function organizationOf(principal: Principal): string | undefined {
  switch (principal.kind) {
    case 'none':
      return undefined;
    case 'key':
      return principal.key.organization_id;
    case 'dash':
      return principal.organization.organization_id;
  }
}
