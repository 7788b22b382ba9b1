/**
 * Probes every service once a minute, records whether it works, and opens and closes automatic incidents.
 * Spec: Public, status; Staff, incidents.
 */
import { MINUTE_MS } from '../core/durations.ts';
import { newId } from '../core/ids.ts';
import {
  STATUS_FAILED_SAMPLES_TO_OPEN,
  STATUS_GOOD_SAMPLES_TO_CLOSE,
  STATUS_PROBE_SECONDS,
} from '../core/limits.ts';
import {
  hasSampleGap,
  type IncidentMove,
  incidentMove,
  type StatusService,
  statusServices,
} from '../core/status.ts';
import type { Transaction } from '../db/client.ts';
import { insertIncident, lockAutomaticIncident, updateIncident } from '../db/incidents.ts';
import { insertStatusSample, listNewestSamples } from '../db/status-samples.ts';
import type { JobContext, JobCounts } from './job.ts';
import { statusProbes } from './status-probes.ts';

const SAMPLES = Math.max(STATUS_FAILED_SAMPLES_TO_OPEN, STATUS_GOOD_SAMPLES_TO_CLOSE);

export async function statusSampling(context: JobContext): Promise<JobCounts> {
  const services = Object.keys(statusServices) as StatusService[];
  const outcomes = await Promise.all(services.map((service) => sample(context, service)));
  const count = (wanted: Outcome) => outcomes.filter((outcome) => outcome === wanted).length;
  return { good: count('good'), failed: count('failed'), unknown: count('unknown') };
}

type Outcome = 'good' | 'failed' | 'unknown';

async function sample(context: JobContext, service: StatusService): Promise<Outcome> {
  const began = performance.now();
  const outcome = await probe(context, service);
  if (outcome === 'unknown') {
    if (!context.signal.aborted)
      await context.db.transaction((tx) => endUnsampled(tx, context, service));
    return outcome;
  }
  const duration_ms = Math.round(performance.now() - began);
  const sampled_at = minuteOf(context.at);
  await context.db.transaction(async (tx) => {
    await insertStatusSample(tx, { service, sampled_at, ok: outcome === 'good', duration_ms });
    await moveIncident(tx, context, service);
  });
  return outcome;
}

async function probe(context: JobContext, service: StatusService): Promise<Outcome> {
  const deadline = AbortSignal.timeout(STATUS_PROBE_SECONDS * 1000);
  const signal = AbortSignal.any([context.signal, deadline]);
  try {
    if (await statusProbes[service](context, signal)) return 'good';
    context.log.debug('a service cannot be checked from this process', { service });
    return 'unknown';
  } catch (error) {
    // The process is ending, so the failure says nothing about the service.
    if (context.signal.aborted) return 'unknown';
    context.log.warn('a service is failing its check', { service, error });
    return 'failed';
  }
}

async function moveIncident(
  tx: Transaction,
  { clock }: JobContext,
  service: StatusService,
): Promise<void> {
  const open = await lockAutomaticIncident(tx, service);
  const samples = await listNewestSamples(tx, { service, limit: SAMPLES });
  const move: IncidentMove = incidentMove(samples, open === undefined ? 'none' : 'open');
  if (move === undefined) return;
  if (open !== undefined) {
    await updateIncident(tx, { ...open, ended_at: move.at });
    return;
  }
  const words = statusServices[service];
  await insertIncident(tx, {
    incident_id: newId('inc', clock.now().getTime()),
    title: `${words} is failing`,
    services: [service],
    severity: 'major',
    body: `${words} has been failing since ${printMinute(move.at)}.`,
    automatic: true,
    started_at: move.at,
  });
}

/**
 * A service that is no longer sampled never gets the good samples that end its incident, and staff
 * cannot end it. Another process may still sample it, so the incident stays open until nobody has
 * for a while.
 */
async function endUnsampled(
  tx: Transaction,
  { at }: JobContext,
  service: StatusService,
): Promise<void> {
  const open = await lockAutomaticIncident(tx, service);
  if (open === undefined) return;
  const [newest] = await listNewestSamples(tx, { service, limit: 1 });
  const ended_at = newest?.sampled_at ?? open.started_at;
  if (!hasSampleGap(ended_at, minuteOf(at))) return;
  const body = `${open.body} Its state after ${printMinute(ended_at)} is not known.`;
  await updateIncident(tx, { ...open, ended_at, body });
}

function minuteOf(at: Date): Date {
  return new Date(Math.floor(at.getTime() / MINUTE_MS) * MINUTE_MS);
}

function printMinute(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
