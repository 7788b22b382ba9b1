// The picker loads nothing of core: what both say is held together here.
import { expect, it } from 'vitest';
import { FILE_FAULTS } from '../../../runtime/core/file-faults.ts';
import { IN_VAIN } from '../../../runtime/web/picker/in-vain.ts';

it('the picker tries no file again that is itself to blame', () => {
  expect([...IN_VAIN]).toEqual(expect.arrayContaining([...FILE_FAULTS]));
});
