/**
 * The conditions of a custom resource, and every reason that one can carry. A reason belongs to one
 * outcome, and the outcome alone decides all conditions, so that Ready, Reconciling and Stalled can
 * never contradict one another. Ready means: the declared state is in effect.
 */

/** In the order in which they are written. */
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
 * - `done`: in effect. `waiting`: something else has to appear first; tried again on its own.
 * - `held`: accepted, but a decision of somebody else stands against it; it is reported, not healed.
 * - `refused`: not accepted; no row is touched until the resource is changed.
 */
export type Outcome = 'done' | 'waiting' | 'held' | 'refused';

/** Every reason, the outcome that it belongs to, and what it means. */
export const reasons = {
  InSync: { outcome: 'done', meaning: 'The rows are as declared.' },
  Suspended: { outcome: 'done', meaning: 'The project is suspended, as declared.' },
  Deleted: { outcome: 'done', meaning: 'The resource is gone and its rows were handled.' },
  Retained: { outcome: 'done', meaning: 'The resource is gone; its rows stay as they are.' },

  ProjectNotFound: { outcome: 'waiting', meaning: 'The project that it refers to does not exist.' },
  WatermarkPresetNotFound: {
    outcome: 'waiting',
    meaning: 'The watermark preset that the project names as its default does not exist.',
  },
  WarmPresetNotFound: {
    outcome: 'waiting',
    meaning: 'The project has no resolution preset of a name that is to be rendered ahead.',
  },
  CustomDomainAwaited: {
    outcome: 'waiting',
    meaning: 'A project that is declared without the custom domain still has it.',
  },
  FileNotFound: { outcome: 'waiting', meaning: 'The file has not been uploaded yet.' },
  InUseAsDefault: {
    outcome: 'waiting',
    meaning: 'The watermark preset is the default of its project, so it cannot be deleted yet.',
  },
  ImageNotFound: { outcome: 'waiting', meaning: 'The image is not where the resource says.' },
  ImageUploading: { outcome: 'waiting', meaning: 'The image of the preset is being processed.' },
  ImagesUnavailable: {
    outcome: 'waiting',
    meaning:
      'The operator was given no storage, or none that works, so that it cannot upload images.',
  },
  TooManyKeys: {
    outcome: 'waiting',
    meaning: 'So many keys of the project still verify that another one has to wait.',
  },
  PlanOnly: {
    outcome: 'waiting',
    meaning: 'What would change is planned, and the resource asks that nothing be written.',
  },
  DatabaseUnavailable: {
    outcome: 'waiting',
    meaning: 'The database does not answer: nothing can be compared or written until it does.',
  },
  SchemaNotReady: {
    outcome: 'waiting',
    meaning: 'The database lacks migrations of this version: nothing is written until it has them.',
  },
  SettingsUnknown: {
    outcome: 'waiting',
    meaning: 'The ImageService or its plans cannot be read, by which the operator would go.',
  },

  SuspendedByStaff: { outcome: 'held', meaning: 'Staff suspended the project.' },
  FileBlocked: { outcome: 'held', meaning: 'Moderation blocked the file.' },
  SecretTaken: {
    outcome: 'held',
    meaning: 'The Secret of the callback exists already, made by somebody else.',
  },

  LimitReached: {
    outcome: 'held',
    meaning: 'The project has as many recipes or watermark presets as it may have.',
  },

  CallbackNotPublic: {
    outcome: 'held',
    meaning: 'The callback URL names a private or reserved address, to which nothing is sent.',
  },

  WriteRefused: {
    outcome: 'held',
    meaning: 'The API server or the database refused what was to be written.',
  },

  ImageDigestMismatch: {
    outcome: 'held',
    meaning: 'What the URL of the image leads to has another digest than declared.',
  },
  ImageRefused: {
    outcome: 'held',
    meaning:
      'The image is none that the service takes, or its project sleeps or has no room for it.',
  },
  FileTaken: {
    outcome: 'held',
    meaning: 'The file of the slug was uploaded by others, and is not replaced.',
  },

  SpecInvalid: {
    outcome: 'refused',
    meaning: 'A field says what the API server could not check.',
  },
  SlugInvalid: { outcome: 'refused', meaning: 'The slug is not a DNS label.' },
  SlugReserved: { outcome: 'refused', meaning: 'The slug is reserved.' },
  SlugConflict: { outcome: 'refused', meaning: 'Another resource owns the project of this slug.' },
  SlugImmutable: { outcome: 'refused', meaning: 'The slug of a project cannot change.' },
  NotOwned: {
    outcome: 'refused',
    meaning: 'What it declares exists already, and no resource declares it.',
  },
  OrganizationNotFound: { outcome: 'refused', meaning: 'The organization does not exist.' },
  OrganizationImmutable: {
    outcome: 'refused',
    meaning: 'A project stays in the organization that it was created in.',
  },
  CustomDomainTaken: { outcome: 'refused', meaning: 'Another project has this custom domain.' },
  CustomDomainInvalid: {
    outcome: 'refused',
    meaning: 'A custom domain lies under the delivery root domain.',
  },
  SigningKeyTaken: {
    outcome: 'refused',
    meaning: 'Another SigningKey resource already manages the keys of this project.',
  },
  NameConflict: { outcome: 'refused', meaning: 'The name is taken by another row of the project.' },
  ProjectImmutable: {
    outcome: 'refused',
    meaning: 'What was made in one project cannot move to another.',
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

/** What a pass came to, read back from its conditions. */
export function outcomeOf(conditions: readonly Condition[]): Outcome {
  const is = (type: ConditionType) =>
    conditions.some((each) => each.type === type && each.status === 'True');
  if (is('Ready')) return 'done';
  if (is('Reconciling')) return 'waiting';
  return is('Accepted') ? 'held' : 'refused';
}
