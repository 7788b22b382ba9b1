/**
 * The kinds that describe an installation in a cluster. Apart from the other kinds, as a single machine does not load
 * their schema.
 */
import { schedules } from '../runtime/core/schedules.ts';
import { imageServiceSpec, imageServiceStatus } from './image-service/schema.ts';
import type { Described } from './kinds.ts';

/**
 * Kubernetes limits a CronJob's name to 52 characters, and ours consists of the installation's
 * name, a dash and the job's name.
 */
const CRON_JOB_NAME_MAX = 52;
const INSTALLATION_NAME_MAX =
  CRON_JOB_NAME_MAX - 1 - Math.max(...Object.keys(schedules).map(({ length }) => length));

export const clusterKinds = [
  {
    kind: 'ImageService',
    plural: 'imageservices',
    description:
      'One installation of the runtime: the processes that take, keep and deliver images.',
    spec: imageServiceSpec,
    status: imageServiceStatus,
    rules: [
      {
        rule: `self.metadata.name.matches('^[a-z]([-a-z0-9]{0,${INSTALLATION_NAME_MAX - 2}}[a-z0-9])?$')`,
        message: `\`metadata.name\` must have at most ${INSTALLATION_NAME_MAX} lower case letters, digits and dashes and begin with a letter: Services and CronJobs are named after it`,
      },
    ],
    columns: [
      { name: 'API', type: 'string', path: '.spec.baseURL' },
      { name: 'Domain', type: 'string', path: '.spec.deliveryRootDomain' },
      { name: 'Image', type: 'string', path: '.status.image' },
    ],
  },
] as const satisfies readonly Described[];
