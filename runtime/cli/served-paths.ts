/** The delivery paths that `tintype upload` prints: paths that the project serves. */

export type ServingProject = {
  delivery_access: 'public' | 'protected';
  resolution_presets: Readonly<Record<string, string>>;
  allowed_transform_chains: readonly string[];
};

/** A list of allowed chains leaves only those and originals. Spec: Output rules, 9. */
export function servedPaths({ allowed_transform_chains, ...project }: ServingProject): string[] {
  if (project.delivery_access === 'public' && allowed_transform_chains.length > 0) {
    return ['originals', ...allowed_transform_chains];
  }
  const presets = Object.keys(project.resolution_presets);
  return ['originals', 'resize/640x480', ...presets.map((name) => `preset:${name}`)];
}

/** What the user must know, as viewers of the printed addresses would be refused. */
export function describeProtection(project: string): string {
  return `The project is protected: these URLs work only with a signature, which POST /v1/projects/${project}/signed-url returns.`;
}
