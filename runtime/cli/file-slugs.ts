/**
 * The slug under which each file of a call is published: its name if valid, otherwise the characters of it that a URL
 * may contain. Two files of one call never get the same slug, as the second would replace the first. Spec: Limits,
 * Identifiers and counts (file_slug).
 */
import { basename, extname, resolve } from 'node:path';
import { FILE_SLUG_LENGTH_MAX } from '../core/limits.ts';
import { parseFileSlug } from '../core/slug.ts';

export type NamedFile = {
  file: string;
  /** Undefined leaves the choice to the service: no character of the name may be in a URL. */
  slug: string | undefined;
  /** What the user should know about the slug. */
  note?: string;
};

const NO_NAME = 'no character of its name is allowed in a slug; choose a slug with --slug';

/** A path that is named twice is published once. */
export function nameFiles(files: readonly string[], slug?: string): NamedFile[] {
  const paths = new Map(files.map((file) => [resolve(file), file]));
  const taken = new Map<string, string>();
  return [...paths.values()].map((file) => {
    const wanted = slug ?? slugFromName(file);
    if (wanted === undefined) return { file, slug: wanted, note: NO_NAME };
    const own = freeSlug(wanted, taken);
    const other = taken.get(wanted);
    taken.set(own, file);
    return own === wanted
      ? { file, slug: own }
      : { file, slug: own, note: `${wanted} is taken by ${other}` };
  });
}

/** `Holiday Photo (1).JPG` → `holiday-photo-1.jpg`; a valid name is kept, in lower case. */
export function slugFromName(file: string): string | undefined {
  const name = basename(file);
  const valid = parseFileSlug(name);
  if (valid !== undefined) return valid;
  const { stem, extension } = split(inLatin(name));
  const trimmed = stem.replaceAll(/[^a-z0-9._]+/g, '-').replaceAll(/^[._-]+|[._-]+$/g, '');
  if (trimmed === '') return undefined;
  const suffix = extension.replaceAll(/[^.a-z0-9]+/g, '');
  return parseFileSlug(trimmed.slice(0, FILE_SLUG_LENGTH_MAX - suffix.length) + suffix);
}

/** Letters whose plain form is not in Unicode's decompositions. */
const plain: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', þ: 'th', ł: 'l', ı: 'i' },
};

function inLatin(name: string): string {
  const small = name
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase();
  return small.replaceAll(/[ßæœøđðþłı]/g, (letter) => plain[letter] ?? '');
}

function split(name: string): { stem: string; extension: string } {
  const extension = extname(name);
  return { stem: name.slice(0, name.length - extension.length), extension };
}

function freeSlug(wanted: string, taken: ReadonlyMap<string, string>): string {
  const { stem, extension } = split(wanted);
  let slug = wanted;
  for (let number = 2; taken.has(slug); number += 1) {
    const suffix = `-${number}${extension}`;
    slug = stem.slice(0, FILE_SLUG_LENGTH_MAX - suffix.length) + suffix;
  }
  return slug;
}
