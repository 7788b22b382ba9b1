/** Ends a run with the one plain line that scripts read: `N passed, N failed`. */
import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node';

export default class SummaryReporter implements Reporter {
  onTestRunEnd(
    modules: readonly TestModule[],
    errors: readonly unknown[],
    _reason: TestRunEndReason,
  ): void {
    const states = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => test.result().state),
    );
    const passed = states.filter((state) => state === 'passed').length;
    const broken = modules.filter((module) => module.errors().length > 0).length;
    const failed = states.filter((state) => state === 'failed').length + broken + errors.length;
    // After the default reporter's own summary, which is written in the same tick.
    setImmediate(() => process.stdout.write(`\n${passed} passed, ${failed} failed\n`));
  }
}
