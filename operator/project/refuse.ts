/**
 * Why a Project resource cannot be accepted, rule by rule, in the order of reporting. A refused resource touches no
 * row. Spec: Resources and their fields, Project.
 */
import { parseProjectSlug, RESERVED_PROJECT_SLUGS } from '../../runtime/core/slug.ts';
import { claimOn } from '../claim.ts';
import type { Reason } from '../conditions.ts';
import type { Identity } from '../declared.ts';
import type { TakenDomain } from './domains.ts';
import type { DeclaredProject, ProjectRows } from './gather.ts';
import type { ProjectSpec } from './schema.ts';

/** The first reason not to accept the resource. */
export function refuseProject(state: ProjectState): Refusal | undefined {
  for (const refusal of refusals) {
    const found = refusal(state);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The slug that a Project resource declares. */
export function slugOf({ identity, spec }: Pick<ProjectState, 'identity' | 'spec'>): string {
  return spec.slug ?? identity.name;
}

export type ProjectState = {
  identity: Identity;
  spec: ProjectSpec;
  rows: ProjectRows;
};

export type Refusal = { reason: Reason; message: string };

type RefusalRule = (state: ProjectState) => Refusal | undefined;

const refusals: readonly RefusalRule[] = [
  slugReserved,
  slugInvalid,
  slugImmutable,
  organizationNotFound,
  slugConflict,
  organizationImmutable,
  notOwned,
  customDomainInvalid,
  customDomainTaken,
];

/** What to do, as a slug cannot be changed. */
const ANEW = 'delete this resource, and declare it again with another name or spec.slug';

function slugReserved(state: ProjectState) {
  const slug = slugOf(state);
  if (!RESERVED_PROJECT_SLUGS.includes(slug)) return undefined;
  return refuse('SlugReserved', `'${slug}' is reserved: ${ANEW}`);
}

function slugInvalid(state: ProjectState) {
  const slug = slugOf(state);
  if (parseProjectSlug(slug) !== undefined) return undefined;
  return refuse('SlugInvalid', `'${slug}' is not a DNS label of at most 63 characters: ${ANEW}`);
}

function slugImmutable(state: ProjectState) {
  const slug = state.rows.project?.project_slug;
  if (slug === undefined || slug === slugOf(state)) return undefined;
  return refuse(
    'SlugImmutable',
    `the project is '${slug}' and keeps that slug: set spec.slug back`,
  );
}

function organizationNotFound({ rows }: ProjectState) {
  if (rows.organization_id !== undefined) return undefined;
  return refuse(
    'OrganizationNotFound',
    'no organization has the id of spec.staff.organizationId: correct it, or leave it out for the organization of the namespace',
  );
}

function slugConflict({ identity, rows }: ProjectState) {
  const { project } = rows;
  if (project === undefined) return undefined;
  const claim = claimOn(project, identity);
  // A project of another organization looks the same as one that another resource owns.
  const isForeign = claim === 'unowned' && project.organization_id !== rows.organization_id;
  if (claim !== 'other' && !isForeign) return undefined;
  // Who has a slug is not revealed to other organizations.
  const isOwn = project.organization_id === rows.organization_id;
  const whose = claim === 'other' && isOwn ? ` by the Project ${ownerOf(project)}` : '';
  const message = `the slug '${project.project_slug}' is taken${whose}: ${ANEW}`;
  return refuse('SlugConflict', message);
}

function ownerOf({ owner_namespace, owner_name }: DeclaredProject): string {
  return `${owner_namespace}/${owner_name}`;
}

function organizationImmutable({ rows }: ProjectState) {
  const { project } = rows;
  if (project === undefined || project.organization_id === rows.organization_id) return undefined;
  return refuse(
    'OrganizationImmutable',
    `the project belongs to ${project.organization_id} and cannot move: set the organization back`,
  );
}

function notOwned({ identity, spec, rows }: ProjectState) {
  const { project } = rows;
  if (project === undefined || claimOn(project, identity) !== 'unowned') return undefined;
  if (spec.adoptionPolicy === 'IfUnowned') return undefined;
  const past =
    project.owner_name === null
      ? 'was created through the API:'
      : `was released when the Project ${ownerOf(project)} was deleted: declare it under that name again, or`;
  const message = `the project '${project.project_slug}' ${past} set adoptionPolicy to IfUnowned to take it over`;
  return refuse('NotOwned', message);
}

function customDomainInvalid({ spec, rows }: ProjectState) {
  const root = rows.delivery_root_domain;
  const domain = spec.staff?.customDomains?.find((it) => it === root || it.endsWith(`.${root}`));
  if (root === undefined || domain === undefined) return undefined;
  return refuse(
    'CustomDomainInvalid',
    `'${domain}' is under ${root}, which is already served: remove it from spec.staff.customDomains`,
  );
}

function customDomainTaken({ rows }: ProjectState) {
  const [taken] = rows.domains_taken;
  if (taken === undefined) return undefined;
  return refuse('CustomDomainTaken', `'${taken.domain}' belongs to ${whose(taken)}`);
}

/** Names the holder, and says how this Project gets the domain. */
function whose({ holder, past_holder }: TakenDomain): string {
  if (past_holder !== undefined)
    return `a project that was released when the Project '${past_holder}' was deleted: declare that one again without it in spec.staff.customDomains, or remove it here`;
  const project = holder === undefined ? 'another project' : `the Project '${holder}'`;
  return `${project}: remove it here or there`;
}

function refuse(reason: Reason, message: string) {
  return { reason, message };
}
