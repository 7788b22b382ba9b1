/** Types the commands of docs/kubernetes.md that deliver a first image once the ImageService is Ready. */
import { readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { readFences } from '../../contract/support/blocks.ts';
import { makeFolder, removeFolder } from '../../contract/support/tintype.ts';
import { findKubeTool } from '../../support/kube-tools.ts';
import { openBash } from '../../walkthroughs/support/shell.ts';
import { ROOT_DOMAIN } from './installation.ts';

const DOCUMENT = 'docs/kubernetes.md';
const BEGINS = ['$ API=', '$ SIGNING='];

export type Newcomer = {
  api_url: string;
  /** The port of the ingress controller on this machine. */
  ingress_port: number;
  token: string;
  subject: string;
  photo: Buffer;
  /** The name of the Project, and of its namespace. */
  name: string;
};

/** Returns the image that the last command has downloaded. */
export async function typeFirstImage(newcomer: Newcomer): Promise<Buffer> {
  const folder = await makeFolder();
  const kubectl = dirname(findKubeTool('kubectl'));
  const shell = openBash({
    folder,
    env: {
      PATH: [kubectl, process.env['PATH']].join(delimiter),
      KUBECONFIG: process.env['KUBECONFIG'],
      ...{ TOKEN: newcomer.token, SUBJECT: newcomer.subject },
    },
  });
  try {
    await writeFile(join(folder, 'photo.jpg'), newcomer.photo);
    for (const block of readBlocks()) await shell.type(spell(block, newcomer));
    return await readFile(join(folder, 'fit.jpg'));
  } finally {
    await shell.close();
    await removeFolder(folder);
  }
}

function readBlocks(): string[] {
  const shown = readFences(DOCUMENT).filter(({ text }) =>
    BEGINS.some((begins) => text.startsWith(begins)),
  );
  if (shown.length !== BEGINS.length) throw new Error(`${DOCUMENT} has other blocks by now`);
  return shown.map(({ text }) => text.replaceAll(/^\$ /gm, ''));
}

/**
 * Host names of the document do not resolve here, so requests go to the port of the ingress
 * controller.
 */
function spell(text: string, { api_url, ingress_port, name }: Newcomer): string {
  const host = `--header 'Host: ${name}.${ROOT_DOMAIN}'`;
  return text
    .replace('https://api.images.example.com', api_url)
    .replace('https://shop.img.example.com', `${host} http://127.0.0.1:${ingress_port}`)
    .replaceAll(/\bshop\b/g, name);
}
