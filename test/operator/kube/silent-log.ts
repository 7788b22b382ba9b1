/** For what is tested by what it does, not by what it says. */
import { createLog } from '../../../runtime/platform/log.ts';

export const silentLog = createLog({ level: 'silent', name: 'test' });
