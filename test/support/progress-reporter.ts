import { appendFileSync } from 'node:fs'
import type { Reporter, TestCase, TestModule, TestSpecification, TestSuite } from 'vitest/node'

/** An error as vitest hands it over, after it has crossed from a worker. */
interface Told {
  readonly message: string
  readonly stack?: string | undefined
  readonly diff?: string | undefined
}

/** Tells `npm test`, line by line in a file, how a step goes. */
export class ProgressReporter implements Reporter {
  readonly #file: string
  constructor(file: string) {
    this.#file = file
  }

  onTestRunStart(files: readonly TestSpecification[]): void {
    this.#tell({ kind: 'begins', files: files.length })
  }

  onTestCaseResult(test: TestCase): void {
    const { state, errors = [] } = test.result()
    this.#tell({ kind: 'test', state })
    if (state === 'failed') this.#fail(`${test.module.relativeModuleId} > ${test.fullName}`, errors)
  }

  onTestSuiteResult(suite: TestSuite): void {
    this.#fail(`${suite.module.relativeModuleId} > ${suite.fullName}`, suite.errors())
  }

  onTestModuleEnd(module: TestModule): void {
    this.#fail(module.relativeModuleId, module.errors())
    this.#tell({ kind: 'file' })
  }

  #fail(of: string, errors: readonly Told[]): void {
    const texts = errors.map(({ message, stack, diff }) => [withoutTools(stack ?? message), diff].filter(Boolean))
    if (errors.length > 0) this.#tell({ kind: 'failure', of, text: texts.flat().join('\n') })
  }

  #tell(event: object): void {
    appendFileSync(this.#file, `${JSON.stringify(event)}\n`)
  }
}

/** Frames of the test runner say nothing about a failure. */
const withoutTools = (stack: string): string =>
  stack
    .split('\n')
    .filter((line) => !/^ +at (.*node_modules|new Promise)/.test(line))
    .join('\n')
