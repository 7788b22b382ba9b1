// The banner that is printed when Tintype is ready: it mentions a project only if one exists.
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { printBanner } from '../../../runtime/standalone/banner.ts';
import { readFences } from '../../contract/support/blocks.ts';
import { anInstance } from '../../support/instance-file.ts';

function print(project_slug: string): string {
  const instance = anInstance({
    api_url: 'http://localhost:8080',
    delivery_root_domain: 'localhost',
    delivery_port: 8081,
    project_slug,
  });
  const out = new PassThrough({ encoding: 'utf8' });
  printBanner(out as unknown as NodeJS.WriteStream, { instance, data: 'there', startedMs: 1200 });
  return String(out.read());
}

it('the banner shows the delivery URL of the sample project and a command to upload', () => {
  const said = print('demo');
  expect(said).toContain('http://demo.localhost:8081\n');
  expect(said).toContain('npx tintype upload photo.jpg --data there\n');
  expect(said).not.toContain('add a Project document');
});

it('the banner says that there is no project if the folder declares none', () => {
  const said = print('');
  expect(said).toContain('declares no active project: add a Project document');
  expect(said).not.toMatch(/Delivery|Project {4}|tintype upload/);
});

it('the banner has the lines that the README shows', () => {
  const [shown] = readFences('README.md').filter(({ language }) => language === 'console');
  const [command, ...lines] = shown?.text.trimEnd().split('\n') ?? [];
  expect([command, lines.pop()]).toEqual(['$ make up', '  ...']);
  const said = print('demo').split('\n');
  for (const line of lines)
    expect(
      said.find((each) => each.startsWith(line)),
      line,
    ).toBeDefined();
});
