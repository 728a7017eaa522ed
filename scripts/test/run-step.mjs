import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { runScript } from '../bootstrap/run-script.mjs'
import { countRun } from './counts.mjs'
import { createProgress } from './progress.mjs'

/** The directory for the complete output of every step, relative to the checkout. */
export const LOGS = 'test-results/log'

/**
 * Runs one step with vitest and returns its counts, troubles, failures and seconds. With a `display`, the output goes to a
 * log, the display shows the progress, and `summarize` creates the last line. Without one, vitest prints to this terminal.
 * `isBeside`: at low priority.
 */
export async function runStep(root, { step, vitestArgs, isBeside = false, display, summarize }) {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-test-'))
  const reportFile = path.join(directory, 'report.json')
  const progressFile = path.join(directory, 'progress.jsonl')
  const progress = createProgress(progressFile)
  const output = display === undefined ? undefined : openLog(root, step.name)
  const end = display?.follow(step.name, progress)
  let last = ''
  try {
    const started = performance.now()
    const { code, signal, interrupted } = await runScript(
      path.join(root, 'node_modules/vitest/vitest.mjs'),
      // A focused test would disable all others.
      ['run', ...step.folders, ...vitestArgs, '--allowOnly=false'],
      {
        ...{ cwd: root, output, env: { ...step.env, ESCAPEMENT_TEST_TOLD: directory } },
        priority: isBeside ? os.constants.priority.PRIORITY_BELOW_NORMAL : undefined,
      },
    )
    const seconds = (performance.now() - started) / 1000
    const picked = vitestArgs.length > 0
    const counted = countRun({ report: readReport(reportFile), exitCode: signal ?? code, picked })
    const result = { ...counted, seconds, interrupted }
    last = summarize(result)
    return result
  } finally {
    end?.(last)
    progress.close()
    if (output !== undefined) closeSync(output)
    rmSync(directory, { recursive: true, force: true })
  }
}

// A file, not a pipe: a pipe ends only when every process that inherited it has ended.
function openLog(root, name) {
  mkdirSync(path.join(root, LOGS), { recursive: true })
  return openSync(path.join(root, LOGS, `${name.replaceAll(/[^\w.-]+/g, '-')}.log`), 'w')
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
