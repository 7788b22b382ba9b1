// Waiting rows have two orders, each with its own index: by time, and by project. When the tables were analyzed while
// nothing waited, both seem equally cheap to the planner; but finding the next project in the time index means reading
// everything that waits. The time index therefore only applies to queries with this condition, which is true for every
// row.

/** Add to the condition on the state in queries over all projects that read by this column. */
export const timeIndexHint = (column: string) => `${column} > '-infinity'`;
