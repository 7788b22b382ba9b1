/**
 * Label matchers that exclude requests from latency queries: their duration depends on the caller's connection.
 */

/** Upload bytes that pass through the API. */
export const WITHOUT_BYTES_IN = 'route!="/v1/uploads/:id"';
/** Originals, delivered as they were stored. */
export const WITHOUT_ORIGINALS = 'source!="original"';
