/** Help for every code of the management API, collected from its areas. Spec: Codes by status. */
import type { apiErrors } from '../errors.ts';
import { billingHelp } from './billing-help.ts';
import { callerHelp } from './caller-help.ts';
import type { HelpTable } from './help-table.ts';
import { libraryHelp } from './library-help.ts';
import { librarySessionHelp } from './library-session-help.ts';
import { projectHelp } from './project-help.ts';
import { requestHelp } from './request-help.ts';
import { staffHelp } from './staff-help.ts';
import { uploadHelp } from './upload-help.ts';

/** The help text for each code of the management API. */
export const apiHelp: HelpTable<typeof apiErrors> = {
  ...requestHelp,
  ...callerHelp,
  ...projectHelp,
  ...uploadHelp,
  ...libraryHelp,
  ...librarySessionHelp,
  ...staffHelp,
  ...billingHelp,
};
