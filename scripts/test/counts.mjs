/** Counts of tests by result, for the last line of a run. Every kind of failure must be visible here. */
export const NOTHING = { passed: 0, failed: 0, skipped: 0 }

export const total = (a, b) => ({
  passed: a.passed + b.passed,
  failed: a.failed + b.failed,
  skipped: a.skipped + b.skipped,
})

export const describeCounts = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`

/**
 * Counts a finished vitest run. `report` is the output of its JSON reporter, `undefined` if there is none. Each of these
 * counts as a failure, although vitest doesn't count it as a failed test: a file that could not be loaded, a hook that
 * threw, an error outside of tests, a crashed run, and no tests at all (unless tests were selected by hand).
 */
export function countRun({ report, exitCode, picked }) {
  if (report === undefined)
    return { ...troubled(NOTHING, [`vitest ended with code ${exitCode} and left no report`]), failures: [] }
  const statuses = report.testResults.flatMap((file) => file.assertionResults.map((test) => test.status))
  const count = (...wanted) => statuses.filter((status) => wanted.includes(status)).length
  const passed = count('passed')
  const failed = count('failed')
  const counts = { passed, failed, skipped: statuses.length - passed - failed }
  const troubles = report.testResults
    .filter(failedOutsideTests)
    .map((file) => `${file.name}: ${firstLine(file.message)}`)
  if (exitCode !== 0 && failed === 0 && troubles.length === 0 && statuses.length > 0)
    troubles.push(`vitest ended with code ${exitCode}, although no test failed: see its output above`)
  if (passed + failed === 0 && troubles.length === 0 && !picked) troubles.push('no test ran')
  return { ...troubled(counts, troubles), failures: report.testResults.flatMap(failedTests) }
}

/** One line for each failed test: the file, its full name, and the first line of its message. */
const failedTests = (file) =>
  file.assertionResults
    .filter((test) => test.status === 'failed')
    .map((test) => `${file.name}: ${test.fullName}: ${firstLine(test.failureMessages?.[0])}`)

const failedOutsideTests = (file) =>
  file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed')

const firstLine = (message) => (message ?? '').split('\n', 1)[0] || 'failed outside its tests'

const troubled = (counts, troubles) => ({ counts: total(counts, { ...NOTHING, failed: troubles.length }), troubles })
