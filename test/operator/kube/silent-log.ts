/** For tests that do not check log messages. */
import { createLog } from '../../../runtime/platform/log.ts';

export const silentLog = createLog({ level: 'silent', name: 'test' });
