/**
 * The conditions of a custom resource, and every reason that one can carry. A reason belongs to one outcome, and the
 * outcome alone determines all conditions, so that Ready, Reconciling and Stalled never contradict one another. Ready
 * means: the declared state is in effect.
 */

/** In the order of the status. */
export const conditionTypes = [
  'Ready',
  'Accepted',
  'Synced',
  'Routed',
  'Reconciling',
  'Stalled',
  'Paused',
  'Planned',
] as const;

export type ConditionType = (typeof conditionTypes)[number];

export type Condition = {
  type: ConditionType;
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
};

/**
 * - `done`: in effect. `waiting`: something else must exist first; retried automatically.
 * - `held`: accepted, but somebody else's decision stands against it; it is reported, not healed.
 * - `refused`: not accepted; no row is touched until the resource changes.
 */
export type Outcome = 'done' | 'waiting' | 'held' | 'refused';

/** Every reason with its outcome and its meaning. */
export const reasons = {
  InSync: { outcome: 'done', meaning: 'The rows are as declared.' },
  Suspended: { outcome: 'done', meaning: 'The project is suspended, as declared.' },
  Deleted: { outcome: 'done', meaning: 'The resource is gone and its rows were handled.' },
  Retained: { outcome: 'done', meaning: 'The resource is gone; its rows stay as they are.' },

  ProjectNotFound: { outcome: 'waiting', meaning: 'The referenced project does not exist.' },
  WatermarkPresetNotFound: {
    outcome: 'waiting',
    meaning: 'The watermark preset that the project names as its default does not exist.',
  },
  WarmPresetNotFound: {
    outcome: 'waiting',
    meaning: 'A name in `warmPresets` is not a resolution preset of the project.',
  },
  CustomDomainAwaited: {
    outcome: 'waiting',
    meaning: 'Another project, declared without the custom domain, still has it.',
  },
  FileNotFound: { outcome: 'waiting', meaning: 'The file has not been uploaded yet.' },
  InUseAsDefault: {
    outcome: 'waiting',
    meaning: 'The watermark preset is the default of its project, so it cannot be deleted yet.',
  },
  ImageNotFound: {
    outcome: 'waiting',
    meaning: 'The image does not exist where the resource says.',
  },
  ImageUploading: { outcome: 'waiting', meaning: 'The image of the preset is being processed.' },
  ImagesUnavailable: {
    outcome: 'waiting',
    meaning:
      'The operator has no storage configured, or none that works, so it cannot upload images.',
  },
  TooManyKeys: {
    outcome: 'waiting',
    meaning: 'Too many keys of the project still verify, so another one must wait.',
  },
  PlanOnly: {
    outcome: 'waiting',
    meaning: 'The changes are planned but not written, as the resource requests.',
  },
  DatabaseUnavailable: {
    outcome: 'waiting',
    meaning: 'The database does not respond; nothing can be compared or written until it does.',
  },
  SchemaNotReady: {
    outcome: 'waiting',
    meaning: 'The database lacks migrations of this version; nothing is written until it has them.',
  },
  SettingsUnknown: {
    outcome: 'waiting',
    meaning: 'The ImageService or its plans, which the operator needs, cannot be read.',
  },

  SuspendedByStaff: { outcome: 'held', meaning: 'Staff suspended the project.' },
  FileBlocked: { outcome: 'held', meaning: 'Moderation blocked the file.' },
  SecretTaken: {
    outcome: 'held',
    meaning: 'The Secret of the callback already exists and was created by somebody else.',
  },

  LimitReached: {
    outcome: 'held',
    meaning: 'The project has the maximum number of recipes or watermark presets.',
  },

  CallbackNotPublic: {
    outcome: 'held',
    meaning: 'The callback URL names a private or reserved address; nothing is sent there.',
  },

  WriteRefused: {
    outcome: 'held',
    meaning: 'The API server or the database refused a write.',
  },

  ImageDigestMismatch: {
    outcome: 'held',
    meaning: 'The digest of the image at the URL is not the declared one.',
  },
  ImageRefused: {
    outcome: 'held',
    meaning:
      'The service does not accept the image, or its project is suspended or has no storage left for it.',
  },
  FileTaken: {
    outcome: 'held',
    meaning: 'The file with the slug was uploaded by others and is not replaced.',
  },

  SpecInvalid: {
    outcome: 'refused',
    meaning: 'A field has an invalid value that the API server could not detect.',
  },
  SlugInvalid: { outcome: 'refused', meaning: 'The slug is not a DNS label.' },
  SlugReserved: { outcome: 'refused', meaning: 'The slug is reserved.' },
  SlugConflict: {
    outcome: 'refused',
    meaning: 'Another resource owns the project with this slug.',
  },
  SlugImmutable: { outcome: 'refused', meaning: 'The slug of a project cannot change.' },
  NotOwned: {
    outcome: 'refused',
    meaning: 'What the resource declares already exists, and no resource owns it.',
  },
  OrganizationNotFound: { outcome: 'refused', meaning: 'The organization does not exist.' },
  OrganizationImmutable: {
    outcome: 'refused',
    meaning: 'A project stays in the organization that it was created in.',
  },
  CustomDomainTaken: { outcome: 'refused', meaning: 'Another project has this custom domain.' },
  CustomDomainInvalid: {
    outcome: 'refused',
    meaning: 'A custom domain is under the delivery root domain.',
  },
  SigningKeyTaken: {
    outcome: 'refused',
    meaning: 'Another SigningKey resource already manages the keys of this project.',
  },
  NameConflict: { outcome: 'refused', meaning: 'Another row of the project has the name.' },
  ProjectImmutable: {
    outcome: 'refused',
    meaning: 'A resource created in one project cannot move to another.',
  },
} as const satisfies Record<string, { outcome: Outcome; meaning: string }>;

export type Reason = keyof typeof reasons;

/** All conditions of a resource whose pass ended with this reason. */
export function conditionsFor(reason: Reason, message: string): Condition[] {
  const { outcome } = reasons[reason];
  const on = outcomes[outcome];
  return [
    { type: 'Ready', status: on.Ready, reason, message },
    on.Accepted === 'True'
      ? { type: 'Accepted', status: 'True', reason: 'Accepted', message: 'The resource is valid.' }
      : { type: 'Accepted', status: 'False', reason, message },
    { type: 'Synced', status: on.Synced, reason, message },
    { type: 'Reconciling', status: on.Reconciling, reason, message },
    { type: 'Stalled', status: on.Stalled, reason, message },
  ];
}

/** The decision to change no row, for this reason. */
export function changeNothing(
  reason: Reason,
  message: string,
): {
  changes: [];
  conditions: Condition[];
} {
  return { changes: [], conditions: conditionsFor(reason, message) };
}

type Statuses = Record<Exclude<ConditionType, 'Routed' | 'Paused' | 'Planned'>, 'True' | 'False'>;

const outcomes: Record<Outcome, Statuses> = {
  done: { Ready: 'True', Accepted: 'True', Synced: 'True', Reconciling: 'False', Stalled: 'False' },
  waiting: {
    Ready: 'False',
    Accepted: 'True',
    Synced: 'False',
    Reconciling: 'True',
    Stalled: 'False',
  },
  held: {
    Ready: 'False',
    Accepted: 'True',
    Synced: 'False',
    Reconciling: 'False',
    Stalled: 'True',
  },
  refused: {
    Ready: 'False',
    Accepted: 'False',
    Synced: 'False',
    Reconciling: 'False',
    Stalled: 'True',
  },
};

/** The outcome of a pass, read back from its conditions. */
export function outcomeOf(conditions: readonly Condition[]): Outcome {
  const is = (type: ConditionType) =>
    conditions.some((each) => each.type === type && each.status === 'True');
  if (is('Ready')) return 'done';
  if (is('Reconciling')) return 'waiting';
  return is('Accepted') ? 'held' : 'refused';
}
