/**
 * SQL for the time of a statement, in milliseconds like the time columns. Not now(), the start of the transaction: one
 * that waited for a lock must get a later time than its predecessor.
 */
export const THIS_MOMENT = `date_trunc('milliseconds', clock_timestamp())`;
