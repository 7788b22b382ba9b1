/** The staff and public operations, for the table of operations. */
import type { Operation } from './operations.ts';

const PROJECT = '/v1/staff/projects/{slug}';

export const publicOperations: Readonly<Record<string, Operation>> = {
  'POST /v1/public/access-requests': {
    id: 'requestAccess',
    tag: 'Public',
    title: 'Request access',
    one: 'Accepted',
  },
  'GET /v1/public/status': {
    id: 'getStatus',
    tag: 'Public',
    title: 'Read the service status',
    one: 'Status',
  },
};

export const staffOperations: Readonly<Record<string, Operation>> = {
  'GET /v1/staff/access-requests': {
    id: 'listAccessRequests',
    tag: 'Staff',
    title: 'List access requests',
    page: 'AccessRequest',
  },
  'GET /v1/staff/organizations/{organization_id}': {
    id: 'getOrganizationAsStaff',
    tag: 'Staff',
    title: 'Read an organization with its quota',
    one: 'Organization',
  },
  'PATCH /v1/staff/organizations/{organization_id}': {
    id: 'updateOrganizationAsStaff',
    tag: 'Staff',
    title: 'Turn free usage on or off',
    one: 'Organization',
  },
  'GET /v1/staff/projects': {
    id: 'listProjectsAsStaff',
    tag: 'Staff',
    title: 'List projects of every organization',
    page: 'StaffProject',
  },
  [`GET ${PROJECT}`]: {
    id: 'getProjectAsStaff',
    tag: 'Staff',
    title: 'Read any project',
    one: 'StaffProject',
  },
  [`PATCH ${PROJECT}`]: {
    id: 'updateProjectAsStaff',
    tag: 'Staff',
    title: 'Change settings reserved for staff',
    one: 'StaffProject',
  },
  [`GET ${PROJECT}/files`]: {
    id: 'listFilesAsStaff',
    tag: 'Staff',
    title: 'List files of any project',
    page: 'File',
  },
  [`GET ${PROJECT}/usage`]: {
    id: 'getStaffUsage',
    tag: 'Staff',
    title: 'Read the usage of any project',
    one: 'Usage',
  },
  [`GET ${PROJECT}/uploads`]: {
    id: 'listUploadsAsStaff',
    tag: 'Staff',
    title: 'List upload sessions of any project',
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
    title: 'Unblock a file',
    one: 'File',
  },
  'GET /v1/staff/moderation-notes': {
    id: 'listModerationNotes',
    tag: 'Staff',
    title: 'List notes for moderators',
    page: 'ModerationNote',
  },
  'GET /v1/staff/reconciliation': {
    id: 'getReconciliation',
    tag: 'Staff',
    title: 'Compare metering with charges',
    page: 'ReconciledDay',
  },
  'GET /v1/staff/checks': {
    id: 'listChecks',
    tag: 'Staff',
    title: 'List scanner checks',
    page: 'Check',
  },
  'GET /v1/staff/checks/{id}': {
    id: 'getCheck',
    tag: 'Staff',
    title: 'Read a check with its reviews',
    one: 'CheckWithReviews',
  },
  'GET /v1/staff/checks/{id}/image': {
    id: 'getCheckImage',
    tag: 'Staff',
    title: 'View the scanned picture',
    picture: 'image/webp',
  },
  'POST /v1/staff/checks/{id}/review': {
    id: 'reviewCheck',
    tag: 'Staff',
    title: 'Review a flagged check',
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
    title: 'Open an incident',
    one: 'Incident',
  },
  'PATCH /v1/staff/incidents/{id}': {
    id: 'updateIncident',
    tag: 'Staff',
    title: 'Update or end an incident',
    one: 'Incident',
  },
  'GET /v1/staff/audit': {
    id: 'listAudit',
    tag: 'Staff',
    title: 'List the audit log',
    page: 'AuditEntry',
  },
};
