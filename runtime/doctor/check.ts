/** A check of `tintype doctor`: one thing to try, and what it reports to the person who runs the command. */

/**
 * `warning`: works, but should be fixed. `skipped`: there is nothing to try, or an earlier problem
 * must be fixed first.
 */
export type Outcome = 'ok' | 'wrong' | 'warning' | 'skipped';

export type Finding = {
  /** For a check with several findings. */
  name?: string;
  outcome: Outcome;
  says: string;
  /** What to do; always present if something is wrong. */
  advice?: string;
};

export type Check<Subject> = {
  area: string;
  name: string;
  /** An exception counts as wrong. */
  run(subject: Subject): Promise<Finding | readonly Finding[]>;
  /** What to do after an exception that does not say so itself. */
  advice: string;
};

export type Report = Required<Omit<Finding, 'advice'>> & { area: string; advice?: string };

/**
 * How long a server may take to answer. Without a limit, one that accepts the connection and stays
 * silent would delay the result for minutes. Generous, because all checks start at once, and on a
 * busy machine each must wait for a core.
 */
export const ANSWER_MS_MAX = 20_000;

export const ok = (says: string): Finding => ({ outcome: 'ok', says });
export const skipped = (says: string): Finding => ({ outcome: 'skipped', says });
export const wrong = (says: string, advice: string): Finding => ({
  outcome: 'wrong',
  says,
  advice,
});
