/**
 * SQL for the moment of a statement, in the milliseconds that columns of times keep. Not now(): that is when the
 * transaction began, and one that has waited for its turn comes after the one before it.
 */
export const THIS_MOMENT = `date_trunc('milliseconds', clock_timestamp())`;
