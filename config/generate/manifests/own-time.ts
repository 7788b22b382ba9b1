/** What is left out where it is asked how long Tintype takes: these last for as long as their callers' lines need. */

/** Bytes of uploads that come through the API. */
export const WITHOUT_BYTES_IN = 'route!="/v1/uploads/:id"';
/** Files that are handed out as they were stored. */
export const WITHOUT_ORIGINALS = 'source!="original"';
