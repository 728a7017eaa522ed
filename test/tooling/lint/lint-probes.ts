import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { ROOT } from '../root.ts'

/** A file with one deliberate violation, or with none. */
export interface Probe {
  readonly file: string
  readonly code: string
}

interface Report {
  readonly diagnostics: readonly { readonly code?: string; readonly message: string; readonly filename: string }[]
}

/** What the linter is configured with, at the places where it looks for it. */
const BORROWED = ['oxlint.config.js', 'scripts/lint', 'tsconfig.json', 'ui/tsconfig.json', 'package.json']

const FOLDERS = ['src', 'test', 'ui', 'scripts']

/** Lints all probes in one call, with the project's own configuration, and answers which rules each one breaks. */
export async function lintProbes(probes: readonly Probe[]): Promise<(probe: Probe) => readonly string[]> {
  const house = mkdtempSync(path.join(os.tmpdir(), 'escapement-lint-'))
  const write = (file: string, text: string): void => {
    mkdirSync(path.dirname(path.join(house, file)), { recursive: true })
    writeFileSync(path.join(house, file), text)
  }
  try {
    for (const name of BORROWED) cpSync(path.join(ROOT, name), path.join(house, name), { recursive: true })
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(house, 'node_modules'))
    write('src/domain/instant.ts', 'export type Instant = number\n')
    for (const folder of FOLDERS) mkdirSync(path.join(house, folder), { recursive: true })
    probes.forEach((probe, index) => write(numbered(probe.file, index), probe.code))
    const { diagnostics } = await runLinter(house)
    return (probe) => {
      const file = numbered(probe.file, probes.indexOf(probe))
      return diagnostics.filter(({ filename }) => filename === file).map(({ code, message }) => ruleOf(code ?? message))
    }
  } finally {
    rmSync(house, { recursive: true, force: true })
  }
}

/** Many probes stand in for one file: src/probe.ts becomes src/probe-7.ts. */
const numbered = (file: string, index: number): string => file.replace(/probe\./, `probe-${index}.`)

/** `typescript(no-explicit-any)` is `typescript/no-explicit-any`; the linter's own rules have no prefix. */
function ruleOf(code: string): string {
  const [, plugin = '', rule] = /^([\w-]+)\(([\w-]+)\)$/.exec(code) ?? []
  if (rule === undefined) return code
  return plugin === 'eslint' ? rule : `${plugin}/${rule}`
}

function runLinter(house: string): Promise<Report> {
  const args = [
    path.join(ROOT, 'node_modules/oxlint/bin/oxlint'),
    '-c',
    'oxlint.config.js',
    '--format',
    'json',
    ...FOLDERS,
  ]
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd: house, maxBuffer: 1e8 }, (_, stdout, stderr) => {
      try {
        resolve(JSON.parse(stdout) as Report)
      } catch {
        reject(new Error(`The linter printed no report: ${stdout}${stderr}`))
      }
    })
  })
}
