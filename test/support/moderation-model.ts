/**
 * A model of one slug's history in a project, written from the sections File (status) and Staff of the specification,
 * not from the code. Each move returns a new state, so that tests can try every order of concurrent moves.
 */

export type ModelCheck = {
  file: number;
  revision: number;
  scan: 'waiting' | 'clear' | 'flagged';
  claims: number;
  review: 'unreviewed' | 'approved' | 'rejected';
  /** Whether staff unblocked the image before it was scanned. */
  is_let_go: boolean;
};
export type ModelFile = {
  status: 'ready' | 'blocked' | 'deleted';
  by: 'scanner' | 'staff' | null;
  revision: number;
  /**
   * The index of the check that caused the scanner's block. A new file inherits it from its deleted
   * predecessor, because a blocked slug stays blocked.
   */
  because: number;
};
export type Model = {
  auto_block: boolean;
  files: ModelFile[];
  checks: ModelCheck[];
  webhooks: { blocked: number; unblocked: number };
};

export type Move =
  | { kind: 'publish' | 'delete' }
  | { kind: 'block' | 'unblock'; file: number }
  | { kind: 'review'; check: number; decision: 'approved' | 'rejected' }
  | { kind: 'answer'; check: number; claim: number; is_nude: boolean }
  | { kind: 'switch'; auto_block: boolean };

export const newModel = (): Model => ({
  auto_block: false,
  files: [],
  checks: [],
  webhooks: { blocked: 0, unblocked: 0 },
});

export function after(before: Model, move: Move): Model {
  const model = structuredClone(before);
  switch (move.kind) {
    case 'publish':
      publish(model);
      break;
    case 'delete':
      for (const file of model.files) file.status = 'deleted';
      break;
    case 'block':
      block(model, move.file, { by: 'staff', because: -1 });
      break;
    case 'unblock':
      if (unblock(model, move.file)) approveAll(model, move.file);
      break;
    case 'review':
      review(model, move);
      break;
    case 'answer':
      answer(model, move);
      break;
    case 'switch':
      if (model.auto_block && !move.auto_block) letGo(model);
      model.auto_block = move.auto_block;
  }
  return model;
}

/** A blocked slug stays blocked, even if its file was deleted in the meantime. */
function publish(model: Model): void {
  const last = model.files.at(-1);
  if (last === undefined || last.status === 'deleted') {
    const by = last?.by ?? null;
    const status = by === null ? 'ready' : 'blocked';
    model.files.push({ status, by, revision: 1, because: last?.because ?? -1 });
  } else last.revision += 1;
  const file = model.files.length - 1;
  const revision = model.files[file]?.revision ?? 0;
  const waiting = { scan: 'waiting', claims: 0, review: 'unreviewed', is_let_go: false } as const;
  model.checks.push({ file, revision, ...waiting });
}

type Block = { by: 'scanner' | 'staff'; because: number };

function block(model: Model, at: number, { by, because }: Block): void {
  const file = model.files[at];
  if (file?.status === 'ready') {
    Object.assign(file, { status: 'blocked', by, because });
    model.webhooks.blocked += 1;
  } else if (file?.status === 'blocked' && by === 'staff') file.by = 'staff';
}

/** Returns whether the file exists. */
function unblock(model: Model, at: number): boolean {
  const file = model.files[at];
  if (file?.status === 'blocked') {
    Object.assign(file, { status: 'ready', by: null, because: -1 });
    model.webhooks.unblocked += 1;
  }
  return file !== undefined && file.status !== 'deleted';
}

function approveAll(model: Model, at: number): void {
  for (const check of model.checks) {
    if (check.file !== at) continue;
    if (check.scan === 'flagged') check.review = 'approved';
    if (check.revision === model.files[at]?.revision) check.is_let_go = true;
  }
}

/** A decision about an image never blocks a later image of the file. */
function review(model: Model, { check: at, decision }: Extract<Move, { kind: 'review' }>): void {
  const check = model.checks[at];
  const file = model.files[check?.file ?? -1];
  if (check?.scan !== 'flagged' || file === undefined) return;
  check.review = decision;
  const isCurrent = file.revision === check.revision;
  if (decision === 'rejected') {
    if (isCurrent && file.status === 'ready')
      block(model, check.file, { by: 'staff', because: -1 });
  } else if (isCurrent && file.status === 'blocked' && file.by === 'scanner') {
    unblock(model, check.file);
    approveAll(model, check.file);
  } else if (lift(model)) approveAll(model, model.files.length - 1);
}

/**
 * An approval lifts a scanner's block, even if the image was replaced, once everything flagged
 * under the slug since the block is approved and the newest image is clear or approved. Returns
 * whether a file is delivered again.
 */
function lift(model: Model): boolean {
  const at = model.files.length - 1;
  const file = model.files[at];
  if (file?.by !== 'scanner') return false;
  const newest = model.checks.findLast((check) => check.file === at);
  if (newest?.scan !== 'clear' && newest?.review !== 'approved') return false;
  const isOpen = ({ scan, review }: ModelCheck) => scan === 'flagged' && review !== 'approved';
  if (model.checks.slice(Math.max(file.because, 0)).some(isOpen)) return false;
  if (file.status === 'deleted') Object.assign(file, { by: null, because: -1 });
  else unblock(model, at);
  return file.status === 'ready';
}

/** Accepts only the answer to the latest claim of a scan, and only once. */
function answer(
  model: Model,
  { check: at, claim, is_nude }: Extract<Move, { kind: 'answer' }>,
): void {
  const check = model.checks[at];
  if (check?.scan !== 'waiting' || check.claims !== claim) return;
  check.scan = is_nude ? 'flagged' : 'clear';
  const isCurrent = model.files[check.file]?.revision === check.revision;
  if (!is_nude) lift(model);
  else if (check.is_let_go) check.review = 'approved';
  else if (model.auto_block && isCurrent) block(model, check.file, { by: 'scanner', because: at });
}

/**
 * Lifts all blocks of the scanner, including those that a deleted file would leave to its
 * successor, unless staff rejected a check since the block.
 */
function letGo(model: Model): void {
  model.files.forEach((file, at) => {
    const isRejected = model.checks.some(
      ({ review: said }, check) => said === 'rejected' && check >= file.because,
    );
    if (file.by !== 'scanner' || isRejected) return;
    if (file.status === 'deleted') Object.assign(file, { by: null, because: -1 });
    else unblock(model, at);
  });
}
