/** The operations of staff and of the public, as the table of operations lists them. */
import type { Operation } from './operations.ts';

const PROJECT = '/v1/staff/projects/{slug}';

export const publicOperations: Readonly<Record<string, Operation>> = {
  'POST /v1/public/access-requests': {
    id: 'requestAccess',
    tag: 'Public',
    title: 'Ask for access',
    one: 'Accepted',
  },
  'GET /v1/public/status': {
    id: 'getStatus',
    tag: 'Public',
    title: 'Does the service work',
    one: 'Status',
  },
};

export const staffOperations: Readonly<Record<string, Operation>> = {
  'GET /v1/staff/access-requests': {
    id: 'listAccessRequests',
    tag: 'Staff',
    title: 'Who asked for access',
    page: 'AccessRequest',
  },
  'GET /v1/staff/organizations/{organization_id}': {
    id: 'getOrganizationAsStaff',
    tag: 'Staff',
    title: 'One organization with its quota',
    one: 'Organization',
  },
  'PATCH /v1/staff/organizations/{organization_id}': {
    id: 'updateOrganizationAsStaff',
    tag: 'Staff',
    title: 'Free usage on or off',
    one: 'Organization',
  },
  'GET /v1/staff/projects': {
    id: 'listProjectsAsStaff',
    tag: 'Staff',
    title: 'Projects of every organization',
    page: 'StaffProject',
  },
  [`GET ${PROJECT}`]: {
    id: 'getProjectAsStaff',
    tag: 'Staff',
    title: 'One project',
    one: 'StaffProject',
  },
  [`PATCH ${PROJECT}`]: {
    id: 'updateProjectAsStaff',
    tag: 'Staff',
    title: 'Change what only staff may',
    one: 'StaffProject',
  },
  [`GET ${PROJECT}/files`]: {
    id: 'listFilesAsStaff',
    tag: 'Staff',
    title: 'Files of a project',
    page: 'File',
  },
  [`GET ${PROJECT}/usage`]: {
    id: 'getStaffUsage',
    tag: 'Staff',
    title: 'What any project used',
    one: 'Usage',
  },
  [`GET ${PROJECT}/uploads`]: {
    id: 'listUploadsAsStaff',
    tag: 'Staff',
    title: 'Upload sessions of a project',
    page: 'Upload',
  },
  'POST /v1/staff/files/{fileId}/block': {
    id: 'blockFile',
    tag: 'Staff',
    title: 'Block a file',
    one: 'File',
  },
  'POST /v1/staff/files/{fileId}/unblock': {
    id: 'unblockFile',
    tag: 'Staff',
    title: 'Let a file go again',
    one: 'File',
  },
  'GET /v1/staff/moderation-notes': {
    id: 'listModerationNotes',
    tag: 'Staff',
    title: 'Notes for moderators',
    page: 'ModerationNote',
  },
  'GET /v1/staff/reconciliation': {
    id: 'getReconciliation',
    tag: 'Staff',
    title: 'Does metering agree',
    page: 'ReconciledDay',
  },
  'GET /v1/staff/checks': {
    id: 'listChecks',
    tag: 'Staff',
    title: 'What the scanner found',
    page: 'Check',
  },
  'GET /v1/staff/checks/{id}': {
    id: 'getCheck',
    tag: 'Staff',
    title: 'One check and its reviews',
    one: 'CheckWithReviews',
  },
  'GET /v1/staff/checks/{id}/image': {
    id: 'getCheckImage',
    tag: 'Staff',
    title: 'Look at what was scanned',
    picture: 'image/webp',
  },
  'POST /v1/staff/checks/{id}/review': {
    id: 'reviewCheck',
    tag: 'Staff',
    title: 'Decide on a flagged check',
    one: 'CheckWithReviews',
  },
  'GET /v1/staff/incidents': {
    id: 'listIncidents',
    tag: 'Staff',
    title: 'List incidents',
    page: 'Incident',
  },
  'POST /v1/staff/incidents': {
    id: 'openIncident',
    tag: 'Staff',
    title: 'Tell of an incident',
    one: 'Incident',
  },
  'PATCH /v1/staff/incidents/{id}': {
    id: 'updateIncident',
    tag: 'Staff',
    title: 'Tell more, or that it is over',
    one: 'Incident',
  },
  'GET /v1/staff/audit': {
    id: 'listAudit',
    tag: 'Staff',
    title: 'Who did what',
    page: 'AuditEntry',
  },
};
