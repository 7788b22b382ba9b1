/** What the changes of a project's keys do to rows, computed before they are made. Spec: Signing key. */
import { ownerColumns } from '../claim.ts';
import type { Subject } from '../declared.ts';
import { fieldsOf, GeneratedValue, type RowDifference } from '../row-difference.ts';
import type { SigningKeyChange } from './decide.ts';
import type { SigningKeyRows } from './gather.ts';
import type { SigningKeySpec } from './schema.ts';

const table = 'signing_keys';

export function signingKeyDifferences(
  change: SigningKeyChange,
  { identity, spec }: Subject<SigningKeySpec>,
  { key, owned }: SigningKeyRows,
): RowDifference[] {
  const project = spec?.projectRef.name ?? '';
  const owner = ownerColumns(identity);
  const { rotation_trigger } = change;
  const issued = fieldsOf({ kid: new GeneratedValue('a new key'), rotation_trigger, ...owner });
  switch (change.change) {
    case 'issue':
      return [{ action: 'insert', table, row: project, fields: issued }];
    case 'claim':
    case 'adopt': {
      const fields = fieldsOf({ ...owner, rotation_trigger }, key);
      return [{ action: 'update', table, row: change.kid, fields }];
    }
    case 'rotate': {
      const fields = fieldsOf({ status: 'retired' }, { status: 'active' });
      return [
        { action: 'update', table, row: key?.kid ?? '', fields },
        { action: 'insert', table, row: project, fields: issued },
      ];
    }
    case 'release': {
      const nobody = { owner_uid: null, owner_namespace: null, owner_name: null };
      return [{ action: 'update', table, row: change.kid, fields: fieldsOf(nobody, owned) }];
    }
  }
}
