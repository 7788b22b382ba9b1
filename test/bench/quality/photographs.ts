/**
 * Real photographs and artwork: wallpapers from Debian's packages, downloaded once (about 220 MB) and unpacked into
 * `.bench/photographs` without being installed.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { projectRoot } from '../../contract/support/tintype.ts';
import type { Subject } from '../../support/quality/compare.ts';

const PACKAGES = [
  'mate-backgrounds',
  'lomiri-wallpapers-16.04',
  'lomiri-wallpapers-20.04',
  'plasma-workspace-wallpapers',
  'gnome-backgrounds',
  'ukui-wallpapers',
];

const folder = join(projectRoot, '.bench', 'photographs');

/** Photographs, as patterns below /usr/share. */
const TAKEN = [
  'backgrounds/*_by_{Aitzol,Bolly,Sander,Lukas,Clements,freespace,Jakkub,Peter}*.jpg',
  'backgrounds/mate/nature/*.jpg',
  'backgrounds/mate/abstract/Elephants*.jpg',
  'wallpapers/{summer_1am,Path,OneStandsOut,Kite,Grey,FallenLeaf,EveningGlow,ColorfulCups,ColdRipple,BytheWater,DarkestHour}/contents/images/*1600.jpg',
];
/** Paintings and computer graphics. */
const DRAWN = [
  'backgrounds/{2004default,Fossa*,Painting*,firstgeneration,rhythm,string,the-mouse,umang*}.jpg',
  'backgrounds/{calla,city,fluent-color,goldfish}.png',
  'backgrounds/mate/abstract/{Arc,Gulp,Flow}*.png',
  'backgrounds/mate/desktop/{MATE-Stripes-Light,Float-into-MATE,Ubuntu-Mate-Cold-no-logo}.png',
  'backgrounds/gnome/{pixels-l,licorice-l,symbolic-l,adwaita-l,truchet-d}.webp',
  'wallpapers/{Kay,Patak,Altai}/contents/images/1080x1920.png',
  'wallpapers/{FlyingKonqui,Elarun}/contents/images/2560x1600.png',
  'wallpapers/Opal/contents/images/3840x2160.png',
];

/** Returns the path of a picture. Downloads the packages if they are missing. */
export function photographPath(place: string): string {
  fetchPhotographs();
  const path = join(folder, 'usr/share', place);
  if (!existsSync(path)) throw new Error(`${place} is in none of ${PACKAGES.join(', ')} any more`);
  return path;
}

export type Place = Pick<Subject, 'name' | 'family' | 'content_type'> & { path: string };

export function listPhotographs(): Place[] {
  fetchPhotographs();
  return [...placesOf(TAKEN, 'photograph'), ...placesOf(DRAWN, 'artwork')];
}

export async function readSubject({ path, ...known }: Place): Promise<Subject> {
  return { ...known, bytes: await readFile(path) };
}

const TYPES: Readonly<Record<string, string>> = {
  jpg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
};

function placesOf(patterns: readonly string[], family: string): Place[] {
  const share = join(folder, 'usr/share');
  const paths = patterns.flatMap((pattern) => globSync(join(share, pattern)).toSorted());
  return paths.map((path) => ({
    name: nameOf(relative(share, path)),
    family,
    content_type: TYPES[path.split('.').at(-1) ?? ''] ?? '',
    path,
  }));
}

/** Adds the folder, because some files are only named by their size. */
function nameOf(place: string): string {
  const [, theme = ''] = /^wallpapers\/([^/]+)\//.exec(place) ?? [];
  return theme === '' ? basename(place) : `${theme} ${basename(place)}`;
}

function fetchPhotographs(): void {
  if (existsSync(folder)) return;
  process.stderr.write(`Fetching ${PACKAGES.join(', ')} (Debian), to be measured with.\n`);
  const unpacked = `${folder}.unpacking`;
  rmSync(unpacked, { recursive: true, force: true });
  mkdirSync(unpacked, { recursive: true });
  // apt verifies the signatures of the packages; nothing is installed.
  run('apt-get', ['download', '-qq', ...PACKAGES], unpacked);
  for (const name of readdirSync(unpacked).filter((each) => each.endsWith('.deb'))) {
    run('dpkg-deb', ['-x', name, '.'], unpacked);
    rmSync(join(unpacked, name));
  }
  renameSync(unpacked, folder);
}

function run(command: string, args: string[], cwd: string): void {
  try {
    execFileSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
  } catch (error) {
    throw new Error(
      `${command} failed: on Debian run apt-get update first; elsewhere unpack the packages into ${folder}`,
      { cause: error },
    );
  }
}
