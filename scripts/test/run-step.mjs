import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { runScript } from '../bootstrap/run-script.mjs'
import { countRun } from './counts.mjs'

/**
 * Runs one step with vitest and answers its counts, its troubles and its seconds. `isBeside`: at low priority, and what
 * it prints is answered, too.
 */
export async function runStep(root, { folders, vitestArgs, isBeside = false }) {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-test-'))
  const reportFile = path.join(directory, 'report.json')
  const outputFile = path.join(directory, 'output.txt')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`]
  // A file, not a pipe: a pipe is at its end only when nobody has it any more, down to the last forgotten child.
  const output = isBeside ? openSync(outputFile, 'a') : undefined
  const started = performance.now()
  try {
    const { code, signal, interrupted } = await runScript(
      path.join(root, 'node_modules/vitest/vitest.mjs'),
      // A focused test would silence all others, here as in CI.
      ['run', ...folders, ...vitestArgs, '--allowOnly=false', ...reporters],
      { cwd: root, output, priority: isBeside ? os.constants.priority.PRIORITY_LOW : undefined },
    )
    const seconds = (performance.now() - started) / 1000
    const counted = countRun({
      report: readReport(reportFile),
      exitCode: signal ?? code,
      picked: vitestArgs.length > 0,
    })
    return { ...counted, seconds, interrupted, output: isBeside ? readFileSync(outputFile, 'utf8') : '' }
  } finally {
    if (output !== undefined) closeSync(output)
    rmSync(directory, { recursive: true, force: true })
  }
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
