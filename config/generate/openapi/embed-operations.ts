/** The operations of the picker's page and the files that it loads. */
import type { Operation } from './operations.ts';

export const embedOperations: Readonly<Record<string, Operation>> = {
  'GET /embed/{project}/{library}': {
    id: 'getEmbedPage',
    tag: 'Library sessions and the picker',
    title: 'Open the picker’s page',
    picture: 'text/html',
  },
  'GET /embed/_assets/{file}': {
    id: 'getEmbedAsset',
    tag: 'Library sessions and the picker',
    title: 'Load a script or style of the picker',
    picture: 'text/*',
  },
};
