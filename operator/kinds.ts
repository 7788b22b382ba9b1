/**
 * The kinds of custom resources, in the order in which they depend on one another: a project first, then what belongs
 * to it. The CRDs, the folder of YAML and the controllers are made from this table.
 */
import type { z } from 'zod';
import { defaultNameRule, defaultSlugRule } from './default-names.ts';
import { reconcileProject } from './project/reconcile.ts';
import { projectSpec, projectStatus } from './project/schema.ts';
import { reconcileRecipe } from './recipe/reconcile.ts';
import { recipeSpec, recipeStatus } from './recipe/schema.ts';
import type { Reconciler } from './reconcile.ts';
import { reconcileSigningKey } from './signing-key/reconcile.ts';
import { signingKeySpec, signingKeyStatus } from './signing-key/schema.ts';
import { reconcileWatermarkPreset } from './watermark-preset/reconcile.ts';
import { watermarkPresetSpec, watermarkPresetStatus } from './watermark-preset/schema.ts';

export const GROUP = 'tintype.dev';
export const VERSION = 'v1alpha1';
export const API_VERSION = `${GROUP}/${VERSION}`;

/** How the CRD describes a kind. */
export type Described = {
  kind: string;
  plural: string;
  description: string;
  spec: z.ZodType;
  status: z.ZodObject;
  /**
   * The columns of `kubectl get` besides Ready and its reason: values of rows, or required fields.
   * A field that may be left to the API would be empty whenever the API has set it.
   */
  columns: readonly Column[];
  /** The fields that `kubectl get --field-selector` supports. */
  selectable?: readonly string[];
  /** Validation rules on the whole resource, including its name. */
  rules?: readonly Rule[];
};

export type Rule = {
  rule: string;
  message: string;
  fieldPath?: string;
  /** The rule also runs on creation, when there is no `oldSelf`. */
  optionalOldSelf?: true;
};

export type Kind = Described & {
  reconcile: Reconciler;
  /** Fields of the spec that have no meaning on a single machine. */
  clusterFields: readonly string[];
};

export type Column = {
  name: string;
  type: 'string' | 'integer' | 'date';
  path: string;
  /** Shown only with `kubectl get --output wide`. */
  priority?: 1;
};

export const kinds = [
  {
    kind: 'Project',
    plural: 'projects',
    description: 'A project: an image library with a delivery host, keys and settings of its own.',
    spec: projectSpec,
    status: projectStatus,
    reconcile: reconcileProject,
    clusterFields: ['routing'],
    rules: [defaultSlugRule],
    columns: [
      { name: 'Host', type: 'string', path: '.status.defaultHost' },
      { name: 'Suspended By', type: 'string', path: '.status.suspendedBy' },
      { name: 'Deletion Policy', type: 'string', path: '.spec.deletionPolicy', priority: 1 },
    ],
    selectable: ['.spec.slug', '.spec.state', '.spec.deliveryAccess'],
  },
  {
    kind: 'SigningKey',
    plural: 'signingkeys',
    description: 'When the key that signs the delivery URLs of a project is rotated.',
    spec: signingKeySpec,
    status: signingKeyStatus,
    reconcile: reconcileSigningKey,
    clusterFields: [],
    columns: [
      { name: 'Project', type: 'string', path: '.spec.projectRef.name' },
      { name: 'Kid', type: 'string', path: '.status.kid' },
    ],
    selectable: ['.spec.projectRef.name'],
  },
  {
    kind: 'WatermarkPreset',
    plural: 'watermarkpresets',
    description: 'A watermark: a file of the project, with its position and opacity.',
    spec: watermarkPresetSpec,
    status: watermarkPresetStatus,
    reconcile: reconcileWatermarkPreset,
    clusterFields: ['image'],
    rules: [defaultNameRule('displayName'), defaultNameRule('fileSlug')],
    columns: [
      { name: 'Project', type: 'string', path: '.spec.projectRef.name' },
      { name: 'Revision', type: 'integer', path: '.status.fileRevision' },
      { name: 'Id', type: 'string', path: '.status.presetID' },
    ],
    selectable: ['.spec.projectRef.name', '.spec.fileSlug'],
  },
  {
    kind: 'Recipe',
    plural: 'recipes',
    description: 'A stored name for a transform chain.',
    spec: recipeSpec,
    status: recipeStatus,
    reconcile: reconcileRecipe,
    clusterFields: [],
    rules: [defaultNameRule('displayName')],
    columns: [
      { name: 'Project', type: 'string', path: '.spec.projectRef.name' },
      { name: 'Chain', type: 'string', path: '.spec.transformChain' },
      { name: 'Id', type: 'string', path: '.status.recipeID' },
    ],
    selectable: ['.spec.projectRef.name'],
  },
] as const satisfies readonly Kind[];

/**
 * The kinds that describe an installation in a cluster, and have no meaning on a single machine; see
 * cluster-kinds.ts.
 */
export const clusterKindNames: readonly string[] = ['ImageService'];

export function findKind(name: string): Kind | undefined {
  return kinds.find(({ kind }) => kind === name);
}
