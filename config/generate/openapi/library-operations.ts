/** The operations on libraries, and the picker's. */
import type { Operation } from './operations.ts';

const SESSIONS = '/v1/projects/{slug}/library-sessions';
const LIBRARIES = '/v1/projects/{slug}/libraries';

export const libraryOperations: Readonly<Record<string, Operation>> = {
  [`GET ${LIBRARIES}`]: {
    id: 'listLibraries',
    tag: 'Libraries',
    title: 'List libraries',
    page: 'Library',
  },
  [`POST ${LIBRARIES}`]: {
    id: 'createLibrary',
    tag: 'Libraries',
    title: 'Create a library',
    one: 'Library',
  },
  [`GET ${LIBRARIES}/{lib}`]: {
    id: 'getLibrary',
    tag: 'Libraries',
    title: 'Read a library',
    one: 'Library',
  },
  [`PATCH ${LIBRARIES}/{lib}`]: {
    id: 'updateLibrary',
    tag: 'Libraries',
    title: 'Change a library',
    one: 'Library',
  },
  [`DELETE ${LIBRARIES}/{lib}`]: {
    id: 'deleteLibrary',
    tag: 'Libraries',
    title: 'Delete an empty library',
    none: true,
  },
  [`POST ${SESSIONS}`]: {
    id: 'mintLibrarySession',
    tag: 'Library sessions and the picker',
    title: 'Create a library session',
    one: 'LibrarySession',
  },
  [`POST ${SESSIONS}/revoke`]: {
    id: 'revokeLibrarySessions',
    tag: 'Library sessions and the picker',
    title: 'Revoke library sessions',
    one: 'RevokedLibrarySessions',
  },
  'GET /v1/library/files': {
    id: 'listLibraryFiles',
    tag: 'Library sessions and the picker',
    title: 'List the files that the session may see',
    page: 'LibraryFile',
  },
  'POST /v1/library/uploads': {
    id: 'createLibraryUpload',
    tag: 'Library sessions and the picker',
    title: 'Create an upload from the picker',
    one: 'LibraryUpload',
  },
  'GET /v1/library/uploads/{id}': {
    id: 'getLibraryUpload',
    tag: 'Library sessions and the picker',
    title: 'Read an upload of the session',
    one: 'LibraryUpload',
  },
  'POST /v1/library/uploads/{id}/complete': {
    id: 'completeLibraryUpload',
    tag: 'Library sessions and the picker',
    title: 'Complete an upload of the session',
    one: 'LibraryUpload',
  },
  'POST /v1/library/uploads/{id}/abort': {
    id: 'abortLibraryUpload',
    tag: 'Library sessions and the picker',
    title: 'Abort an upload of the session',
    one: 'LibraryUpload',
  },
};
