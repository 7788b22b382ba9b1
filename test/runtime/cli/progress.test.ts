// Progress lines go to a terminal, so control characters in file names must be removed.
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { showProgress } from '../../../runtime/cli/progress.ts';

it('progress output replaces terminal control characters wherever a name stands', () => {
  const out = new PassThrough({ encoding: 'utf8' });
  const progress = showProgress('a\u001b[2Jb', out as unknown as NodeJS.WriteStream);
  progress.say('is \u001b[2J');
  progress.done('ready \u001b[2J');
  progress.failed('Name the files in it, for example a\u001b[2Jb/*');
  const said = String(out.read());
  expect(said.split('\n')).toHaveLength(4);
  expect(said).toContain('✗ Name the files in it, for example a?[2Jb/*\n');
  expect(said).not.toContain('\u001b[2J');
});

it('progress output shows an empty name as a shell writes it', () => {
  const out = new PassThrough({ encoding: 'utf8' });
  showProgress('', out as unknown as NodeJS.WriteStream).failed('The name is empty.');
  expect(String(out.read())).toMatch(/^'' +✗ The name is empty\.\n$/);
});
