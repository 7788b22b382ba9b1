/**
 * Ends a run with the one plain line that scripts read: `N passed, N failed`. A whole run that passed is
 * also compared with the list of answers that no test has produced yet; what is wrong there counts as failed.
 */
import type { Reporter, TestModule, TestRunEndReason, Vitest } from 'vitest/node';
import { compareSeen } from '../test/support/compare-seen.ts';
import { readSeen } from '../test/support/seen.ts';

export default class SummaryReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  async onTestRunEnd(
    modules: readonly TestModule[],
    errors: readonly unknown[],
    _reason: TestRunEndReason,
  ): Promise<void> {
    const states = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => test.result().state),
    );
    const passed = states.filter((state) => state === 'passed').length;
    const broken = modules.filter((module) => module.errors().length > 0).length;
    const failed = states.filter((state) => state === 'failed').length + broken + errors.length;
    const untrue = failed === 0 && (await this.#isWhole(modules)) ? compareWithSeen() : [];
    if (untrue.length > 0) process.exitCode = 1;
    const lines = [...untrue, '', `${passed} passed, ${failed + untrue.length} failed`, ''];
    // After the default reporter's own summary, which is written in the same tick.
    setImmediate(() => process.stdout.write(`\n${lines.join('\n')}`));
  }

  /** Whether every test file of the project ran, all of its tests included. */
  async #isWhole(modules: readonly TestModule[]): Promise<boolean> {
    if (this.#vitest === undefined || this.#vitest.config.testNamePattern) return false;
    const all = await this.#vitest.globTestSpecifications();
    const ran = new Set(modules.map((module) => module.moduleId));
    return all.every((specification) => ran.has(specification.moduleId));
  }
}

function compareWithSeen(): string[] {
  const file = process.env['TINTYPE_SEEN_FILE'];
  return file === undefined ? [] : compareSeen(readSeen(file));
}
