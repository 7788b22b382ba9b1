/** What a check of `tintype doctor` is: one thing that is tried, and what it says to the person who runs this. */

/** `warning`: works, and should not stay so. `skipped`: nothing to try, or not before an earlier one is mended. */
export type Outcome = 'ok' | 'wrong' | 'warning' | 'skipped';

export type Finding = {
  /** Where one check finds several things. */
  name?: string;
  outcome: Outcome;
  says: string;
  /** What to do; always there where something is wrong. */
  advice?: string;
};

export type Check<Subject> = {
  area: string;
  name: string;
  /** What it throws is wrong. */
  run(subject: Subject): Promise<Finding | readonly Finding[]>;
  /** What to do where it throws something that does not say so itself. */
  advice: string;
};

export type Report = Required<Omit<Finding, 'advice'>> & { area: string; advice?: string };

/**
 * How long a server may take to answer: one that takes the connection and says nothing would be waited for minutes long,
 * and all checks begin at once, so that on a busy machine each of them has to wait for a core.
 */
export const ANSWER_MS_MAX = 20_000;

export const ok = (says: string): Finding => ({ outcome: 'ok', says });
export const skipped = (says: string): Finding => ({ outcome: 'skipped', says });
export const wrong = (says: string, advice: string): Finding => ({
  outcome: 'wrong',
  says,
  advice,
});
