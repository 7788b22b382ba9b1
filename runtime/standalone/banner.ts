/** What the terminal shows when Tintype is ready: its addresses, and a first thing to try. */
import { styleText } from 'node:util';
import { deliveryOrigin } from '../cli/env.ts';
import type { Instance } from '../platform/instance.ts';

export function printBanner(
  out: NodeJS.WriteStream,
  { instance, data, startedMs }: { instance: Instance; data: string; startedMs: number },
): void {
  const bold = (text: string) => styleText('bold', text, { stream: out });
  const dim = (text: string) => styleText('dim', text, { stream: out });
  const lines = [
    '',
    `${bold('Tintype is ready.')} ${dim(`(${(startedMs / 1000).toFixed(1)} s)`)}`,
    '',
    `  API        ${instance.api_url}`,
    `  Documents  ${instance.api_url}/docs`,
    ...(instance.project_slug === '' ? WITHOUT_PROJECT : sampleLines({ instance, data, bold })),
    '',
    dim('Ctrl-C stops everything; the next start continues with the same data.'),
    '',
  ];
  out.write(`${lines.join('\n')}\n`);
}

const WITHOUT_PROJECT = [
  '',
  'The folder of YAML declares no active project: add a Project document.',
];

type Sample = { instance: Instance; data: string; bold(text: string): string };

function sampleLines({ instance, data, bold }: Sample): string[] {
  const dataFlag = data === '.tintype' ? '' : ` --data ${data}`;
  return [
    `  Delivery   ${deliveryOrigin(instance, instance.project_slug)}`,
    `  Project    ${instance.project_slug}, its key is in ${data}/instance.json`,
    '',
    'In another terminal, upload an image:',
    '',
    `  ${bold(`npx tintype upload photo.jpg${dataFlag}`)}`,
  ];
}
