/**
 * The history of one slug of a project by the sentences of the specification, File (status) and Staff, written without
 * looking at the code. Each move returns a new state, so that all orders of concurrent moves can be tried.
 */

export type ModelCheck = {
  file: number;
  revision: number;
  scan: 'waiting' | 'clear' | 'flagged';
  claims: number;
  review: 'unreviewed' | 'approved' | 'rejected';
  /** Staff unblocked its image before it was scanned. */
  is_let_go: boolean;
};
export type ModelFile = {
  status: 'ready' | 'blocked' | 'deleted';
  by: 'scanner' | 'staff' | null;
  revision: number;
  /** The check for which the scanner blocked; also of later files, as a blocked slug stays so. */
  because: number;
};
export type Model = {
  auto_block: boolean;
  files: ModelFile[];
  checks: ModelCheck[];
  told: { blocked: number; unblocked: number };
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
  told: { blocked: 0, unblocked: 0 },
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

/** A blocked slug stays blocked, even after its file was deleted. */
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
    model.told.blocked += 1;
  } else if (file?.status === 'blocked' && by === 'staff') file.by = 'staff';
}

/** Returns whether the file exists. */
function unblock(model: Model, at: number): boolean {
  const file = model.files[at];
  if (file?.status === 'blocked') {
    Object.assign(file, { status: 'ready', by: null, because: -1 });
    model.told.unblocked += 1;
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

/** A decision concerns the scanned image: it blocks no other one. */
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
 * An approval ends a scanner's block even after the image was replaced: if everything flagged under
 * the slug since then is approved, and the newest image is clear or approved by staff. Returns
 * whether a file is served again.
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

/** Only the answer of the latest scan counts, and only once. */
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
 * Removes scanner's blocks that nobody reviewed, also of a deleted file for the next one of its
 * slug, except if staff rejected a check then or since.
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
