/** Examples of staff and public responses. Each is checked against its schema. */
import { differenceCauses } from '../../../runtime/core/reconciliation.ts';
import { exampleIds } from './example-ids.ts';

const created_at = '2026-11-02T09:30:00.000Z';
const times = { created_at, updated_at: created_at };

const check = {
  check_id: exampleIds.chk,
  project_slug: 'shop',
  file_id: exampleIds.file,
  file_slug: 'red-shoe.jpg',
  revision: 1,
  status: 'flagged',
  review: 'unreviewed',
  flags: ['nudity'],
  scores: { nudity: 0.91 },
  scanned_at: created_at,
  ...times,
};

const incident = {
  incident_id: exampleIds.inc,
  title: 'Derived images are slow',
  services: ['render'],
  severity: 'minor',
  body: 'New sizes take up to ten seconds. Images that were seen before are not affected.',
  automatic: false,
  started_at: created_at,
  ended_at: null,
  ...times,
};

export const staffRecordExamples = {
  Accepted: { accepted: true },
  AccessRequest: {
    id: 'acr_01kbr43n2m8x5t7v9y4w6c3krd',
    email: 'ada@example.com',
    name: 'Ada',
    company: 'Example Shop',
    url: 'https://shop.example',
    message: null,
    use_case: 'Pictures of products',
    plan_interest: 'builder',
    locale: 'en',
    status: 'new',
    created_at,
  },
  AuditEntry: {
    audit_id: 4711,
    organization_id: exampleIds.org,
    project_slug: 'shop',
    actor_kind: 'staff',
    actor_id: 'auth0|5f7c8ec7c33c6c004bbafe82',
    action: 'file.unblock',
    target: exampleIds.file,
    before: { blocked_by: 'scanner', reason: 'nudity' },
    after: null,
    request_id: 'b1c9e6d4-5f0a-4a53-9d0c-2f1f6d7f0b11',
    created_at,
  },
  Check: check,
  CheckWithReviews: {
    ...check,
    review: 'approved',
    reviews: [
      {
        review_id: 'rvw_01kbr44v6c8m2t7x5y9n3w4krd',
        decision: 'approved',
        note: 'A statue.',
        reviewer: 'auth0|5f7c8ec7c33c6c004bbafe82',
        created_at,
      },
    ],
  },
  Incident: incident,
  ReconciledDay: {
    day: '2026-11-02',
    requests: 1200,
    batched_credits: 1240,
    rolled_up_credits: 1240,
    exempt_credits: 0,
    owed_credits: 1240,
    charged_credits: 1200,
    missing_batches: 0,
    lost_deliveries: 0,
    differences: [
      {
        cause: 'not_charged_yet',
        credits: 40,
        advice: differenceCauses.not_charged_yet,
      },
    ],
  },
  Status: {
    services: [{ service: 'api', samples: [{ sampled_at: created_at, ok: true }] }],
    incidents: [incident],
  },
};

export const staffBodyExamples: Readonly<Record<string, object>> = {
  requestAccess: { email: 'ada@example.com', plan_interest: 'builder', company: 'Example Shop' },
  updateOrganizationAsStaff: { billing_exempt: true },
  updateProjectAsStaff: { custom_domains: ['img.shop.example'], nudity_auto_block: true },
  blockFile: { reason: 'copyright claim' },
  unblockFile: { note: 'The claim was withdrawn.' },
  reviewCheck: { decision: 'approved', note: 'A statue.' },
  openIncident: {
    title: incident.title,
    services: incident.services,
    severity: incident.severity,
    body: incident.body,
  },
  updateIncident: { ended_at: '2026-11-02T11:00:00.000Z' },
};
