import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { runScript } from '../bootstrap/run-script.mjs'
import { countRun } from './counts.mjs'

/** Runs one step with vitest and answers its counts, its troubles and its seconds. */
export async function runStep(root, { folders, vitestArgs }) {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-test-'))
  const reportFile = path.join(directory, 'report.json')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`]
  const started = performance.now()
  try {
    const { code, signal, interrupted } = await runScript(
      path.join(root, 'node_modules/vitest/vitest.mjs'),
      // A focused test would silence all others, here as in CI.
      ['run', ...folders, ...vitestArgs, '--allowOnly=false', ...reporters],
      { cwd: root },
    )
    const seconds = (performance.now() - started) / 1000
    const report = readReport(reportFile)
    return { ...countRun({ report, exitCode: signal ?? code, picked: vitestArgs.length > 0 }), seconds, interrupted }
  } finally {
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
