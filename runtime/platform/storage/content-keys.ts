/** Where in the content bucket things lie, for those who write them and those who sweep. */

/** Begins the keys of everything that the attempts at one upload store. */
export function mastersOf(upload: { project_id: string; upload_id: string }): string {
  return `masters/${upload.project_id}/${upload.upload_id}/`;
}
