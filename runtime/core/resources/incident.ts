/** Incidents and the public status page. Spec: Staff, incidents; Public, status. */
import { z } from 'zod';
import { INCIDENT_SERVICES_MAX, NAME_LENGTH_MAX, NOTE_LENGTH_MAX } from '../limits.ts';
import {
  askedTime,
  boundedText,
  expected,
  nameText,
  oneOf,
  pageQuery,
  requestBody,
  requestQuery,
  sentTimestamp,
  times,
  timestamp,
} from './wire.ts';

/** The severity of an incident. */
export const severities = ['minor', 'major', 'critical'] as const;

/** An incident, opened by staff or by failed samples. */
export const incidentRecord = z.object({
  incident_id: z.string(),
  title: z.string(),
  services: z.array(z.string()),
  severity: z.enum(severities),
  body: z.string(),
  automatic: z.boolean(),
  started_at: timestamp,
  ended_at: timestamp.nullable(),
  ...times,
});

/** An incident on the wire. */
export type IncidentRecord = z.infer<typeof incidentRecord>;

const text = boundedText(NOTE_LENGTH_MAX);

/** Open a manual incident. */
export const createIncidentBody = requestBody({
  title: nameText(),
  services: z
    .array(nameText(NAME_LENGTH_MAX), { error: expected('a list of the names of services') })
    .min(1, { error: 'expected at least one service' })
    .max(INCIDENT_SERVICES_MAX, { error: `expected at most ${INCIDENT_SERVICES_MAX} services` }),
  severity: oneOf(severities),
  body: text,
  started_at: sentTimestamp.optional(),
});

/** Change or end a manual incident. */
export const patchIncidentBody = requestBody({
  ended_at: sentTimestamp.nullable().optional(),
  body: text.optional(),
});

/** Query of the list of incidents. */
export const listIncidentsQuery = requestQuery({
  active_since: askedTime.optional(),
  ...pageQuery,
});

/** Response of the public status operation. */
export const statusRecord = z.object({
  services: z.array(
    z.object({
      service: z.string(),
      samples: z.array(z.object({ sampled_at: timestamp, ok: z.boolean() })),
    }),
  ),
  incidents: z.array(incidentRecord),
});

/** The public status on the wire. */
export type StatusRecord = z.infer<typeof statusRecord>;
