/**
 * The short names in URLs: project, file, library and preset. Each parser returns the canonical spelling or undefined.
 * Spec: Limits, Identifiers and counts; Library.
 */
import {
  FILE_SLUG_LENGTH_MAX,
  FILE_SLUG_PATTERN,
  LIBRARY_SLUG_PATTERN,
  PROJECT_SLUG_LENGTH_MAX,
  RESOLUTION_PRESET_NAME_PATTERN,
} from './limits.ts';

/** A file slug, lower-cased (ASCII letters only) and then checked. */
export function parseFileSlug(text: string): string | undefined {
  if (text.length > FILE_SLUG_LENGTH_MAX) return undefined;
  const slug = lowerAscii(text);
  return FILE_SLUG_PATTERN.test(slug) ? slug : undefined;
}

/** A project slug: one lower-case DNS label that is not reserved. */
export function parseProjectSlug(text: string): string | undefined {
  return isDnsLabel(text) && !isReserved(text) ? text : undefined;
}

/** Labels that no project may take, because hosts and paths of the service use them. */
export const RESERVED_PROJECT_SLUGS: readonly string[] = [
  ...['www', 'api', 'app', 'admin', 'staff', 'status', 'docs', 'embed', 'cdn', 'img', 'static'],
  ...['assets', 'upload', 'uploads', 'mail', 'localhost', 'default'],
];

/** The name of the library that every project has; reserved. */
export const DEFAULT_LIBRARY = 'default';

/** The slug of a named library: trimmed, lower-cased, checked, not 'default'. */
export function parseLibrarySlug(text: string): string | undefined {
  const slug = lowerAscii(text.trim());
  return LIBRARY_SLUG_PATTERN.test(slug) && slug !== DEFAULT_LIBRARY ? slug : undefined;
}

/** A library as named in requests: the slug of a named library, or 'default'. */
export function parseLibraryName(text: string): string | undefined {
  const slug = lowerAscii(text.trim());
  return LIBRARY_SLUG_PATTERN.test(slug) ? slug : undefined;
}

/** Whether `text` can name a resolution preset. */
export function isPresetName(text: string): boolean {
  return RESOLUTION_PRESET_NAME_PATTERN.test(text);
}

function isDnsLabel(text: string): boolean {
  return text.length <= PROJECT_SLUG_LENGTH_MAX && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(text);
}

function isReserved(slug: string): boolean {
  return RESERVED_PROJECT_SLUGS.includes(slug);
}

/** Not toLowerCase, which would turn the Kelvin sign into a plain k. */
function lowerAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
