// Of what waits there are two orders, each with an index of its own: by time, and by project. Analyzed while nothing
// waited, both look alike, and to find the next project by the index of times is to read all that waits. So the index of
// times is only for who says this, which holds for every row.

/** Beside the state, where rows of all projects are read by this column. */
export const byTime = (column: string) => `${column} > '-infinity'`;
