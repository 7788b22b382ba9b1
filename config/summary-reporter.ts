/**
 * Ends a run with one plain line for scripts: `N passed, N failed`. Before it comes a line for each test that failed,
 * and for each that passed only on a retry, which is a defect too, of the test or the product. A complete run that
 * passed is also compared with the list of responses that no test produces yet; differences count as failures.
 */
import type { Reporter, TestCase, TestModule, TestSuite, Vitest } from 'vitest/node';
import { compareSeen } from '../test/support/compare-seen.ts';
import { readSeen } from '../test/support/seen.ts';

/** The history of a model-based test is long. */
const WHY_MAX = 3000;

export default class SummaryReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  async onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): Promise<void> {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const passed = tests.filter((test) => test.result().state === 'passed').length;
    // Failures outside of tests: a file that does not load, a hook before or after the tests of a
    // describe.
    const suites = modules.flatMap((module) => [module, ...module.children.allSuites()]);
    const broken = suites.filter((suite) => suite.errors().length > 0);
    const failed = tests.filter(hasFailed).length + broken.length + errors.length;
    const untrue = failed === 0 && (await this.#isWhole(modules)) ? compareWithSeen() : [];
    if (untrue.length > 0) process.exitCode = 1;
    const lines = [
      ...untrue,
      ...tests.filter(hasFailed).map((test) => `failed: ${sayOf(test)}`),
      ...broken.map((suite) => `failed: ${placeOf(suite)}: ${suite.errors()[0]?.message}`),
      ...tests.filter(isFlaky).map((test) => `passed at the second attempt: ${sayOf(test)}`),
      '',
      `${passed} passed, ${failed + untrue.length} failed`,
      '',
    ];
    // After the default reporter's summary, which is written in the same tick.
    setImmediate(() => process.stdout.write(`\n${lines.join('\n')}`));
  }

  /** Whether every test file of the project ran, with all its tests. */
  async #isWhole(modules: readonly TestModule[]): Promise<boolean> {
    if (this.#vitest === undefined || this.#vitest.config.testNamePattern) return false;
    const all = await this.#vitest.globTestSpecifications();
    const ran = new Set(modules.map((module) => module.moduleId));
    return all.every((specification) => ran.has(specification.moduleId));
  }
}

function hasFailed(test: TestCase): boolean {
  return test.result().state === 'failed';
}

function isFlaky(test: TestCase): boolean {
  return test.diagnostic()?.flaky === true;
}

function sayOf(test: TestCase): string {
  const why = test.result().errors?.[0]?.message ?? 'no error';
  return `${placeOf(test)}: ${why.slice(0, WHY_MAX)}`;
}

function placeOf(task: TestCase | TestSuite | TestModule): string {
  if (task.type === 'module') return task.relativeModuleId;
  return `${task.module.relativeModuleId} > ${task.fullName}`;
}

function compareWithSeen(): string[] {
  const file = process.env['TINTYPE_SEEN_FILE'];
  return file === undefined ? [] : compareSeen(readSeen(file));
}
