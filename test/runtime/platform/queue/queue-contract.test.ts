import { describe } from 'vitest';
import { createInProcessQueue } from '../../../../runtime/platform/queue/in-process.ts';
import { describeQueue } from './queue-contract.ts';

describe('the in-process queue', () => {
  describeQueue('in-process', async () => createInProcessQueue(), 1);
});
